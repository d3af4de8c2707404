"""A simulated model fitted to data."""
