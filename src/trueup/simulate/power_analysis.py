"""The probability of detecting a given calibration error, and the rows that it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trueup._typing import Floats, Ints
from trueup.calls.hints import hinted
from trueup.calls.progress import Progress, stage, stages, with_progress
from trueup.checks import check_whole
from trueup.engines.threads import run
from trueup.errors import InputError, must_be
from trueup.estimators import Estimator
from trueup.estimators.base import Metric, estimator_of
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_inside
from trueup.inference.hypothesis_tests.shared_draws import shared_pvalues
from trueup.lens import Binary, chosen_lens
from trueup.seeds import Seed, check_seed, generator_of
from trueup.simulate.fitting.fit_world import fit
from trueup.simulate.power_results import Detection, SampleSize
from trueup.simulate.studies.random_streams import stream, world_identity
from trueup.simulate.worlds.calibration_curves import Curve, Identity, LogOdds
from trueup.simulate.worlds.score_distributions import Empirical
from trueup.simulate.worlds.world import World

OMNIBUS = "omnibus"
N_RESAMPLES = 999  # draws of each test, as many as `calibration_test` makes by default
FEWER_RESAMPLES = 199  # if each needs its own measurement; the power is less than 0.01 lower
SAME_SCORES = 20  # datasets that share scores and draws, which costs little of their independence
FEWEST_GROUPS = 20  # of such datasets, from which a standard error is known
FEWEST_ROWS, MOST_ROWS = 50, 1_000_000
SHARES = 35, 50, 9, 6  # of the work: the search, then rounds of which the first is often the last
OVERCONFIDENT = LogOdds(0.5)
CALIBRATED = 0.1  # a curve whose error is below this share of the one asked about has no shape


@hinted
@with_progress("power")
def power(
    probs: object,
    labels: object = None,
    *,
    true_error: float,
    n: int,
    statistic: Metric | None = None,
    alpha: float = 0.05,
    n_datasets: int = 1000,
    rng: Seed = 0,
    logits: bool = False,
    progress: Progress = None,
) -> Detection:
    r"""Compute the power of a calibration test for a given true error and ``n`` rows.

    Datasets are drawn from a simulated model that resembles the data and has that error. The power
    is the fraction of the m datasets whose test has a p-value of at most ``alpha``:

    .. math:: \hat\pi = \frac{1}{m} \sum_{j=1}^{m} 1\{p_j \le \alpha\}

    The test is that of `calibration_test`: labels are drawn for the scores of the dataset. Use it
    before you collect data, or to interpret a test that did not reject. To compute the error that a
    test of your own rows would have missed, `trueup.inference.hypothesis_tests.sensitivity` is
    faster.

    Parameters
    ----------
    probs : array_like, Forecasts or World
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data, or a
        simulated model (`World`).
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    true_error : float
        True calibration error to detect, in the norm of the statistic; L2 (RMS) if it has none.
    n : int
        Number of rows of a dataset.
    statistic : Estimator or named metric, optional
        Statistic of a consistency test (default: the omnibus test).
    alpha : float, default 0.05
        Significance level of the test: its false-positive rate on calibrated models.
    n_datasets : int, default 1000
        Number of simulated datasets.
    rng : int, Generator or None, default 0
        Random seed; the same seed gives the same result.
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.
    progress : bool or callable, optional
        Whether to show progress: True, False, or a function that gets each report. The default is
        the setting of `show_progress`.

    Returns
    -------
    Detection
        The power with its Monte Carlo error.

    Notes
    -----
    The simulated model is that of `fit`: Beta scores with the curve T that fits the labels. If no
    Beta fits, the scores themselves are resampled. The curve with the requested error is c +
    t·(T(c) − c), clipped to [0, 1]: the fitted miscalibration, t times as strong. If the fitted
    curve has less than a tenth of the requested error, its shape is not informative. T is then that
    of a model overconfident by a temperature of 2, σ(logit(c)/2). A matrix is fitted by its top
    labels, and the test is that of the top labels alone.

    Up to 20 datasets share their scores and the 999 draws of the test. Each p-value is still that
    of a test of one dataset, and the standard error counts groups of datasets. So 1,000 datasets
    cost about 50 tests. For statistics that need more than sums of labels over fixed bins, a test
    has 199 draws. docs/power.md compares the results with tests of independent datasets.

    References
    ----------
    Roelofs et al. 2022, §5.4 and Fig. 8, for the power of tests of calibration; Bröcker & Smith
    2007 and Vaicenavicius et al. 2019, §4.3, for the tests.

    Examples
    --------
    >>> from trueup.simulate import Beta, Power, World
    >>> world = World(Beta(2.0, 1.0), Power(1.5))
    >>> result = power(world, true_error=0.1, n=300, n_datasets=200)
    >>> 0.5 < result.power < 1, result.standard_error < 0.1
    (True, True)
    """
    check_whole("n", n, 1)
    settled = _settle(probs, labels, true_error, statistic, alpha, n_datasets, rng, logits)
    return settled.at(int(n), n_datasets)


@hinted
@with_progress("sample size")
def sample_size(
    probs: object,
    labels: object = None,
    *,
    true_error: float,
    power: float = 0.8,
    statistic: Metric | None = None,
    alpha: float = 0.05,
    n_datasets: int = 1000,
    rng: Seed = 0,
    logits: bool = False,
    progress: Progress = None,
) -> SampleSize:
    """Compute the number of rows needed to detect a given true error.

    Use it to plan a study. It doubles n from 50 to at most 1,000,000 until the test reaches the
    power. Then it fits the probit of the power as a linear function of log n, from datasets of
    about the right size. See `power` for the test and the simulated model.

    Parameters
    ----------
    probs : array_like, Forecasts or World
        Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data, or a
        simulated model (`World`).
    labels : array_like, optional
        Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
    true_error : float
        True calibration error to detect, in the norm of the statistic; L2 (RMS) if it has none.
    power : float, default 0.8
        Probability of detecting the error.
    statistic : Estimator or named metric, optional
        Statistic of a consistency test (default: the omnibus test).
    alpha : float, default 0.05
        Significance level of the test.
    n_datasets : int, default 1000
        Number of simulated datasets.
    rng : int, Generator or None, default 0
        Random seed; the same seed gives the same result.
    logits : bool, default False
        Whether `probs` holds logits instead of probabilities.
    progress : bool or callable, optional
        Whether to show progress: True, False, or a function that gets each report. The default is
        the setting of `show_progress`.

    Returns
    -------
    SampleSize
        The number of rows with its Monte Carlo interval.

    Examples
    --------
    >>> from trueup.simulate import Beta, Power, World
    >>> result = sample_size(World(Beta(2.0, 1.0), Power(1.5)), true_error=0.1, n_datasets=200)
    >>> 100 < result.low < result.n < result.high < 400
    True
    """
    power = check_inside("power", power)
    settled = _settle(probs, labels, true_error, statistic, alpha, n_datasets, rng, logits)
    few = max(100, n_datasets // 5)
    with stages(sum(SHARES), 1):
        return _sample_size(settled, power, few, n_datasets)


def _sample_size(settled: _Settled, power: float, few: int, n_datasets: int) -> SampleSize:
    search, *rounds = SHARES
    with stage("search", search):
        tried = [settled.at(FEWEST_ROWS, few)]
        while tried[-1].power < power:
            if 2 * tried[-1].n > MOST_ROWS:
                rule = f"is too small: even {MOST_ROWS:,} rows do not reach power {power:g}"
                raise InputError("true_error", rule, settled.true_error)
            tried.append(settled.at(2 * tried[-1].n, few))
    if len(tried) == 1:
        return settled.answer(FEWEST_ROWS, 0.0, power, tried)
    guess, _ = _solve(tried[-2:], power)
    for share in rounds:
        sizes = [max(1, round(guess * by)) for by in (0.8, 1.0, 1.25)]
        with stage("refinement", share), stages(sum(sizes), 1):
            near = [settled.at(n, n_datasets, weight=n) for n in sizes]
        tried += near
        n, error = _solve(near, power)
        if 0.7 < n / guess < 1.4:
            break
        guess = n
    return settled.answer(n, error, power, tried)


@dataclass(frozen=True, eq=False)
class _Settled:
    """All settings except n: the world with the error, the statistic (None: the omnibus test), …"""

    world: World
    statistic: Estimator | None
    true_error: float
    norm: float
    alpha: float
    seed: int

    def at(self, n: int, n_datasets: int, weight: float = 1.0) -> Detection:
        """Draw datasets with the error, and count how often the test detects it."""
        with stage(f"datasets of {n:,} rows", weight):
            return self._at(n, n_datasets)

    def _at(self, n: int, n_datasets: int) -> Detection:
        groups = min(n_datasets, max(FEWEST_GROUPS, -(-n_datasets // SAME_SCORES)))
        sizes = [n_datasets // groups + (g < n_datasets % groups) for g in range(groups)]
        world, level = world_identity(self.world), self.alpha

        def rejected(first: int, last: int) -> list[float]:
            return [
                float(np.mean(self._pvalues(n, sizes[g], stream(self.seed, world, n, g)) <= level))
                for g in range(first, last)
            ]

        parts = run(rejected, [(g, g + 1) for g in range(groups)], tell=True)
        of_group = np.array([share for part in parts for share in part])
        share, error = _mean_share(of_group, np.array(sizes))
        text = (
            f"With {n:,} rows, {self._test} at the {100 * self.alpha:g}% level detects a true "
            f"error of {self.true_error:g} with probability {share:.3f} (± {error:.3f})."
        )
        return Detection(share, error, n, *self._settings, n_datasets, text)

    def _pvalues(self, n: int, n_datasets: int, chance: np.random.Generator) -> Floats:
        """Return p-values of datasets that share their scores and the draws of the test."""
        score, complement = self.world.scores.sample((n,), chance)
        rate = self.world.curve(score, complement)
        labels = [(chance.random(n) < rate).view(np.uint8) for _ in range(n_datasets)]
        from_sums = self.statistic is None or self.statistic.of_label_sums
        n_resamples = N_RESAMPLES if from_sums else FEWER_RESAMPLES
        return shared_pvalues(
            self.statistic, score, labels, int(chance.integers(1 << 63)), n_resamples
        )

    def answer(self, n: float, error: float, power: float, tried: list[Detection]) -> SampleSize:
        """Build the result; ``error`` is that of log n, infinite if noise hides the answer."""
        spread = math.exp(min(1.96 * error, math.log(MOST_ROWS)))
        least, rows, most = (math.ceil(rows) for rows in (n / spread, n, n * spread))
        most = max(rows, min(most, MOST_ROWS))
        text = (
            f"Detecting a true error of {self.true_error:g} with {100 * power:g}% power at the "
            f"{100 * self.alpha:g}% level takes about {rows:,} rows (95% interval {least:,} to "
            f"{most:,}) with {self._test}."
        )
        ordered = tuple(sorted(tried, key=lambda detection: detection.n))
        return SampleSize(rows, least, most, power, *self._settings, ordered, text)

    @property
    def _settings(self) -> tuple[float, float, float, str, str]:
        name = OMNIBUS if self.statistic is None else repr(self.statistic)
        return self.true_error, self.norm, self.alpha, name, repr(self.world)

    @property
    def _test(self) -> str:
        if self.statistic is None:
            return "the omnibus test"
        return f"the consistency test of {self.statistic!r}"


def _mean_share(of_group: Floats, sizes: Ints) -> tuple[float, float]:
    """Return the fraction over all datasets and its Monte Carlo error, from the groups' fractions.

    Datasets of a group share scores and draws, so only groups are independent.
    """
    n, groups = int(sizes.sum()), len(sizes)
    share = float(sizes @ of_group) / n
    # (1 + successes)/(2 + trials): a share of 0 or 1 is not without doubt.
    smoothed = (1 + share * n) / (2 + n)
    of_rows = smoothed * (1 - smoothed) / n
    between = float(np.sum((sizes / n * (of_group - share)) ** 2)) * groups / max(groups - 1, 1)
    return share, math.sqrt(max(of_rows, between))


def _solve(tried: list[Detection], power: float) -> tuple[float, float]:
    """Return the n with the requested power, from a line through the probits in log n.

    The standard error of log n is returned too.
    """
    from scipy.special import ndtri

    inside = [np.clip(d.power, 0.5 / d.n_datasets, 1 - 0.5 / d.n_datasets) for d in tried]
    probit = ndtri(inside)
    density = np.exp(-0.5 * probit**2) / math.sqrt(2 * math.pi)
    weight = density / np.array([d.standard_error for d in tried])
    middle = math.log(tried[len(tried) // 2].n)
    x = np.log([d.n for d in tried]) - middle
    design = np.column_stack([np.ones(len(x)), x]) * weight[:, None]
    covariance = np.linalg.inv(design.T @ design)
    start, slope = covariance @ (design.T @ (probit * weight))
    if not slope > 0:  # noise alone: stay where we are
        return math.exp(middle), math.inf
    at = (float(ndtri(power)) - start) / slope
    gradient = np.array([1.0, at])
    error = math.sqrt(float(gradient @ covariance @ gradient)) / slope
    return math.exp(middle + float(np.clip(at, -2, 2))), error


def _settle(
    probs: object,
    labels: object,
    true_error: float,
    statistic: object,
    alpha: float,
    n_datasets: int,
    rng: Seed,
    logits: bool,
) -> _Settled:
    true_error, alpha = check_inside("true_error", true_error), check_inside("alpha", alpha)
    check_whole("n_datasets", n_datasets, 20)
    check_seed(rng)
    chosen = None if statistic is None else estimator_of("statistic", statistic)
    lens = None if chosen is None else chosen.own_lens
    if lens is not None and lens.everywhere != Binary():
        rule = "have no lens: the world has one score and one outcome per row"
        raise must_be("statistic", rule, chosen)
    norm = 2 if chosen is None or chosen.own_norm is None else chosen.own_norm
    seed = rng if isinstance(rng, int | np.integer) else generator_of(rng).integers(1 << 31)
    world = with_error(world_like(probs, labels, logits), true_error, norm)
    return _Settled(world, chosen, true_error, float(norm), alpha, int(seed))


@dataclass(frozen=True, repr=False)
class Between(Curve):
    """A curve with ``times`` the miscalibration of another, clipped at 0 and 1."""

    curve: Curve = Identity()
    times: float = 1.0

    def __call__(self, score: Floats, complement: Floats) -> Floats:
        """Return P(Y = 1) at each score."""
        return np.clip(score + self.times * (self.curve(score, complement) - score), 0, 1)

    def alternatives(self) -> tuple[Curve, ...]:
        """Return the equally likely curves of which this one is a mixture."""
        return tuple(Between(curve, self.times) for curve in self.curve.alternatives())

    def jumps(self) -> Sequence[float]:
        """Return the scores at which the curve jumps."""
        return self.curve.jumps()


def world_like(probs: object, labels: object, logits: bool = False) -> World:
    """Return a world unchanged, or fit one to the data."""
    if isinstance(probs, World):
        return World(probs.scores, probs.curve)
    forecasts = Forecasts.from_arrays(probs, labels, logits=logits)
    fitted = fit(forecasts)
    if fitted.scores_quality.grade != "poorly":
        return fitted.world
    lens = chosen_lens(None, forecasts)
    pairs = lens.pairs(forecasts)
    value, index = np.unique(pairs.p.astype(np.float64), return_inverse=True)
    share = np.bincount(index, pairs.w)
    return World(Empirical(value.tolist(), share.tolist()), fitted.world.curve)


def with_error(world: World, true_error: float, norm: float) -> World:
    """Return the world with its miscalibration scaled to this error."""
    own = world.true_error(norm)
    curve = world.curve if own >= CALIBRATED * true_error else OVERCONFIDENT

    def drawn(times: float) -> World:
        return World(world.scores, Between(curve, times))

    first = drawn(1.0).true_error(norm)
    times = true_error / first
    if times <= 1:  # cut nowhere, so that the error is proportional
        return drawn(times)
    low, high = 1.0, times
    while (reached := drawn(high).true_error(norm)) < true_error * (1 - 1e-9):
        if high > 1e4 * times:
            rule = f"at most {reached:.3g}, the largest error of this kind of miscalibration"
            raise must_be("true_error", rule, true_error)
        low, high = high, 2 * high
    while high / low > 1 + 1e-7 and reached > true_error * (1 + 1e-9):
        middle = math.sqrt(low * high)
        error = drawn(middle).true_error(norm)
        low, high = (middle, high) if error < true_error else (low, middle)
        reached = reached if error < true_error else error
    return drawn(high)
