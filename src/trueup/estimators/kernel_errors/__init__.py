"""Errors from kernels over pairs of rows."""
