"""Certificates: upper bounds on the calibration error of a model with few outputs."""
