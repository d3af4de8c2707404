# What `from trueup import views` offers: `__init__.py` imports it on first use.

from trueup.views.decomposition import draw_decomposition as draw_decomposition
from trueup.views.error_by_bins import draw_error_by_bins as draw_error_by_bins
from trueup.views.local_errors import (
    draw_lce_cdf as draw_lce_cdf,
    draw_lce_landscape as draw_lce_landscape,
    draw_mlce as draw_mlce,
)
from trueup.views.null_distribution import draw_null as draw_null
from trueup.views.overview import draw_overview as draw_overview
from trueup.views.psce import draw_psce as draw_psce
from trueup.views.recalibrations import draw_recalibrations as draw_recalibrations
from trueup.views.reliability import draw_reliability as draw_reliability
from trueup.views.rewards import draw_coverage as draw_coverage, draw_rewards as draw_rewards
from trueup.views.row_charts.class_errors import draw_class_errors as draw_class_errors
from trueup.views.row_charts.comparison import draw_comparison as draw_comparison
from trueup.views.row_charts.group_errors import draw_group_errors as draw_group_errors
from trueup.views.simplex.tetrahedron import draw_tetrahedron as draw_tetrahedron
from trueup.views.simplex.triangle import draw_simplex as draw_simplex
from trueup.views.study import draw_study as draw_study
from trueup.views.trace import draw_trace as draw_trace
from trueup.views.trade_off import draw_trade_off as draw_trade_off
