"""Slow, literal versions of the measures, written from the specification and the papers alone."""
