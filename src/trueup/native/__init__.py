"""Compiled kernels, single-threaded and without the interpreter lock; engines call them by chunk."""
