"""Pictures of tables: every view takes tables, draws on matplotlib axes and returns the axes.

Views compute no statistics: the number drawn is the number reported. `draw_overview` draws the
whole of an `Evaluation`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueup.views.bin_counts import draw_error_by_bins as draw_error_by_bins
    from trueup.views.classes import draw_class_errors as draw_class_errors
    from trueup.views.comparison import draw_comparison as draw_comparison
    from trueup.views.decomposition import draw_decomposition as draw_decomposition
    from trueup.views.groups import draw_group_errors as draw_group_errors
    from trueup.views.local import (
        draw_lce_cdf as draw_lce_cdf,
        draw_lce_landscape as draw_lce_landscape,
        draw_mlce as draw_mlce,
    )
    from trueup.views.null import draw_null as draw_null
    from trueup.views.overview import draw_overview as draw_overview
    from trueup.views.psce import draw_psce as draw_psce
    from trueup.views.recalibrations import draw_recalibrations as draw_recalibrations
    from trueup.views.reliability import draw_reliability as draw_reliability
    from trueup.views.rewards import draw_coverage as draw_coverage, draw_rewards as draw_rewards
    from trueup.views.simplex import draw_simplex as draw_simplex
    from trueup.views.studies import draw_study as draw_study
    from trueup.views.tetrahedron import draw_tetrahedron as draw_tetrahedron
    from trueup.views.trace import draw_trace as draw_trace
    from trueup.views.trade_off import draw_trade_off as draw_trade_off

_MODULE_OF = {
    "draw_class_errors": "classes",
    "draw_comparison": "comparison",
    "draw_coverage": "rewards",
    "draw_decomposition": "decomposition",
    "draw_error_by_bins": "bin_counts",
    "draw_group_errors": "groups",
    "draw_lce_cdf": "local",
    "draw_lce_landscape": "local",
    "draw_mlce": "local",
    "draw_null": "null",
    "draw_overview": "overview",
    "draw_psce": "psce",
    "draw_recalibrations": "recalibrations",
    "draw_reliability": "reliability",
    "draw_rewards": "rewards",
    "draw_simplex": "simplex",
    "draw_study": "studies",
    "draw_tetrahedron": "tetrahedron",
    "draw_trace": "trace",
    "draw_trade_off": "trade_off",
}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'trueup.views' has no attribute {name!r}")
    return getattr(import_module(f"trueup.views.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
