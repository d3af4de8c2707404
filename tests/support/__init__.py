"""Helpers of the tests: random data, files, and what a figure shows."""
