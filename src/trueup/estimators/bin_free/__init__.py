"""Errors along the score without bins: smoothed, cumulative, isotonic and local fits."""
