"""Simulation studies: measures on many datasets of a simulated model."""
