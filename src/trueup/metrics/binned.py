"""Named errors over bins: each a one-line composition of lens, bins, norm and correction."""

from __future__ import annotations

import math

from trueup.bins import EqualMass, EqualWidth, NumberOfBins
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

    :math:`\sum_b s_b |f_b - y_b|` over 15 bins of equal width: the share of a bin times the
    distance between its mean confidence and its accuracy (for 1-D ``probs``, the rate of
    positives).

    Use it to compare with published numbers. It is biased upwards when bins hold few rows, so a
    calibrated model rarely gets 0, and it can hide errors that cancel within a bin; prefer
    `rmsce_debiased` or `ece_sweep` to judge a model. On two columns it asks about the predicted
    class, which is not the binary question: pass ``probs[:, 1]`` for that. Cost: one pass.

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

    :math:`\max_b |f_b - y_b|` over 15 bins of equal width. For safety questions, with care: the
    worst bin is often one with a handful of rows, and then the number is noise, biased upwards.
    Cost: one pass over the data.

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
    r"""Root mean squared calibration error: `ece` with larger errors counted more.

    :math:`(\sum_b s_b (f_b - y_b)^2)^{1/2}` over 15 bins of equal width; never below `ece`.
    Biased upwards like it. Cost: one pass over the data.

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
    use="Report an average error in plain units with few rows.",
    instead="rmsce_debiased, whose correction removes more of the bias.",
)
def ece_debiased(*, n_bins: NumberOfBins = 15) -> BinnedError:
    r"""`ece` over equal-mass bins, minus an estimate of its bias.

    :math:`2\sum_b s_b |f_b - y_b| - \sum_b s_b E|f_b - R_b|` with
    :math:`R_b \sim N(y_b, y_b(1-y_b)/n_b)`, cut at 0; the expectation is in closed form.

    Use it for the average error in plain units when samples are few. A heuristic, as its authors
    say: it removes about 40% of the upward bias of a calibrated model. `rmsce_debiased` does
    better. Cost: bin edges and one pass.

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
    r"""`rmsce` over equal-mass bins, with its bias subtracted from the square.

    The root of :math:`\sum_b s_b [(f_b - y_b)^2 - y_b(1-y_b)/(n_b-1)]`, cut at 0.

    The one to judge a model by: unbiased in the square when scores are constant within bins, a
    little low otherwise. A value of 0 means that the squared estimate, which may be negative,
    shows no error; `BinnedError.measure` keeps it. Cost: bin edges and one pass.

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
    r"""`ece` with as many equal-mass bins as keep the calibration curve from falling.

    The plug-in :math:`\sum_b s_b |f_b - y_b|` at the largest number of bins such that it and
    every smaller number has non-decreasing mean labels. It has no tuning parameters.

    Use it when the curve can be taken to rise with the score: in the worlds its authors fitted to
    networks it is the least biased plug-in error at small samples. Calibrated models still get
    more than 0. Cost: one sort and a near-linear search (see `SweepError` for weights).

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
    r"""`rmsce` with as many equal-mass bins as keep the calibration curve from falling.

    As `ece_sweep`, with :math:`(\sum_b s_b (f_b - y_b)^2)^{1/2}`.

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
    r"""Static calibration error: mean gap of the probabilities of all classes.

    :math:`\frac1K\sum_k\sum_b \frac{n_{bk}}{n}|f_{bk} - y_{bk}|` over 15 bins of equal width.

    Use it when all probabilities matter. With many classes most predictions are near 0 and
    dilute it: compare it between models of the same K only, or see `tace`. 1-D ``probs``: the
    same as `ece`. Cost: one pass over the data.

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
    r"""Adaptive calibration error: `sce` with bins of equal mass for every class.

    :math:`\frac1K\sum_k\sum_r \frac{n_{rk}}{n}|f_{rk} - y_{rk}|` over 15 equal-mass ranges per
    class, every prediction included. Bins follow the scores, so none is nearly empty. Biased
    upwards like every plug-in error. Cost: bin edges for each class and one pass.

    References
    ----------
    Nixon et al. 2019, §5.2, where predictions of exactly 0 are left out; here they count.

    Examples
    --------
    >>> round(ace([[0.6, 0.4], [0.6, 0.4]], [0, 1]), 6)
    0.1
    """
    return BinnedError(ClassWise(), EqualMass(n_bins))


@metric(
    use="Compare models of many classes, where tiny probabilities are most of all.",
    instead="marginal_error_debiased; class_errors for each class.",
)
def tace(
    *, n_bins: NumberOfBins = 15, threshold: float = 0.01, literal: bool = False
) -> BinnedError:
    r"""Thresholded adaptive calibration error: `ace` over predictions above a threshold.

    :math:`\frac1K\sum_k\sum_r \frac{n_{rk}}{n_k}|f_{rk} - y_{rk}|` over predictions strictly
    above ``threshold``, of which class k has n_k; a class with none adds 0.

    Use it with many classes, where tiny probabilities would drown the rest. It depends on the
    threshold: report it. Cost: bin edges for each class and one pass.

    References
    ----------
    Nixon et al. 2019, §5.3. Theirs gives every range 1/(KR), the same when all are equal;
    ``literal=True`` does so whatever their sizes.

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

    :math:`(\frac1K\sum_k\sum_b s_{bk}(f_{bk} - y_{bk})^2)^{1/2}`. The squared cousin of `ace`,
    with the same upward bias. Cost: bin edges for each class and one pass.

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
    r"""`marginal_error` with its bias subtracted from the square.

    Squared gaps of every class and bin minus :math:`y_{bk}(1-y_{bk})/(n_{bk}-1)`, averaged, cut
    at 0, and one root. Use it to judge all probabilities of a model at once.

    References
    ----------
    Kumar, Liang & Ma 2019, Defs. 2.4 and 5.2.

    Examples
    --------
    >>> marginal_error_debiased([[0.5, 0.5]] * 4, [0, 1, 0, 1])
    0.0
    """
    return BinnedError(ClassWise(), EqualMass(n_bins), norm=2, debias=True)
