"""Named errors without bins: smoothed, kernel, cumulative and prediction-specific."""

from __future__ import annotations

from trueup.estimators import (
    MMCE,
    CumulativeError,
    DensityError,
    KernelError,
    PointwiseError,
    SmoothError,
)
from trueup.metrics.declare import metric


@metric(
    use="Compare with published numbers.",
    instead="smooth_ece, which adapts its bandwidth.",
)
def ece_kde() -> DensityError:
    r"""Calibration error from kernel density estimates: `ece` with densities instead of bins.

    :math:`\int |x f(x) - g(x)|\,dx`, where f is the density of the scores and g the density of the
    positive rows times their fraction. Both use the triweight kernel, reflected at 0 and 1.

    Use it to compare with published numbers. Its bandwidth rule oversmooths scores that are
    concentrated near 1. For simulated models fitted to networks it is too low by 0.3 to 1
    percentage points, and more rows do not help. Roelofs et al. (2022) also found it to be the most
    biased estimator. Prefer `smooth_ece`. Cost: one pass over the data and a few transforms of a
    fixed grid.

    References
    ----------
    Zhang, Kailkhura & Han 2020, "Mix-n-Match".

    Examples
    --------
    >>> round(ece_kde([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1]), 3)
    0.264
    """
    return DensityError()


@metric(
    use="Report one number without bins, which changes little from run to run.",
    instead="rmsce_debiased for an estimate with its bias subtracted.",
)
def smooth_ece() -> SmoothError:
    r"""Smooth ECE: smoothed residuals, with a bandwidth equal to the error itself.

    It is the :math:`\sigma` that solves
    :math:`\int|\frac1n\sum_i K_\sigma(t, p_i)(p_i - y_i)|\,dt = \sigma`, where K is a Gaussian
    reflected at 0 and 1. There are no tuning parameters. Unlike binned errors, it is continuous in
    the predictions, because there is no bin edge for a score to cross.

    Use it if scores change a little from run to run, or as one number without a tuning parameter.
    It is at least half the distance to the nearest calibrated predictor, and at most about twice
    the root of that distance. For a calibrated model, sampling noise gives about 0.3 n^(-1/3).
    Cost: one pass over the data and a few transforms.

    References
    ----------
    Błasiok & Nakkiran 2023, "Smooth ECE: principled reliability diagrams via kernel smoothing".

    Examples
    --------
    >>> round(smooth_ece([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0]), 6)
    0.15
    """
    return SmoothError()


@metric(
    use="Test, or compare models with the same bandwidth; it may be negative.",
    instead="rmsce_debiased for an error in units of probability.",
)
def skce(*, bandwidth: float | None = None) -> KernelError:
    r"""Unbiased estimate of the squared kernel calibration error.

    :math:`\frac{1}{n(n-1)}\sum_{i\neq j} k(g_i, g_j)\langle g_i - e_{y_i}, g_j - e_{y_j}\rangle`
    with the Laplacian kernel :math:`e^{-\|\cdot\|/\gamma}`. For a matrix it measures full
    (canonical) calibration.

    Use it to test, or to compare models at one bandwidth. It is a squared error whose estimate may
    be negative; for a calibrated model it is negative about 60% of the time, and a negative value
    is no evidence of miscalibration. Cost: one sort and a scan for 1-D ``probs``; n² kernel values,
    in blocks, for a matrix.

    Parameters
    ----------
    bandwidth : float, optional
        Kernel width γ (default: the median distance, at least 0.05).

    References
    ----------
    Widmann, Lindsten & Zachariah 2019, "Calibration tests in multi-class classification".

    Examples
    --------
    >>> round(skce([0.8, 0.8, 0.8], [1, 1, 0]), 6)
    -0.093333
    """
    return KernelError(bandwidth=bandwidth)


@metric(
    use="Compare with models that were trained with an MMCE penalty.",
    instead="skce, which is unbiased.",
)
def mmce(*, bandwidth: float = 0.4, weighted: bool = False) -> MMCE:
    r"""Maximum mean calibration error: kernel calibration error of the confidence.

    :math:`(\frac1{n^2}\sum_{ij}(r_i - c_i)(r_j - c_j)\,e^{-|r_i - r_j|/0.4})^{1/2}` for confidences
    r and correctness c (1 if the prediction was right). Use it to compare with models trained on
    this error. It is biased upward: for a calibrated model, sampling noise gives about 0.4
    n^(-1/2). Cost: one sort and a scan.

    Parameters
    ----------
    bandwidth : float, default 0.4
        Kernel width.
    weighted : bool, default False
        Whether to average right and wrong rows separately, as the authors do in training. This form
        is not 0 for a calibrated model, so it does not measure calibration (docs/decisions/007).

    References
    ----------
    Kumar, Sarawagi & Jain 2018, "Trainable calibration measures for neural networks".

    Examples
    --------
    >>> round(mmce([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0]), 6)
    0.15
    """
    return MMCE(bandwidth=bandwidth, weighted=weighted)


@metric(
    use="Find errors of one direction over a long range of scores.",
    instead="kuiper for errors in a range of scores; rmsce_debiased if errors change sign.",
)
def ks_error() -> CumulativeError:
    r"""Kolmogorov–Smirnov calibration error: the largest absolute cumulative mean of score − label.

    :math:`\max_t |\frac1n\sum_{p_i \le t} (p_i - y_i)|`, with no tuning parameters. For a model
    that is overconfident everywhere, it equals the mean gap. Errors of opposite sign at neighboring
    scores cancel. For a calibrated model, sampling noise gives about 0.5 n^(-1/2). Cost: one sort.

    References
    ----------
    Gupta et al. 2020, "Calibration of neural networks using splines".

    Examples
    --------
    >>> round(ks_error([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0]), 6)
    0.15
    """
    return CumulativeError()


@metric(
    use="Find the range of scores with the largest total error.",
    instead="rmsce_debiased if errors change sign.",
)
def kuiper() -> CumulativeError:
    """Kuiper calibration error: the largest |Σ (score − label)|/n over any range of scores.

    It is the range (maximum minus minimum) of the cumulative means of `ks_error`, and never smaller
    than `ks_error`. It finds the worst interval of scores wherever the interval starts. Cost: one
    sort.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert & Xu 2022, "Metrics of calibration for probabilistic
    predictions".

    Examples
    --------
    >>> round(kuiper([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0]), 6)
    0.15
    """
    return CumulativeError(statistic="kuiper")


@metric(
    use="Measure how far off single predictions are, with PointwiseError().errors.",
    instead="smooth_ece for one number about the model.",
)
def psce(*, decay: float = 0.9) -> PointwiseError:
    """Prediction-specific calibration error: mean distance of each prediction from a local mean.

    For every class, the local accuracy at 101 points is a weighted mean of labels: weights decay by
    the factor ``decay`` per 0.01 of distance, and the rows below and above count half each. The
    metric is the mean of :math:`|p - acc(p)|` over rows and classes.

    Use it, or better `PointwiseError.errors`, for single predictions. It is not 0 for a calibrated
    model near 0 and 1, where all neighbors lie on one side. Cost: two passes over the data.

    Parameters
    ----------
    decay : float, default 0.9
        Factor by which weights decrease per 0.01 of distance. The paper does not give a value.

    References
    ----------
    Nixon et al. 2019, §5.4 and App. A.2.

    Examples
    --------
    >>> round(psce([0.5, 0.5, 0.5, 0.5], [0, 1, 1, 1]), 6)
    0.25
    """
    return PointwiseError(decay=decay)
