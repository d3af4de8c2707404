"""Named errors of clinical prediction models: distances from a smooth calibration curve."""

from __future__ import annotations

from trueup.estimators import CurveError
from trueup.lens import Lens
from trueup.metrics.declare import metric


@metric(
    use="Report a clinical prediction model, with cox and oe_ratio.",
    instead="cox and oe_ratio_interval, which have intervals; smooth_ece without loess.",
)
def ici(*, lens: Lens | None = None) -> CurveError:
    r"""Integrated calibration index: the mean distance of predictions from a loess curve.

    :math:`\frac1n\sum_i |p_i - c(p_i)|` with c the loess fit of the labels to the predictions
    (local quadratics, three quarters of the rows in each window), as clinical papers report it.

    A calibrated model gets more than 0: the curve follows chance. More than two columns need a
    lens, such as ``OneVsRest(c)``. Cost: a sort and some hundred local fits.

    The value equals that of R's ``loess(surface="direct")``, which fits the curve at every score.
    R's default, ``surface="interpolate"``, blends fits at a few scores. Published code uses the
    default. In one published example of 1,000 rows, the ICI differs by 0.6%, E50 by 0.6%, E90 by
    0.2% and Emax by 6%.

    References
    ----------
    Austin & Steyerberg 2019, "The Integrated Calibration Index (ICI) and related metrics".

    Examples
    --------
    >>> probs, labels = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [0, 1, 0, 0, 1, 0, 1, 1]
    >>> round(ici(probs, labels), 4)
    0.1135
    """
    return CurveError(lens)


@metric(
    use="Report a clinical prediction model: half of the patients have a smaller error.",
    instead="ici for the mean; cox and oe_ratio_interval have intervals.",
)
def e50(*, lens: Lens | None = None) -> CurveError:
    """Median distance of predictions from a loess curve: half of the rows are nearer.

    As `ici`, with the median in place of the mean. It differs from that of R's default loess as
    `ici` does: by 0.6% in one published example.

    References
    ----------
    Austin & Steyerberg 2019.

    Examples
    --------
    >>> probs, labels = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [0, 1, 0, 0, 1, 0, 1, 1]
    >>> round(e50(probs, labels), 4)
    0.1011
    """
    return CurveError(lens, quantile=0.5)


@metric(
    use="Report a clinical prediction model: 90% of the patients have a smaller error.",
    instead="ici for the mean; cox and oe_ratio_interval have intervals.",
)
def e90(*, lens: Lens | None = None) -> CurveError:
    """Distance of predictions from a loess curve that 90% of rows do not exceed.

    As `ici`, with the 90th percentile in place of the mean; Emax is
    ``CurveError(quantile=1.0)``. It differs from that of R's default loess as `ici` does: by 0.2%
    in one published example, and Emax by 6%.

    References
    ----------
    Austin & Steyerberg 2019.

    Examples
    --------
    >>> probs, labels = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [0, 1, 0, 0, 1, 0, 1, 1]
    >>> round(e90(probs, labels), 4)
    0.1995
    """
    return CurveError(lens, quantile=0.9)
