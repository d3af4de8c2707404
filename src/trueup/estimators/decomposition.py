"""Decomposition of proper scores: miscalibration, discrimination, uncertainty."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.bins import Binning, check_binning
from trueup.engines.blocks import cut
from trueup.engines.threads import run
from trueup.errors import must_be
from trueup.estimators.base import Estimator
from trueup.estimators.bin_free.isotonic_fit import IsotonicFit
from trueup.estimators.ties import TiedScores
from trueup.forecasts import Forecasts
from trueup.lens import Binary, Canonical, ClassWise, Lens, Member, Pairs, check_lens
from trueup.results import Decomposition, Estimate
from trueup.tables import BinTable, BinTables, Curve

TERMS = ("score", "miscalibration", "discrimination", "uncertainty", "within")
CHUNK_ROWS = 1 << 14  # a few arrays of this many rows stay in the second-level cache


class Inside(NamedTuple):
    """Variation within bins, in addition to their mean score and mean label."""

    rest: Floats  # mean of 1 − p in each bin
    variance: float  # mean squared distance of scores from the mean score of their bin
    covariance: float  # twice the mean product of that distance and that of the labels


@dataclass(frozen=True)
class ScoreSums:
    """Sums of a mean score: losses, weights and counts for the notes. They add with ``+``."""

    total: float
    weight: float
    counts: dict[str, int] = field(default_factory=dict)

    def __add__(self, other: ScoreSums) -> ScoreSums:
        """Add the sums of other rows."""
        counts = {name: count + other.counts[name] for name, count in self.counts.items()}
        return ScoreSums(self.total + other.total, self.weight + other.weight, counts)


@dataclass(frozen=True, repr=False)
class ProperScore(Estimator):
    """Base class of scores that the true probabilities minimize; defines `decompose`.

    In the methods, ``rest`` is 1 − score, which cannot be computed from a rounded score near 1, and
    ``tiny`` is the smallest probability that is not clipped.
    """

    analytic: ClassVar[str] = "mean"
    additive: ClassVar[bool] = True

    def measure_forecasts(self, forecasts: Forecasts) -> Estimate:
        """Compute the estimate for validated data."""
        return self.from_table(self.statistics(forecasts))

    def default_lens(self, forecasts: Forecasts) -> Lens:
        """Return `Canonical` for a matrix, because whole rows are scored, else `Binary`."""
        return Canonical() if forecasts.is_matrix else Binary()

    def no_analytic_reason(self, forecasts: Forecasts, target: str) -> str:
        """Return an empty string: the score is a mean, so no bootstrap is needed."""
        return ""

    def possible_losses(self, forecasts: Forecasts, rows: Floats, where: slice) -> Floats:
        """Compute the loss of each row for each possible label, (n, K).

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.
        rows : ndarray
            Predicted probabilities of the rows.
        where : slice
            Rows to use.

        Returns
        -------
        ndarray
            Losses, shape (n, K).
        """
        raise NotImplementedError

    def row_losses(self, forecasts: Forecasts, possible: Floats, where: slice) -> Floats:
        """Compute the loss of each row with its label; for soft labels, a mean over classes.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.
        possible : ndarray
            Output of `possible_losses`.
        where : slice
            Rows to use.

        Returns
        -------
        ndarray
            Losses, shape (n,).
        """
        return np.asarray(np.einsum("ij,ij->i", forecasts.one_hot(where), possible))

    def from_table(self, statistics: ScoreSums) -> Estimate:
        """Compute the mean from added sums."""
        value = statistics.total / statistics.weight
        return Estimate(value, value, notes=dict(statistics.counts))

    def losses(
        self, score: Floats, label: NDArray[Any], tiny: float
    ) -> tuple[Floats, dict[str, int]]:
        """Compute the loss of each score; labels are 0 and 1, or float64.

        Parameters
        ----------
        score : ndarray
            Predicted probabilities.
        label : ndarray
            Labels.
        tiny : float
            Smallest probability; smaller ones are clipped.

        Returns
        -------
        losses : ndarray
            One loss per score.
        notes : dict of str to int
            Notes of the estimate, such as how many rows were clipped.
        """
        raise NotImplementedError

    def divergence(self, rate: Floats, score: Floats, rest: Floats, tiny: float) -> Floats:
        """Compute how much the mean loss of a score exceeds the mean loss of the true rate.

        Parameters
        ----------
        rate : ndarray
            True rates.
        score : ndarray
            Predicted probabilities.
        rest : ndarray
            1 − score.
        tiny : float
            Smallest probability; smaller ones are clipped.

        Returns
        -------
        ndarray
            The divergences.
        """
        raise NotImplementedError

    def uncertainty(self, base_rate: float, pairs: Pairs) -> float:
        """Compute the mean loss if the base rate is predicted for every row.

        Parameters
        ----------
        base_rate : float
            Mean label.
        pairs : Pairs
            Scores, outcomes and weights of the rows.

        Returns
        -------
        float
            The uncertainty.
        """
        raise NotImplementedError

    def within(self, inside: Inside, remainder: float) -> tuple[float, dict[str, float]]:
        """Compute the part of the score that bins hide, and its terms by name.

        Parameters
        ----------
        inside : Inside
            Variances and covariances inside the bins.
        remainder : float
            Score minus the three terms of the bins.

        Returns
        -------
        part : float
            The part.
        terms : dict of str to float
            Its terms by name.
        """
        return remainder, {}

    def decompose(
        self,
        probs: object,
        labels: object = None,
        *,
        lens: Lens | None = None,
        binning: Binning | None = None,
        weights: object = None,
        logits: bool = False,
    ) -> Decomposition:
        r"""Decompose the score: miscalibration − discrimination + uncertainty.

        With S the mean score, q the isotonic fit of the labels to the predictions p, and r the base
        rate, the terms are the following. Miscalibration is S(p) − S(q): what recalibration could
        gain. Discrimination is S(r) − S(q): what the predictions add to the base rate. Uncertainty
        is S(r): how hard the labels are to predict. None of the three is negative (CORP).

        With a binning, the terms are those of Murphy: reliability :math:`\sum_b s_b\,d(y_b, f_b)`,
        resolution :math:`\sum_b s_b\,d(y_b, r)` and uncertainty. They use the fraction of rows,
        mean score and mean label of each bin, and the divergence d of the score, which is the
        squared difference for `Brier`. These terms ignore that scores differ inside a bin. The term
        ``within`` makes the sum exact: for `Brier` it is the variance of scores inside bins minus
        twice their covariance with the labels, and for `LogLoss` it is a single term.

        Parameters
        ----------
        probs : array_like or Forecasts
            Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data.
        labels : array_like, optional
            Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
        lens : Lens, optional
            The part of a prediction to measure. The default is `Binary` for 1-D
            probabilities and two columns, and `ClassWise` for more. With `ClassWise` and
            `TopLabelByClass` every class is decomposed separately and kept in ``parts``; the terms
            are averaged with the class fractions. For K > 2 classes the Brier score is K times the
            class-wise average; log loss is not such a sum.
        binning : Binning, optional
            Bins of the score, such as ``EqualMass(10)`` (default: the isotonic fit).
        weights : array_like, optional
            Weight of each row (default: all rows count the same).
        logits : bool, default False
            Whether `probs` holds logits. `LogLoss` uses logits without clipping with the lens
            `Binary` only; other lenses compute 1 − p from the rounded p.

        Returns
        -------
        Decomposition
            The terms, which print as a sum.

        Notes
        -----
        Use the isotonic fit unless you need to compare with binned numbers: bins must be chosen,
        and the terms depend on the choice. Both fits are evaluated on the labels that they were
        fitted to. With few rows, miscalibration and discrimination are therefore too large by about
        the same amount. Cost: one sort for the isotonic fit, two passes over the data for bins.

        References
        ----------
        Murphy 1973, "A new vector partition of the probability score"; Stephenson, Coelho &
        Jolliffe 2008, "Two extra components in the Brier score decomposition"; Dimitriadis,
        Gneiting & Jordan 2021, "Stable reliability diagrams for probabilistic classifiers".

        Examples
        --------
        >>> import trueup as tu
        >>> tu.Brier().decompose([0.1, 0.4, 0.6, 0.8], [0, 1, 0, 1])
        0.1925 = 0.0675 miscalibration − 0.1250 discrimination + 0.2500 uncertainty
        """
        check_lens(lens)
        if binning is not None:
            rule = "a binning of scores, such as EqualMass(10), or None for the isotonic fit"
            check_binning(binning, rule)
        forecasts = Forecasts.from_arrays(probs, labels, weights=weights, logits=logits)
        if lens is None:
            many = forecasts.is_matrix and forecasts.n_classes > 2
            lens = ClassWise() if many else Binary()
        if lens.induces == "pairs":
            pairs, tiny = lens.problem(forecasts), forecasts.tiny
            known = forecasts.is_matrix or forecasts.log_probs_exact
            if known and lens == Binary():
                # both columns, or logits: the forecasts know 1 − p better than the pairs do
                return self._apart(pairs, lambda: self.measure_forecasts(forecasts), binning, tiny)
            return self._apart(pairs, lambda: self._mean_loss(pairs, tiny), binning, tiny)
        if lens.induces == "simplex":
            raise must_be("lens", "yield scores, not points on the simplex", lens)
        return self._over_family(forecasts, lens, binning)

    def _over_family(
        self, forecasts: Forecasts, lens: Any, binning: Binning | None
    ) -> Decomposition:
        def one(member: Member) -> tuple[Any, float, Decomposition]:
            pairs, tiny = member.pairs, forecasts.tiny
            if len(pairs) == 0:  # nothing in the region: the class adds 0
                return member.name, member.share, Decomposition(0.0, 0.0, 0.0, 0.0, 0.0)
            part = self._apart(pairs, lambda: self._mean_loss(pairs, tiny), binning, tiny)
            return member.name, member.share, part

        parts = tuple(lens.map_members(forecasts, one))
        names, shares, each = zip(*parts, strict=True)
        tables = tuple(part.table for part in each)
        if binning is None:
            return _average(parts, Curve.stacked(names, tables))
        return _average(parts, BinTables(names, shares, tables, lens.divides_rows))

    def _mean_loss(self, pairs: Pairs, tiny: float) -> Estimate:
        def some(start: int, stop: int) -> ScoreSums:
            p, y, w = _rows(pairs, start, stop)
            loss, counts = self.losses(p, y, tiny)
            if w is None:
                return ScoreSums(float(np.sum(loss)), stop - start, counts)
            return ScoreSums(float(np.sum(w * loss)), float(np.sum(w)), counts)

        return self.from_table(reduce(add, run(some, cut(len(pairs), CHUNK_ROWS))))

    def _apart(
        self,
        pairs: Pairs,
        score: Callable[[], Estimate],
        binning: Binning | None,
        tiny: float,
    ) -> Decomposition:
        if binning is None:
            return self._by_fit(pairs, score, tiny)
        return self._by_bins(pairs, score(), binning, tiny)

    def _by_fit(self, pairs: Pairs, score: Callable[[], Estimate], tiny: float) -> Decomposition:
        groups = TiedScores.of(pairs)
        # The fit keeps one thread busy; the score is found by another meanwhile.
        tasks: list[Callable[[], Any]] = [lambda: IsotonicFit.of_groups(groups), score]
        fit, found = run(lambda i, _: tasks[i](), [(0, 1), (1, 2)])
        base = _mean_label(pairs, fit.base_rate)
        gain = self._spread(fit.weight, fit.mean_label, base, tiny)
        uncertainty = self.uncertainty(base, pairs)
        score_of_fit = uncertainty - gain
        lost = max(0.0, found.value - score_of_fit)
        # Adding 0.0 turns -0.0, as a sum of logarithms of 1 may be, into 0.0.
        return Decomposition(
            found.value, lost, gain, uncertainty + 0.0, 0.0, fit.curve(), notes=found.notes
        )

    def _by_bins(
        self, pairs: Pairs, found: Estimate, binning: Binning, tiny: float
    ) -> Decomposition:
        table = binning.bin_table(pairs)
        inside, filled = _inside(pairs, table), table.count > 0
        weight, rate = table.weight[filled], table.mean_label[filled]
        base = _mean_label(pairs, float(np.sum(table.sums.label) / np.sum(table.weight)))
        apart = self.divergence(rate, table.mean_score[filled], inside.rest[filled], tiny)
        reliability = max(0.0, float(np.sum(weight * apart) / np.sum(weight)))
        resolution = self._spread(weight, rate, base, tiny)
        uncertainty = self.uncertainty(base, pairs)
        remainder = math.fsum([found.value, -reliability, resolution, -uncertainty])
        within, terms = self.within(inside, remainder)
        notes = {"n_bins_requested": table.n_bins_requested, "n_bins": table.n_bins}
        notes |= terms | found.notes
        return Decomposition(
            found.value, reliability, resolution, uncertainty + 0.0, within, table, notes=notes
        )

    def _spread(self, weight: Floats, rate: Floats, base: float, tiny: float) -> float:
        """Return the mean divergence of the base rate from the rates of blocks or bins."""
        same = np.full(len(rate), base)
        apart = self.divergence(rate, same, 1 - same, tiny)
        return max(0.0, float(np.sum(weight * apart) / np.sum(weight)))


def _rows(pairs: Pairs, start: int, stop: int) -> tuple[Floats, NDArray[Any], Floats | None]:
    """Return some of the pairs, with scores in float64."""
    p = pairs.p[start:stop].astype(np.float64, copy=False)
    return p, pairs.y[start:stop], None if pairs.w is None else pairs.w[start:stop]


def _mean_label(pairs: Pairs, mean: float) -> float:
    """Clip the mean of soft labels to their range, so that constant labels have no variance."""
    return float(np.clip(mean, pairs.y.min(), pairs.y.max())) if pairs.soft else mean


def _inside(pairs: Pairs, table: BinTable) -> Inside:
    """Compute variances inside bins, centered at the means to avoid subtracting large numbers."""
    inner = table.edges[1:-1]
    filled = table.count > 0
    mean_score = np.where(filled, table.mean_score, 0)
    mean_label = np.where(filled, table.mean_label, 0)

    def some(start: int, stop: int) -> tuple[Floats, float, float]:
        p, y, w = _rows(pairs, start, stop)
        index = np.searchsorted(inner, p, side="left")
        rest, away = 1 - p, p - mean_score[index]
        weighted = away if w is None else w * away
        rest_of_bin = np.bincount(index, rest if w is None else w * rest, table.n_bins)
        covariance = float(np.sum(weighted * (y - mean_label[index])))
        return rest_of_bin.astype(np.float64), float(np.sum(weighted * away)), covariance

    rests, variances, covariances = zip(*run(some, cut(len(pairs), CHUNK_ROWS)), strict=True)
    total = float(np.sum(table.weight))
    rest = np.sum(rests, axis=0) / np.where(filled, table.weight, 1)
    return Inside(rest, math.fsum(variances) / total, 2 * math.fsum(covariances) / total)


def _average(
    parts: tuple[tuple[Any, float, Decomposition], ...], table: Curve | BinTables | None
) -> Decomposition:
    """Average the terms of all classes with their fractions, and count the clipped rows."""
    terms = {
        term: math.fsum(share * getattr(part, term) for _, share, part in parts) for term in TERMS
    }
    notes: dict[str, Any] = {}
    for _, share, part in parts:
        for name, note in part.notes.items():
            if name == "clipped":
                notes[name] = notes.get(name, 0) + note
            elif name.startswith("within"):
                notes[name] = notes.get(name, 0.0) + share * note
    return Decomposition(**terms, table=table, parts=parts, notes=notes)
