"""Compiled kernels: one thread, no interpreter lock held; engines call them by chunk."""
