"""All that sentences state of one model, recomputed from its arrays when it is asked for.

Read from the evaluation is only what other tests compare with oracles of their own. These are raw
p-values of tests by resampling, ends of intervals of binned errors (compared with `tu.interval`),
the detectable error, and what recalibrators reach out of fold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

import trueup as tu
from oracles.verdict.formulas import (
    Array,
    Bins,
    debiased_square,
    equal_mass_bins,
    holm,
    rms,
    simultaneous_band,
)
from oracles.verdict.logistic import Recalibrated, cox

N_BINS = 15


class Part(NamedTuple):
    """A class or a group: its name, rows of scores and outcomes, and its p-values."""

    name: Any
    p: Array
    y: Array
    w: Array
    low: float
    high: float
    adjusted: float

    @property
    def error(self) -> float:
        """Debiased root mean squared error."""
        return rms(debiased_square(self.p, self.y, self.w, N_BINS))


class Half(NamedTuple):
    """Mean score, rate, and the direction of their gap where that is clear."""

    score: float
    rate: float
    sign: int


@dataclass(frozen=True, eq=False)
class Facts:
    """One model's arrays, its options, and its evaluation."""

    probs: Any
    labels: Any
    options: dict[str, Any]
    soft: bool
    evaluation: tu.Evaluation

    @cached_property
    def level(self) -> float:
        return float(self.options.get("confidence_level", 0.95))

    @cached_property
    def alpha(self) -> float:
        return 1 - self.level

    @cached_property
    def matrix(self) -> Array | None:
        """Probabilities of all classes, None for one column."""
        given = np.asarray(self.probs, np.float64)
        return given if given.ndim == 2 else None

    @cached_property
    def one_hot(self) -> Array:
        """Outcome of every class: 0 and 1, or soft labels."""
        assert self.matrix is not None
        if self.soft:
            return np.asarray(self.labels, np.float64)
        names = self.options.get("classes", list(range(self.matrix.shape[1])))
        return np.array([[float(label == name) for name in names] for label in self.labels])

    @cached_property
    def p(self) -> Array:
        """Scores, or confidences in the predicted class."""
        return (
            np.asarray(self.probs, np.float64) if self.matrix is None else self.matrix.max(axis=1)
        )

    @cached_property
    def y(self) -> Array:
        """Outcomes, or whether the predicted class occurred."""
        if self.matrix is None:
            return np.asarray(self.labels, np.float64)
        return self.one_hot[np.arange(self.n), self.matrix.argmax(axis=1)]

    @cached_property
    def n(self) -> int:
        return len(self.labels)

    @property
    def weighted(self) -> bool:
        return "weights" in self.options

    @cached_property
    def w(self) -> Array:
        return np.asarray(self.options.get("weights", np.ones(self.n)), np.float64)

    @cached_property
    def clusters(self) -> Array | None:
        return self.options.get("clusters")

    @cached_property
    def n_clusters(self) -> int | None:
        return None if self.clusters is None else len(set(self.clusters.tolist()))

    @property
    def rows(self) -> str:
        """Number of rows and clusters as a sentence names them."""
        found = f"{self.n:,} row" + "s" * (self.n != 1)
        many = self.n_clusters
        return found if many is None else f"{found} in {many:,} cluster" + "s" * (many != 1)

    # What the tests say.

    @cached_property
    def impossible(self) -> Array:
        """Rows whose outcome had probability 0."""
        if self.soft:
            return np.zeros(self.n, bool)
        if self.matrix is not None:
            return (self.matrix * self.one_hot).sum(axis=1) == 0
        return np.where(self.y == 1, self.p, 1 - self.p) == 0

    @cached_property
    def raw(self) -> dict[str, float]:
        """P-values of the other tests, which have oracles of their own."""
        found = {e.metric: e.test.pvalue for e in self.evaluation.estimates if e.test is not None}
        found |= {name: test.pvalue for name, test in self.evaluation.tests.items()}
        return {name: p for name, p in found.items() if not math.isnan(p)}

    @cached_property
    def adjusted(self) -> dict[str, float]:
        return dict(zip(self.raw, holm(list(self.raw.values())), strict=True))

    @property
    def rejecting(self) -> list[str]:
        return [name for name, p in self.adjusted.items() if p <= self.alpha]

    def bad(self, parts: list[Part]) -> list[Part]:
        """Return classes or groups that are rejected, the largest error first."""
        return sorted(
            (each for each in parts if each.adjusted <= self.alpha),
            key=lambda each: -round(each.error, 9),
        )

    @cached_property
    def omnibus(self) -> float | None:
        """The deciding p-value; `test_omnibus` compares it with an oracle and draws of its own."""
        return None if self.evaluation.test is None else self.evaluation.test.pvalue

    @cached_property
    def status(self) -> str:
        if self.impossible.any():
            return "miscalibrated"
        if self.soft or (self.n_clusters or 100) < 6:
            return "not tested"
        assert self.omnibus is not None
        if self.omnibus <= self.alpha:
            return "miscalibrated"
        some = self.rejecting or self.bad(self.classes) or self.bad(self.groups)
        return "tests disagree" if some else "no evidence"

    @cached_property
    def rest_pvalue(self) -> float | None:
        """The p-value of the rows whose outcome was possible, with draws as `evaluate` has them."""
        keep = ~self.impossible
        if not self.impossible.any() or not keep.any():
            return None
        beside = {
            k: np.asarray(self.options[k])[keep]
            for k in ("weights", "clusters")
            if k in self.options
        }
        data = tu.Forecasts.from_arrays(
            np.asarray(self.probs)[keep], np.asarray(self.labels)[keep], **beside
        )
        return tu.calibration_test(data, n_resamples=199, rng=0).pvalue

    @cached_property
    def rejected(self) -> bool:
        """Whether the omnibus test rejects, without outcomes of probability 0."""
        if self.status != "miscalibrated" or self.omnibus is None:
            return False
        return self.rest_pvalue is None or self.rest_pvalue <= self.alpha

    # The error, of all rows and of parts of them.

    @cached_property
    def error(self) -> float:
        return rms(debiased_square(self.p, self.y, self.w, N_BINS))

    @cached_property
    def ends(self) -> Any:
        """The interval of the error, compared with `tu.interval`, which is tested elsewhere."""
        return self._interval(tu.rmsce_debiased)

    @cached_property
    def class_wise(self) -> float:
        assert self.matrix is not None
        columns = range(self.matrix.shape[1])
        squares = [
            debiased_square(self.matrix[:, k], self.one_hot[:, k], self.w, N_BINS) for k in columns
        ]
        return rms(float(np.mean(squares)))

    @cached_property
    def class_wise_ends(self) -> Any:
        return self._interval(tu.marginal_error_debiased)

    def _interval(self, metric: Any) -> Any:
        beside = {
            k: self.options[k] for k in ("weights", "clusters", "classes") if k in self.options
        }
        data = tu.Forecasts.from_arrays(self.probs, self.labels, soft_labels=self.soft, **beside)
        return tu.interval(metric, data, confidence_level=self.level, n_resamples=199, rng=0)

    @cached_property
    def small(self) -> bool:
        """Whether the interval lies below 0.01 and a tenth of the rate of the rarer outcome."""
        means = (float(np.average(v, weights=self.w)) for v in (self.p, self.y))
        rarer = max(1 / self.n, *(min(mean, 1 - mean) for mean in means))
        found = self.ends.high < min(0.01, 0.1 * rarer)
        if self.matrix is not None:
            found &= self.class_wise_ends.high < min(0.01, 0.1 / self.matrix.shape[1])
        return bool(found) and not self.impossible.any()

    @cached_property
    def all_rows(self) -> Half:
        return self._half(np.ones(self.n, bool))

    @cached_property
    def halves(self) -> tuple[Half, Half]:
        """Rows up to the median score, which half of the weight does not exceed, and above it."""
        order = np.argsort(self.p, kind="stable")
        upto = np.cumsum(self.w[order])
        median = self.p[order][int(np.argmax(upto >= upto[-1] / 2))]
        low = self.p <= median
        return (self.all_rows, self.all_rows) if low.all() else (self._half(low), self._half(~low))

    def _half(self, rows: Array) -> Half:
        p, y, w = self.p[rows], self.y[rows], self.w[rows]
        se = math.sqrt((w * w) @ (p * (1 - p))) / w.sum()
        if self.n_clusters is not None:
            se *= math.sqrt(self.n / self.n_clusters)
        gap = w @ (y - p) / w.sum()
        clear = abs(gap) > round(norm.ppf(1 - 0.05 / 4), 2) * se  # 5% for two halves together
        return Half(w @ p / w.sum(), w @ y / w.sum(), int(np.sign(gap)) if clear else 0)

    @cached_property
    def cox(self) -> Recalibrated:
        """Of one column, or the second of two."""
        p, y = (self.p, self.y) if self.matrix is None else (self.matrix[:, 1], self.one_hot[:, 1])
        robust = self.weighted or self.soft or self.clusters is not None
        return cox(p, y, self.w, robust, self.clusters, self.level)

    # Where the error is.

    @cached_property
    def bins(self) -> Bins:
        return equal_mass_bins(self.p, self.y, self.w, N_BINS)

    @property
    def contributions(self) -> Array:
        """What each bin adds to the squared error."""
        return self.bins.share * (self.bins.label - self.bins.score) ** 2

    @cached_property
    def outside(self) -> int | None:
        """The bin outside its simultaneous band that contributes most."""
        if self.soft or self.clusters is not None or len(self.bins.rows) < 2:
            return None
        low, high = simultaneous_band(self.bins, self.alpha)
        out = (self.bins.label < low) | (self.bins.label > high)
        return int(np.argmax(np.where(out, self.contributions, -1))) if out.any() else None

    @cached_property
    def classes(self) -> list[Part]:
        """Classes with adjusted p-values, none where there are none."""
        table = self.evaluation.tables.get("classes")
        if self.matrix is None or table is None or np.isnan(table["pvalue"]).any():
            return []
        names = self.options.get("classes", list(range(self.matrix.shape[1])))
        adjusted = holm(table["pvalue"].tolist())
        return [
            Part(
                name,
                self.matrix[:, k],
                self.one_hot[:, k],
                self.w,
                table["low"][k],
                table["high"][k],
                adjusted[k],
            )
            for k, name in enumerate(names)
        ]

    @cached_property
    def rows_of_groups(self) -> dict[Any, Array]:
        """Rows by the name of their group."""
        groups = np.asarray(self.options.get("groups", []), object)
        return {
            name: np.flatnonzero([each == name for each in groups])
            for name in dict.fromkeys(groups)
        }

    @cached_property
    def groups(self) -> list[Part]:
        """Groups with adjusted p-values, in the order of the table."""
        if self.evaluation.groups is None:
            return []
        table = self.evaluation.groups.table
        adjusted = holm(table["pvalue"].tolist())
        found = []
        for k, name in enumerate(table["group"].tolist()):
            rows = self.rows_of_groups[name]
            ends = table["low"][k], table["high"][k]
            found.append(Part(name, self.p[rows], self.y[rows], self.w[rows], *ends, adjusted[k]))
        return found
