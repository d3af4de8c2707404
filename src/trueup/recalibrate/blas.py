"""Matrix products on one BLAS thread, bit-for-bit identical on any number of cores."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_inside = 0
_limits: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside a ``with`` block; Python threads share the rows instead.

    BLAS rounds differently on another number of threads, and its threads would compete with those
    of trueup. Blocks may overlap on several threads; the last one to end restores the previous
    setting. A BLAS that cannot be limited (Apple's) keeps its threads.
    """
    from threadpoolctl import threadpool_limits

    global _inside, _limits
    with _lock:
        if _inside == 0:
            _limits = threadpool_limits(1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()
                _limits = None
