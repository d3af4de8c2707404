"""Compiled kernels: they use one thread and release the GIL; engines call them for each chunk."""
