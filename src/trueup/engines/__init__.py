"""Engines compute the sums. ``trueup.engines.in_use()`` returns the name of the one in use.

An engine is a package with the modules of `trueup.engines.reference`: ``rows``, ``bins``,
``order`` and so on. ``reference`` is readable NumPy and the oracle; ``native`` is compiled from
``kernels`` and tested to be equal. The engine changes the speed, never a bin.

To add an engine, write another such package and pass it to `register`. A module that need not be
replaced can forward to the reference: ``from trueup.engines.reference.loess import *``.
"""

from trueup.engines.select import in_use, register, using
from trueup.engines.threads import get_threads, set_threads

__all__ = ["get_threads", "in_use", "register", "set_threads", "using"]
