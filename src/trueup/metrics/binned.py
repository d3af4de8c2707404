"""Named errors over bins: each a one-line composition of lens, bins, norm and correction."""

from __future__ import annotations

import math

from trueup.bins import EqualMass, EqualWidth
from trueup.bins.scores import NumberOfBins
from trueup.checks import is_number
from trueup.errors import must_be
from trueup.estimators import BinnedError, SweepError
from trueup.lens import ClassWise
from trueup.metrics.declare import metric


@metric(
    use="Compare with published numbers.",
    instead="rmsce_debiased, whose bias is subtracted, or ece_sweep.",
)
def ece(*, n_bins: NumberOfBins = 15) -> BinnedError:
    r"""Expected calibration error: mean absolute gap between confidence and accuracy.

    :math:`\sum_b s_b |f_b - y_b|` over 15 equal-width bins: the fraction of rows in a bin times the
    distance between its mean confidence and its accuracy. For 1-D ``probs``, the accuracy is the
    rate of positives.

    Use it to compare with published numbers. It is biased upward if bins hold few rows, so it is
    rarely 0 for a calibrated model, and errors that cancel within a bin go undetected. Prefer
    `rmsce_debiased` or `ece_sweep` to judge a model. For two columns it measures the predicted
    class; pass ``probs[:, 1]`` to measure the positive class. Cost: one pass over the data.

    Parameters
    ----------
    n_bins : int or "auto", default 15
        Number of equal-width bins; "auto" is ⌈n^(1/3)⌉.

    References
    ----------
    Guo et al. 2017; Naeini et al. 2015; Roelofs et al. 2022, eq. 4.

    Examples
    --------
    >>> round(ece([0.9, 0.9, 0.9, 0.9, 0.2], [1, 1, 1, 0, 0]), 6)
    0.16
    """
    return BinnedError(binning=EqualWidth(n_bins))


@metric(
    use="Look for the worst bin, together with its number of rows.",
    instead="kuiper for the worst range of scores; bin_tests for adjusted p-values.",
)
def mce(*, n_bins: NumberOfBins = 15) -> BinnedError:
    r"""Maximum calibration error: the largest gap in any bin.

    :math:`\max_b |f_b - y_b|` over 15 equal-width bins, with mean confidence f and accuracy y. Use
    it for safety questions, and with care: the worst bin often holds only a handful of rows, and
    the result is then mostly noise and biased upward. Cost: one pass over the data.

    Parameters
    ----------
    n_bins : int or "auto", default 15
        Number of equal-width bins; "auto" is ⌈n^(1/3)⌉.

    References
    ----------
    Naeini et al. 2015.

    Examples
    --------
    >>> round(mce([0.9, 0.9, 0.9, 0.9, 0.2], [1, 1, 1, 0, 0]), 6)
    0.2
    """
    return BinnedError(binning=EqualWidth(n_bins), norm=math.inf)


@metric(
    use="Compare with published numbers that are root mean squares.",
    instead="rmsce_debiased, whose bias is subtracted.",
)
def rmsce(*, n_bins: NumberOfBins = 15) -> BinnedError:
    r"""Root mean squared calibration error: `ece` with more weight on larger gaps.

    :math:`(\sum_b s_b (f_b - y_b)^2)^{1/2}` over 15 equal-width bins; never smaller than `ece`. Use
    it to compare with published numbers. It is biased upward in the same way. Cost: one pass over
    the data.

    Parameters
    ----------
    n_bins : int or "auto", default 15
        Number of equal-width bins; "auto" is ⌈n^(1/3)⌉.

    References
    ----------
    Hendrycks et al. 2019; Roelofs et al. 2022, eq. 4.

    Examples
    --------
    >>> round(rmsce([0.9, 0.9, 0.9, 0.9, 0.2], [1, 1, 1, 0, 0]), 6)
    0.161245
    """
    return BinnedError(binning=EqualWidth(n_bins), norm=2)


@metric(
    use="Report a mean absolute error with few rows.",
    instead="rmsce_debiased, whose correction removes more of the bias.",
)
def ece_debiased(*, n_bins: NumberOfBins = 15) -> BinnedError:
    r"""`ece` with equal-mass bins, minus an estimate of its bias.

    :math:`2\sum_b s_b |f_b - y_b| - \sum_b s_b E|f_b - R_b|` with
    :math:`R_b \sim N(y_b, y_b(1-y_b)/n_b)`, clipped at 0; the expectation has a closed form.

    Use it for the mean absolute error if samples are few. According to its authors it is a
    heuristic: for a calibrated model it removes about 40% of the upward bias. `rmsce_debiased` does
    better. Cost: bin edges and one pass over the data.

    Parameters
    ----------
    n_bins : int or "auto", default 15
        Number of equal-mass bins; "auto" is ⌈n^(1/3)⌉.

    References
    ----------
    Kumar, Liang & Ma 2019, Def. G.3.

    Examples
    --------
    >>> ece_debiased([0.5, 0.5, 0.5, 0.5], [0, 1, 0, 1])
    0.0
    """
    return BinnedError(binning=EqualMass(n_bins), debias=True)


@metric(
    use="Judge a model by one number; the verdict of evaluate states it.",
    instead="smooth_ece without bins; marginal_error_debiased for all classes.",
)
def rmsce_debiased(*, n_bins: NumberOfBins = 15) -> BinnedError:
    r"""`rmsce` with equal-mass bins, with an estimate of the bias subtracted from its square.

    The root of :math:`\sum_b s_b [(f_b - y_b)^2 - y_b(1-y_b)/(n_b-1)]`, clipped at 0.

    Use it to judge a model: its square is unbiased if scores are constant within bins, and a little
    low otherwise. A value of 0 means that the squared estimate is negative or 0, which shows no
    error; `BinnedError.measure` keeps the squared estimate. Cost: bin edges and one pass over the
    data.

    Parameters
    ----------
    n_bins : int or "auto", default 15
        Number of equal-mass bins; "auto" is ⌈n^(1/3)⌉.

    References
    ----------
    Kumar, Liang & Ma 2019, Def. 5.2 in the form of Lemma F.7; Bröcker 2012.

    Examples
    --------
    >>> rmsce_debiased([0.5, 0.5, 0.5, 0.5], [0, 1, 0, 1])
    0.0
    """
    return BinnedError(binning=EqualMass(n_bins), norm=2, debias=True)


@metric(
    use="Report an error for few rows if the true curve is increasing.",
    instead="rmsce_debiased if the curve may decrease or the model is nearly calibrated.",
)
def ece_sweep() -> SweepError:
    r"""`ece` with a data-driven number of equal-mass bins: the most that keep bin means monotone.

    The plug-in :math:`\sum_b s_b |f_b - y_b|` at the largest number of bins for which it and every
    smaller number has non-decreasing mean labels. There are no tuning parameters.

    Use it if the calibration curve can be assumed to increase with the score. For the simulated
    models that its authors fitted to networks, it is the least biased plug-in error on small
    samples. It is still above 0 for a calibrated model. Cost: one sort and a near-linear search
    (see `SweepError` for weights).

    References
    ----------
    Roelofs et al. 2022, Algorithm 1.

    Examples
    --------
    >>> round(ece_sweep([0.1, 0.2, 0.3, 0.9], [0, 0, 1, 1]), 6)
    0.275
    """
    return SweepError()


@metric(
    use="Report a root mean squared error for few rows if the true curve is increasing.",
    instead="rmsce_debiased if the curve may decrease or the model is nearly calibrated.",
)
def rmsce_sweep() -> SweepError:
    r"""`rmsce` with a data-driven number of equal-mass bins: the most that keep bin means monotone.

    Like `ece_sweep`, with :math:`(\sum_b s_b (f_b - y_b)^2)^{1/2}`. Use it if larger gaps should
    count more.

    References
    ----------
    Roelofs et al. 2022, Algorithm 1.

    Examples
    --------
    >>> round(rmsce_sweep([0.1, 0.2, 0.3, 0.9], [0, 0, 1, 1]), 6)
    0.37081
    """
    return SweepError(norm=2)


@metric(
    use="Compare all probabilities of models with the same number of classes.",
    instead="marginal_error_debiased, whose bias is subtracted.",
)
def sce(*, n_bins: NumberOfBins = 15) -> BinnedError:
    r"""Static calibration error: `ece` of every class, averaged over classes.

    :math:`\frac1K\sum_k\sum_b \frac{n_{bk}}{n}|f_{bk} - y_{bk}|` over 15 equal-width bins.

    Use it if the probabilities of all classes matter, not only the top label. With many classes
    most predictions are near 0 and make it small, so compare only models with the same K, or use
    `tace`. For 1-D ``probs`` it equals `ece`. Cost: one pass over the data.

    Parameters
    ----------
    n_bins : int or "auto", default 15
        Number of equal-width bins; "auto" is ⌈n^(1/3)⌉.

    References
    ----------
    Nixon et al. 2019, §5.1.

    Examples
    --------
    >>> round(sce([[0.6, 0.4], [0.6, 0.4]], [0, 1]), 6)
    0.1
    """
    return BinnedError(ClassWise(), EqualWidth(n_bins))


@metric(
    use="Compare all probabilities, with bins that follow the scores.",
    instead="marginal_error_debiased, whose bias is subtracted.",
)
def ace(*, n_bins: NumberOfBins = 15) -> BinnedError:
    r"""Adaptive calibration error: `sce` with equal-mass bins for every class.

    :math:`\frac1K\sum_k\sum_r \frac{n_{rk}}{n}|f_{rk} - y_{rk}|` over 15 equal-mass bins per class,
    every prediction included. Bin edges follow the scores, so no bin is nearly empty. Like every
    plug-in error, it is biased upward. Cost: bin edges for each class and one pass over the data.

    Parameters
    ----------
    n_bins : int or "auto", default 15
        Number of equal-mass bins per class; "auto" is ⌈n^(1/3)⌉.

    References
    ----------
    Nixon et al. 2019, §5.2. The paper drops predictions of exactly 0; here they count.

    Examples
    --------
    >>> round(ace([[0.6, 0.4], [0.6, 0.4]], [0, 1]), 6)
    0.1
    """
    return BinnedError(ClassWise(), EqualMass(n_bins))


@metric(
    use="Compare models with many classes, if most probabilities are tiny.",
    instead="marginal_error_debiased; class_errors for each class.",
)
def tace(
    *, n_bins: NumberOfBins = 15, threshold: float = 0.01, literal: bool = False
) -> BinnedError:
    r"""Thresholded adaptive calibration error: `ace` over predictions above a threshold.

    :math:`\frac1K\sum_k\sum_r \frac{n_{rk}}{n_k}|f_{rk} - y_{rk}|` over predictions strictly above
    ``threshold``, where class k has n_k of them; a class without any adds 0.

    Use it with many classes, where tiny probabilities would dominate. It depends on the threshold:
    report the threshold with the value. Cost: bin edges for each class and one pass over the data.

    Parameters
    ----------
    n_bins : int or "auto", default 15
        Number of equal-mass bins per class; "auto" is ⌈n^(1/3)⌉.
    threshold : float, default 0.01
        Predictions at or below it are dropped.
    literal : bool, default False
        Whether to weight every bin by 1/(KR), as in the paper, whatever its size.

    References
    ----------
    Nixon et al. 2019, §5.3. The weights are the same if all bins are equal in size.

    Examples
    --------
    >>> round(tace([[0.995, 0.005], [0.6, 0.4]], [0, 1]), 6)
    0.45125
    """
    if not is_number(threshold) or not threshold < 1:
        raise must_be("threshold", "a number below 1", threshold)
    lens = ClassWise(where=(threshold, 1.0))
    return BinnedError(lens, EqualMass(n_bins), equal_shares=literal)


@metric(
    use="Compare with published numbers on all classes.",
    instead="marginal_error_debiased, whose bias is subtracted.",
)
def marginal_error(*, n_bins: NumberOfBins = 15) -> BinnedError:
    r"""Marginal calibration error: root mean square over classes and equal-mass bins.

    :math:`(\frac1K\sum_k\sum_b s_{bk}(f_{bk} - y_{bk})^2)^{1/2}`. It is the L2 version of `ace`,
    with the same upward bias. Cost: bin edges for each class and one pass over the data.

    Parameters
    ----------
    n_bins : int or "auto", default 15
        Number of equal-mass bins per class; "auto" is ⌈n^(1/3)⌉.

    References
    ----------
    Kumar, Liang & Ma 2019, Def. 2.4 with class weights 1/K.

    Examples
    --------
    >>> round(marginal_error([[0.6, 0.4], [0.6, 0.4]], [0, 1]), 6)
    0.1
    """
    return BinnedError(ClassWise(), EqualMass(n_bins), norm=2)


@metric(
    use="Judge all probabilities of a model by one number.",
    instead="class_errors for each class; rmsce_debiased for the predicted class.",
)
def marginal_error_debiased(*, n_bins: NumberOfBins = 15) -> BinnedError:
    """`marginal_error` with an estimate of the bias subtracted from its square.

    The root of the mean over classes and bins of the squared gap minus
    :math:`y_{bk}(1-y_{bk})/(n_{bk}-1)`, clipped at 0. Use it to judge the probabilities of all
    classes at once. Cost: bin edges for each class and one pass over the data.

    Parameters
    ----------
    n_bins : int or "auto", default 15
        Number of equal-mass bins per class; "auto" is ⌈n^(1/3)⌉.

    References
    ----------
    Kumar, Liang & Ma 2019, Defs. 2.4 and 5.2.

    Examples
    --------
    >>> marginal_error_debiased([[0.5, 0.5]] * 4, [0, 1, 0, 1])
    0.0
    """
    return BinnedError(ClassWise(), EqualMass(n_bins), norm=2, debias=True)
