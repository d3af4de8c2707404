"""Engines do the sums. ``trueup.engines.in_use()`` says which one is working."""

from trueup.engines.base import in_use, using
from trueup.engines.threads import get_threads, set_threads

__all__ = ["get_threads", "in_use", "set_threads", "using"]
