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

    :math:`\frac1n\sum_i |p_i - c(p_i)|`, where c is the loess fit of the labels to the predictions
    (local quadratics, with 75% of the rows in each window). Use it for comparison with clinical
    papers.

    It is above 0 for a calibrated model, because the curve follows sampling noise. Cost: a sort and
    about a hundred local fits.

    Parameters
    ----------
    lens : Lens, optional
        Lens that yields one probability per row, such as ``OneVsRest(c)``. It is required for more
        than two columns.

    The value equals that of R's ``loess(surface="direct")``, which fits the curve at every score.
    R's default, ``surface="interpolate"``, interpolates between fits at a few scores. Published
    code uses the default. In one published example of 1,000 rows, the ICI differs by 0.6%, E50 by
    0.6%, E90 by 0.2% and Emax by 6%.

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
    """Median distance of predictions from a loess curve.

    Like `ici`, with the median instead of the mean. Use it next to `ici` and `e90` to show how the
    distances vary between rows. As for `ici`, the value with R's default loess is different, by
    0.6% in one published example.

    Parameters
    ----------
    lens : Lens, optional
        Lens that yields one probability per row, such as ``OneVsRest(c)``. It is required for more
        than two columns.

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
    """90th percentile of the distance of predictions from a loess curve.

    Like `ici`, with the 90th percentile instead of the mean. Use it next to `ici` to see how large
    the error is for the worst rows; Emax is ``CurveError(quantile=1.0)``. As for `ici`, the value
    with R's default loess is different, by 0.2% in one published example, and Emax by 6%.

    Parameters
    ----------
    lens : Lens, optional
        Lens that yields one probability per row, such as ``OneVsRest(c)``. It is required for more
        than two columns.

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
