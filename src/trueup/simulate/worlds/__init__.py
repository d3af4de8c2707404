"""Simulated models with a known calibration curve."""
