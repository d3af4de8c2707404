"""Choosing a recalibrator by cross-validated proper scores."""
