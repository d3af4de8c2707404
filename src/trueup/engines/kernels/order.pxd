from libc.stdint cimport uint64_t

cdef void sort_by_score(uint64_t *keys, uint64_t *spare, Py_ssize_t n) noexcept nogil
