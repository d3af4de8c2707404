"""Local calibration: calibration errors among rows with similar features."""

from trueup.local.local_error import LocalError
from trueup.local.named_metrics import lce, mlce, mlce_over_bandwidths
from trueup.local.sums import kernel_sums, kernel_sums_by_bin
from trueup.local.worst_groups import max_group_mce, mlce_group_correlation, with_local_errors

__all__ = [
    "LocalError",
    "kernel_sums",
    "kernel_sums_by_bin",
    "lce",
    "max_group_mce",
    "mlce",
    "mlce_group_correlation",
    "mlce_over_bandwidths",
    "with_local_errors",
]
