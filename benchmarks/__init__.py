"""Speed and memory beside one read of the data, NumPy's sort and other libraries: `make bench`."""
