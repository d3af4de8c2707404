"""What an engine must answer, and which engine answers.

An engine is a module with the functions of `Engine`. ``reference`` is readable NumPy and the
oracle; ``native`` is compiled and proved equal to it. The choice changes speed, never a bin.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from trueup.engines.rooms import FRESH, Room
from trueup.errors import CapabilityError, must_be

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bits = NDArray[np.uint64]
Read = Callable[[int, int], NDArray[Any]]
"""``read(start, stop)``: those rows as a C-contiguous float32 or float64 matrix."""


class RowScan(NamedTuple):
    """One look at every row of a matrix of probabilities, as given (before renormalising)."""

    first_bad: int  # first row with an entry that is NaN or outside [0, 1]; -1 if none
    total: Floats  # sum of each row
    top: Floats  # largest entry of each row
    top_class: NDArray[np.int32]  # its column; the lowest wins a tie


@dataclass(frozen=True, eq=False, slots=True)
class Sums:
    """Sufficient statistics of every bin; the arrays are (B,), or (K, B) for K sets at once.

    Iterating gives the arrays in this order, which is that of `MOMENTS`.
    """

    count: Ints
    weight: Floats  # sum of w
    weight2: Floats  # sum of w^2
    score: Floats  # sum of w p
    score2: Floats  # sum of w p^2
    label: Floats  # sum of w y
    label2: Floats  # sum of w y^2
    cross: Floats  # sum of w p y

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (getattr(self, name) for name in MOMENTS)


MOMENTS = tuple(field.name for field in fields(Sums))


@dataclass(frozen=True, eq=False, slots=True)
class Groups:
    """Rows with the same score put together, in increasing order of the score."""

    value: Floats
    count: Ints
    positive: Ints

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.value, self.count, self.positive))


class Spread(NamedTuple):
    """Rows shared out to the points of a grid; each array sums to its sum over rows."""

    weight: Floats  # sums of w
    label: Floats  # sums of w y
    residual: Floats  # sums of w (p - y)


class BinnedLimits(NamedTuple):
    """Rows to draw labels for, put together by bin; see `trueup.engines.draws`."""

    limit: Bits  # each bin is filled up to whole pairs of rows with rows that are never drawn
    start: Ints  # first pair of each bin, and the end of the last


class Tempered(NamedTuple):
    """Sums over the classes of each row, d its logits less the largest, β the inverse temperature.

    Those of e^{βd}, of d e^{βd} and of d² e^{βd}; and −d of the label.
    """

    total: Floats
    first: Floats
    second: Floats
    gap: Floats


class ScaledSums(NamedTuple):
    """Log loss of softmax(scale∘z + shift), and its derivatives summed over rows.

    ``gradient`` is (2, K): by the shift, by the scale. ``curvature`` is (3, K): each class's own
    second derivatives, by the shift twice, by both, by the scale twice.
    """

    loss: Floats  # of each row, without its weight
    log_total: Floats  # of each row: log Σ e^{scale∘z + shift}
    gradient: Floats
    curvature: Floats


class SigmoidSums(NamedTuple):
    """Loss of a sigmoid summed over rows, with its derivatives by slopes and intercept."""

    loss: float
    gradient: Floats  # (slopes + 1,), the intercept last
    hessian: Floats


class KernelSet(NamedTuple):
    """Points with values, and the queries at which a kernel sums them; see `kernel_reference`."""

    points: Floats  # (n, d)
    values: Floats  # (n, m)
    queries: Floats | None = None  # (q, d); None: the points themselves
    within: Floats | None = None  # (q,): points farther than this from a query may be left out

    @property
    def at(self) -> Floats:
        """The queries, or the points themselves."""
        return self.points if self.queries is None else self.queries


class KernelTotals(NamedTuple):
    """Sums at every query, and its smallest distance where they are relative to it."""

    sums: Floats  # (q, m)
    nearest: Floats | None  # (q,); squared for the Gaussian kernel


class Engine(Protocol):
    """The functions every engine has. Scores are float32 or float64 in [0, 1], checked before."""

    def first_outside_unit(self, values: NDArray[Any]) -> int: ...

    def first_not_binary(self, labels: NDArray[Any]) -> int: ...

    def all_pairs_good(self, p: NDArray[Any], y: NDArray[Any]) -> bool: ...

    def scan_rows(self, read: Read, n: int, n_classes: int) -> RowScan: ...

    def find_bins(self, p: NDArray[Any], inner_edges: Floats) -> Ints: ...

    def bin_sums(
        self, p: NDArray[Any], y: NDArray[Any], w: Floats | None, inner_edges: Floats
    ) -> Sums: ...

    def batch_bin_sums(self, p: NDArray[Any], y: NDArray[Any], inner_edges: Floats) -> Sums: ...

    def class_bin_sums(
        self,
        read: Read,
        factor: Floats | None,
        labels: Ints,
        n_classes: int,
        inner_edges: Floats,
    ) -> Sums: ...

    def scaled_columns(self, block: NDArray[Any], factor: Floats | None, out: Floats) -> None: ...

    def equal_mass_edges(self, p: NDArray[Any], n_bins: int) -> Floats: ...

    def group_pairs(self, p: NDArray[Any], y: NDArray[Any]) -> Groups: ...

    def sweep_bins(self, count: Ints, positive: Ints, most: int) -> int: ...

    def swept_residuals(
        self, residual: Floats, count: Ints, positive: Ints, room: Room = FRESH
    ) -> tuple[Ints, Floats]: ...

    def count_residuals(
        self, value: Floats, count: Ints, positive: Ints, room: Room = FRESH
    ) -> Floats: ...

    def extreme_sums(self, terms: Floats) -> tuple[float, float]: ...

    def local_quadratics(
        self, value: Floats, weight: Floats, label: Floats, at: Floats, width: Floats
    ) -> Floats: ...

    def pool_rising(self, weight: NDArray[Any], label: NDArray[Any]) -> Ints: ...

    def pool_added(
        self, weight: NDArray[Any], label: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]: ...

    def spread(self, p: NDArray[Any], y: NDArray[Any], w: Floats | None, size: int) -> Spread: ...

    def spread_residual(
        self, p: NDArray[Any], y: NDArray[Any], w: Floats | None, size: int
    ) -> Floats: ...

    def spread_terms(
        self, value: Floats, term: Floats, size: int, room: Room = FRESH
    ) -> Floats: ...

    def absolute_area(self, height: Floats) -> float: ...

    def laplace_total(self, value: Floats, residual: Floats, bandwidth: float) -> float: ...

    def laplace_cross(self, value: Floats, residual: Floats, bandwidth: float) -> float: ...

    def median_gap(self, value: Floats) -> float: ...

    def pair_distances(self, a: Floats, b: Floats, total_variation: bool) -> Floats: ...

    def pair_products(self, a: Floats, b: Floats) -> Floats: ...

    def block_sums(
        self, sets: Sequence[KernelSet], steep: float, gaussian: bool, relative: bool
    ) -> list[KernelTotals]: ...

    def divided_sums(self, sets: Sequence[KernelSet], steep: float) -> list[Floats]: ...

    def draw_labels(self, limit: Bits, key: np.uint64) -> NDArray[np.bool_]: ...

    def draw_classes(self, limit: Bits, key: np.uint64, first: int = 0) -> Ints: ...

    def draw_rows(self, n: int, key: np.uint64) -> Ints: ...

    def draw_hits(
        self,
        limit: Bits,
        code: NDArray[np.int32],
        n_scores: int,
        key: np.uint64,
        room: Room = FRESH,
    ) -> Ints: ...

    def regroup_rows(
        self, value: Floats, code: NDArray[np.int32], key: np.uint64, room: Room = FRESH
    ) -> Groups: ...

    def count_labels(self, rows: BinnedLimits, keys: Bits) -> Ints: ...

    def add_classes(
        self,
        limit: Bits,
        place: NDArray[np.int32],
        w: Floats | None,
        keys: Bits,
        first: int,
        totals: NDArray[Any],
    ) -> None: ...

    def temper(self, logits: NDArray[Any], labels: Ints, inverse: float) -> Tempered: ...

    def tempered_probs(self, logits: NDArray[Any], inverse: float) -> Floats: ...

    def scaled_probs(self, logits: NDArray[Any], scale: Floats, shift: Floats) -> Floats: ...

    def scaled_sums(
        self,
        logits: NDArray[Any],
        labels: Ints,
        w: Floats | None,
        scale: Floats,
        shift: Floats,
    ) -> ScaledSums: ...

    def scaled_product(
        self,
        logits: NDArray[Any],
        w: Floats | None,
        log_total: Floats,
        scale: Floats,
        shift: Floats,
        direction: Floats,
    ) -> Floats: ...

    def sigmoid_sums(
        self,
        covariates: Floats,
        targets: Floats,
        w: Floats | None,
        point: Floats,
        squared: bool,
    ) -> SigmoidSums: ...


_in_use: Engine | None = None


def engine() -> Engine:
    """Return the engine in use, choosing the fastest that is built on first need."""
    global _in_use
    if _in_use is None:
        asked = os.environ.get("TRUEUP_ENGINE", "")
        _in_use = _load(asked, "TRUEUP_ENGINE") if asked else _fastest()
    return _in_use


def in_use() -> str:
    """Return the name of the engine in use: ``"native"`` or ``"reference"``."""
    return cast(Any, engine()).__name__.rpartition(".")[2]  # type: ignore[no-any-return]


@contextmanager
def using(name: str) -> Iterator[None]:
    """Use the engine ``name`` inside a ``with`` block.

    >>> with using("reference"):
    ...     in_use()
    'reference'
    """
    global _in_use
    before, _in_use = engine(), _load(name)
    try:
        yield
    finally:
        _in_use = before


def _fastest() -> Engine:
    try:
        return _load("native")
    except CapabilityError:
        return _load("reference")


def _load(name: str, argument: str = "name") -> Engine:
    if name not in ("native", "reference"):
        raise must_be(argument, '"native" or "reference"', name)
    try:
        return cast(Engine, importlib.import_module(f"trueup.engines.{name}"))
    except ImportError as error:
        raise CapabilityError(
            "The native engine is not built here; results are the same without it. "
            "Hint: reinstall trueup where a C compiler is present."
        ) from error
