# What `from trueup import plotting` offers: `__init__.py` imports it on first use.

from trueup.plotting.calibration_curve import plot_calibration_curve as plot_calibration_curve
from trueup.plotting.decomposition import plot_decomposition as plot_decomposition
from trueup.plotting.error_by_bins import plot_error_by_bins as plot_error_by_bins
from trueup.plotting.lineups import lineup as lineup
from trueup.plotting.local_errors import (
    plot_lce_cdf as plot_lce_cdf,
    plot_lce_landscape as plot_lce_landscape,
    plot_mlce as plot_mlce,
)
from trueup.plotting.null_distribution import plot_null as plot_null
from trueup.plotting.one_call import reliability_diagram as reliability_diagram
from trueup.plotting.overview import plot_overview as plot_overview
from trueup.plotting.psce import plot_psce as plot_psce
from trueup.plotting.recalibrations import plot_recalibrations as plot_recalibrations
from trueup.plotting.reliability import plot_reliability as plot_reliability
from trueup.plotting.rewards import plot_coverage as plot_coverage, plot_rewards as plot_rewards
from trueup.plotting.row_charts.class_and_group_errors import (
    plot_class_errors as plot_class_errors,
    plot_group_errors as plot_group_errors,
)
from trueup.plotting.row_charts.comparison import plot_comparison as plot_comparison
from trueup.plotting.simplex.tetrahedron import plot_tetrahedron as plot_tetrahedron
from trueup.plotting.simplex.triangle import plot_simplex as plot_simplex
from trueup.plotting.study import plot_study as plot_study
from trueup.plotting.trace import plot_trace as plot_trace
from trueup.plotting.trade_off import plot_trade_off as plot_trade_off
