"""Speed and memory, compared with one pass over the data, NumPy's sort and other libraries."""
