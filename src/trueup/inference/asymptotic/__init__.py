"""Distributions of test statistics for many rows."""
