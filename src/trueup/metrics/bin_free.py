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
    r"""Calibration error by kernel density estimates: `ece` with curves in place of bins.

    :math:`\int |x f(x) - g(x)|\,dx`, with f the density of the scores and g that of positive
    rows times their share, both by the triweight kernel, reflected at 0 and 1.

    Use it to compare with published numbers. Its bandwidth rule smooths scores that pile up near
    1 far too much: in worlds fitted to networks it is too low, by 0.3 to 1 points of a hundred,
    and more rows do not help (Roelofs et al. 2022 found it the most biased of all; tests/papers
    measures it again). Prefer `smooth_ece`. Cost: one pass and a few transforms of a fixed grid.

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
    r"""Smooth calibration error: residuals smoothed until the width equals what is left.

    The :math:`\sigma` with :math:`\int|\frac1n\sum_i K_\sigma(t, p_i)(p_i - y_i)|\,dt = \sigma`,
    K a Gaussian reflected at 0 and 1. It has no tuning parameters and, unlike binned errors, is
    continuous in the predictions: there is no edge for a score to cross.

    Use it where scores move a little from run to run, or as one number without a tuning knob.
    It is at least half the distance to the nearest calibrated predictor and at most about twice
    the root of that distance. Sampling noise gives a calibrated model about 0.3 n^(-1/3). Cost:
    one pass over the data and a few transforms.

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
    with the Laplacian kernel :math:`e^{-\|\cdot\|/\gamma}`; by default γ is the median distance,
    at least 0.05.
    For a matrix it measures full (canonical) calibration.

    A squared error whose estimate may be negative, and is 60% of the time for a calibrated
    model: that means "no sign of error". Use it to test, or to compare models at one bandwidth.
    Cost: one sort and a scan for 1-D ``probs``; n² kernel values for a matrix, in blocks.

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
    use="Compare with models that were trained with it.",
    instead="skce, which is unbiased.",
)
def mmce(*, bandwidth: float = 0.4, weighted: bool = False) -> MMCE:
    r"""Maximum mean calibration error: the kernel error that made calibrated training possible.

    :math:`(\frac1{n^2}\sum_{ij}(r_i - c_i)(r_j - c_j)\,e^{-|r_i - r_j|/0.4})^{1/2}` over
    confidences r and "was it right" c. Biased upwards: sampling noise gives about 0.4 n^(-1/2).

    ``weighted=True`` is the form its authors train with, right and wrong rows each averaged
    alone: not 0 for a calibrated model, so no measure of calibration (docs/decisions/007).
    Cost: one sort and a scan.

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
    instead="kuiper for a range in the middle; rmsce_debiased for errors that alternate.",
)
def ks_error() -> CumulativeError:
    r"""Kolmogorov–Smirnov calibration error: the largest running sum of score − label.

    :math:`\max_t |\frac1n\sum_{p_i \le t} (p_i - y_i)|`. It has no tuning parameters; the error of
    a model that is overconfident everywhere is its average gap. Errors of opposite sign in
    neighboring scores cancel. Sampling noise gives about 0.5 n^(-1/2). Cost: one sort.

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
    instead="rmsce_debiased for errors that alternate.",
)
def kuiper() -> CumulativeError:
    r"""Kuiper calibration error: the largest |Σ (score − label)|/n over any range of scores.

    The range (largest less smallest) of the running sums of `ks_error`, which it never falls
    below: it finds the worst interval wherever it starts. Cost: one sort.

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
    use="Ask how far single predictions are off, with PointwiseError().errors.",
    instead="smooth_ece for one number about the model.",
)
def psce(*, decay: float = 0.9) -> PointwiseError:
    r"""Prediction-specific calibration error: the mean distance of each prediction from its curve.

    For every class, the accuracy at 101 points is a mean of labels with weights
    ``decay`` per 0.01 of distance, below and above counted half each; predictions are compared
    with it and :math:`|p - acc(p)|` averaged over rows and classes.

    Use it, or rather `PointwiseError.errors`, to ask about single predictions. Not 0 at the
    truth near 0 and 1, where neighbors lie on one side; the decay is ours, the paper gives
    none. Cost: two passes over the data.

    References
    ----------
    Nixon et al. 2019, §5.4 and App. A.2.

    Examples
    --------
    >>> round(psce([0.5, 0.5, 0.5, 0.5], [0, 1, 1, 1]), 6)
    0.25
    """
    return PointwiseError(decay=decay)
