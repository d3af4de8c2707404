"""One door for intervals: which method fits an estimator, and which truth the interval covers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from trueup.errors import must_be
from trueup.estimators import BinnedError, SweepError
from trueup.estimators.base import chosen_lens
from trueup.estimators.decomposition import ProperScore
from trueup.forecasts import Forecasts
from trueup.inference.binned_intervals import Bins, Ends, binned_ends
from trueup.inference.bootstrap import METHODS, Bootstrap
from trueup.inference.cell_intervals import cell_ends
from trueup.inference.compositions import composition_of
from trueup.inference.mean_intervals import mean_ends
from trueup.inference.seeds import Seed, seed_of
from trueup.lens import SimplexLens
from trueup.results import Estimate, Interval
from trueup.specification import check_whole, is_number
from trueup.tables import BinTable, CellTable, TableFamily

__all__ = ["interval"]

TARGETS = ("conditional", "population")
LOWER_BOUND = "a lower bound of the true calibration error"


def interval(
    estimator: Any,
    probs: object,
    labels: object = None,
    *,
    confidence_level: float = 0.95,
    method: str = "auto",
    target: str = "conditional",
    n_resamples: int = 999,
    weights: object = None,
    rng: Seed = None,
) -> Interval:
    r"""Return an estimate with the range that holds the truth, and say which truth.

    Parameters
    ----------
    estimator
        An estimator such as ``BinnedError(norm=2)``, a named metric such as ``ece``, a
        `functools.partial` of one, or any function of a `Forecasts` that returns a number.
    probs, labels, weights
        As for every metric; a `Forecasts` in place of all three. Its ``clusters`` are drawn
        whole by the bootstrap, and counted as one by the interval of a proper score.
    confidence_level
        How often the interval should hold its target.
    method
        ``"analytic"``: from the bins, for `BinnedError` and `SweepError`, and the normal interval
        of a mean for `Brier` and `LogLoss`; no chance is involved. ``"percentile"``, ``"basic"``
        or ``"bca"``: bootstrap. ``"auto"``: analytic where there is one, else, for an error,
        ``"widest"``: above the percentile or the basic end, below the basic end or the estimate
        less what calibrated labels would show; for any other function ``"percentile"``.
    target
        Of an analytic interval over bins. ``"conditional"``: the error of these scores in these
        bins, labels being random. ``"population"``: that of new rows in these bins, scores being
        random too. Every other interval speaks of the population.
    n_resamples
        Resamples of a bootstrap.
    rng
        A seed, a Generator or None, for a bootstrap.

    Notes
    -----
    Bins hide errors that cancel within them, so what is covered is never more than the true
    calibration error: the lower end is a bound of that too, the upper end is none. Plug-in
    errors are biased upwards, and may lie above the interval of what they estimate; ``notes``
    say so. docs/coverage.md has the coverage of the analytic intervals of five named errors.

    Bins of equal mass, of a tree or of a sweep are taken as given. Before an interval of norm 2,
    or of a debiased error, bins of one row are merged with the nearest one. With class-wise
    lenses the variance is at most doubled by the dependence of classes, and is doubled here. The
    bootstrap of a binned error draws its bins anew.

    Plug-in errors are biased upwards, most where there is none, and resampling adds the bias once
    more: of a calibrated model ``"percentile"`` and ``"bca"`` as good as never hold the truth 0,
    and ``"basic"`` too seldom. They are here to be compared with.

    References
    ----------
    Kumar, Liang & Ma 2019, "Verified uncertainty calibration"; Wilson 1927; Efron 1987, "Better
    bootstrap confidence intervals".

    Examples
    --------
    >>> from trueup import rmsce_debiased
    >>> found = interval(rmsce_debiased, [0.2] * 50 + [0.8] * 50, [0] * 50 + [1] * 25 + [0] * 25)
    >>> round(found.low, 3), round(found.estimate, 3), round(found.high, 3)
    (0.144, 0.25, 0.346)
    >>> print(found.target.split(";")[0])
    the binned error (Σ s_b |f_b − E[y_b]|²)^(1/2) of these scores and these bins
    """
    _check(confidence_level, method, target, n_resamples)
    known = composition_of(estimator)
    if known is None and (not callable(estimator) or isinstance(estimator, type)):
        raise must_be("estimator", "an estimator, such as BinnedError(), or a metric", estimator)
    forecasts = Forecasts.of(probs, labels, weights=weights)
    reason = _why_not_analytic(known, forecasts, target)
    if method == "analytic" and reason:
        raise must_be("method", f'"auto" or a bootstrap {reason}', method)
    level = float(confidence_level)
    if method in METHODS or reason:
        default = "percentile" if known is None else "widest"
        chosen = method if method in METHODS else default
        return _by_bootstrap(known or estimator, forecasts, level, chosen, n_resamples, rng)
    assert known is not None
    found = known.measure_forecasts(forecasts)
    if isinstance(known, ProperScore):
        ends = mean_ends(known, forecasts, level)
        return Interval(
            *ends, found.value, level, "analytic", f"the expected {known!r} of new rows"
        )
    assert isinstance(known, BinnedError | SweepError)
    return _from_table(known, forecasts, found, level, target)


def _check(confidence_level: Any, method: Any, target: Any, n_resamples: Any) -> None:
    if not is_number(confidence_level) or not 0 < confidence_level < 1:
        raise must_be("confidence_level", "a number between 0 and 1", confidence_level)
    if method not in ("auto", "analytic", *METHODS):
        raise must_be("method", '"auto", "analytic", "percentile", "basic" or "bca"', method)
    if target not in TARGETS:
        raise must_be("target", '"conditional" or "population"', target)
    least = math.ceil(2 / (1 - confidence_level) - 1e-9) - 1
    check_whole("n_resamples", n_resamples, max(1, least))


def _why_not_analytic(estimator: Any, forecasts: Forecasts, target: str) -> str:
    """Say for what a bootstrap is needed, or nothing."""
    if isinstance(estimator, ProperScore):
        return ""
    if not isinstance(estimator, BinnedError | SweepError):
        return "for an estimator without bins"
    if forecasts.clusters is not None:
        return "for rows in clusters, which depend on each other"
    population = target == "population"
    if population and estimator.norm not in (1, 2):
        return "for the population in norms other than 1 and 2"
    lens = chosen_lens(estimator.lens, forecasts)
    if population and not lens.independent:
        return f"for the population of {lens!r}, whose pairs depend on each other"
    if isinstance(estimator, SweepError):
        return ""
    if estimator.label_binned or estimator.equal_shares:
        return "for label_binned and equal_shares"
    if not isinstance(lens, SimplexLens):
        return ""
    if population or forecasts.weights is not None:
        return "for the population of a lens on a simplex, and for weights there"
    if callable(estimator.distance) or (estimator.distance == "squared" and estimator.norm != 1):
        return 'for distances other than "tv", and "squared" in norm 1'
    return ""


def _from_table(
    estimator: BinnedError | SweepError,
    forecasts: Forecasts,
    found: Estimate,
    level: float,
    target: str,
) -> Interval:
    table, norm, notes = found.table, estimator.norm, dict(found.notes)
    if isinstance(table, CellTable):
        assert isinstance(estimator, BinnedError)
        ends = cell_ends(table, str(estimator.distance), norm, level)
        words = _words(norm, target, "" if estimator.distance == "tv" else "‖·‖²")
    else:
        independent = chosen_lens(estimator.lens, forecasts).independent
        debias = getattr(estimator, "debias", False)
        if independent and target == "conditional" and (norm == 2 or debias):
            table, merged = _without_singles(table)
            notes |= {"merged": merged} if merged else {}
        words = _words(norm, target)
        if notes.get("merged"):
            words = words.replace("these bins", "these bins, those of one row merged")
        ends = _table_ends(table, independent, norm, level, target)
    if isinstance(estimator, SweepError):
        words = words.replace("these bins", "the bins chosen, taken as given")
    if not ends.low <= found.value <= ends.high:
        side = "above" if found.value > ends.high else "below"
        notes["outside"] = f"the estimate, which is biased, lies {side} the interval"
    return Interval(*ends, found.value, level, "analytic", words, notes)


def _table_ends(
    table: BinTable | TableFamily, independent: bool, norm: float, level: float, target: str
) -> Ends:
    if isinstance(table, TableFamily) and not any(table.tables):
        return Ends(0.0, 0.0)  # no class has a row in the region, and each adds 0
    population = target == "population"
    return binned_ends(Bins.of(table, independent=independent, population=population), norm, level)


def _without_singles(table: Any) -> tuple[Any, int]:
    if isinstance(table, BinTable):
        return table.without_singles()
    parts = [(None, 0) if part is None else part.without_singles() for part in table.tables]
    tables = tuple(part for part, _ in parts)
    return TableFamily(table.names, table.shares, tables, table.by_weight), sum(m for _, m in parts)


def _words(norm: float, target: str, distance: str = "") -> str:
    gap = "‖f_b − E[y_b]‖²" if distance else "|f_b − E[y_b]|"
    if math.isinf(norm):
        formula = f"max_b {gap}"
    elif norm == 1:
        formula = f"Σ s_b {gap}"
    else:
        power = "²" if norm == 2 else f"^{norm:g}"
        formula = f"(Σ s_b {gap}{power})^(1/{norm:g})"
    if target == "population":
        return f"the binned error {formula} of new rows in these bins; {LOWER_BOUND}"
    return f"the binned error {formula} of these scores and these bins; {LOWER_BOUND}"


def _by_bootstrap(
    statistic: Callable[[Forecasts], Any],
    forecasts: Forecasts,
    level: float,
    method: str,
    n_resamples: int,
    rng: Seed,
) -> Interval:
    drawn = Bootstrap.of(lambda f: float(statistic(f)), forecasts, int(n_resamples), seed_of(rng))
    notes: dict[str, Any] = {"resamples": int(n_resamples)}
    if forecasts.clusters is not None:
        notes["clusters"] = drawn.units.count
    name = repr(statistic) if not hasattr(statistic, "__name__") else statistic.__name__
    words = f"the value of {name} on ever more rows like these"
    ends = drawn.ends(method, level)
    return Interval(*ends, drawn.estimate, level, method, words, notes)
