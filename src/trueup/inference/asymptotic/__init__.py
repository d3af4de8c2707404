"""Asymptotic distributions of test statistics."""
