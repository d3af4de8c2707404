"""Confidence intervals of every kind of estimator."""
