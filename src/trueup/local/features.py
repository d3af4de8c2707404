"""Features as points of a space with meaningful distances: standardized and reduced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from trueup._typing import Floats, Ints
from trueup.checks import is_whole
from trueup.errors import Verbatim, must_be
from trueup.forecasts.arrays import as_floats, as_numpy
from trueup.forecasts.sample_data import beside, features_of

REDUCTIONS = {"pca": 20, "tsne": 2}
"""Reductions by name, and how many dimensions they leave where none are asked for."""
FEWEST_ROWS = 4  # t-SNE of fewer has almost no neighbors
PERPLEXITY = 30.0
FURTHEST = 1e100  # new rows further out are put here: distances to them stay finite
ROUNDING = 1e-14  # of its largest value: what varies less than this does not vary


@dataclass(frozen=True, eq=False)
class Scaling:
    """Columns ``kept``, minus ``center``, divided by ``scale``; constant columns are dropped.

    The center is subtracted first: differences of close values are exact, so a large offset does
    not reduce the precision of distances. Values are halved so that differences do not overflow.
    """

    n_columns: int  # of what comes in
    kept: Ints  # numbers of the columns that vary
    center: Floats  # their means
    scale: Floats  # their population standard deviations

    @classmethod
    def fit(cls, rows: Floats, weights: Floats | None) -> Scaling:
        """Measure rows; a weight of 3 counts as three rows."""
        largest = np.abs(rows).max(axis=0)
        unit = np.exp2(np.frexp(largest)[1] - 1.0)  # a power of 2, so that dividing rounds nothing
        inside = rows / unit  # in (-2, 2), so that squares neither overflow nor vanish
        mean = np.average(inside, axis=0, weights=weights)
        away = inside - mean
        missed = np.average(away, axis=0, weights=weights)  # what a mean far from 0 has rounded off
        variance = np.average(away**2, axis=0, weights=weights) - missed**2
        spread = np.sqrt(np.maximum(variance, 0))
        varies = (spread > ROUNDING) & (inside.max(axis=0) > inside.min(axis=0))
        kept = np.flatnonzero(varies)
        return cls(rows.shape[1], kept, (mean * unit)[kept], (spread * unit)[kept])

    def __call__(self, rows: Floats) -> Floats:
        """Return the kept columns on their scale; one column of zeros if all are constant."""
        if len(self.kept) == 0:
            return np.zeros((len(rows), 1))
        columns = rows if len(self.kept) == self.n_columns else rows[:, self.kept]
        with np.errstate(over="ignore"):
            points = columns / 2
            points -= self.center / 2
            points /= self.scale / 2
        return np.clip(points, -FURTHEST, FURTHEST, out=points)


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Fitted map of features, which puts new rows into the same space.

    A row goes through ``before``, then ``axes`` (columns of principal components) or
    ``transformer``, then ``after``; each of them may be None.
    """

    n_columns: int  # of features
    before: Scaling | None = None
    axes: Floats | None = None
    transformer: Any = None
    after: Scaling | None = None

    def __call__(self, features: Floats) -> Floats:
        """Return the points (n, d) of rows of features."""
        points = features if self.before is None else self.before(features)
        if self.axes is not None:
            points = points @ self.axes
        if self.transformer is not None:
            points = _transformed(self.transformer.transform(points), len(points))
        return points if self.after is None else self.after(points)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that `of` reads back; a transformer is not included."""
        learned = asdict(replace(self, transformer=None))
        del learned["transformer"]
        return learned

    @classmethod
    def of(cls, learned: Mapping[str, Any], transformer: Any = None) -> FeatureMap:
        """Read what `to_dict` wrote."""
        scalings = [learned[name] for name in ("before", "after")]
        before, after = (None if each is None else Scaling(**each) for each in scalings)
        return cls(learned["n_columns"], before, learned["axes"], transformer, after)


def fit_map(
    features: Floats, weights: Floats | None, *, standardize: bool, reduce: Any = None
) -> tuple[FeatureMap | None, Floats]:
    """Fit the map from features to points, and return the points of these rows.

    There is no map for t-SNE, which gives coordinates only to the rows that it was fitted to.
    """
    n_columns = features.shape[1]
    before = Scaling.fit(features, weights) if standardize and is_named(reduce) else None
    points = features if before is None else before(features)
    axes, transformer, without_map = None, None, False
    if is_named(reduce):
        name, n_dims = name_and_dims(reduce)
        if name == "pca":
            axes = principal_axes(points, weights, n_dims)
            points = points @ axes
        else:
            points, without_map = _tsne(points, n_dims), True
    elif reduce is not None:
        transformer = _fitted(reduce, features)
        points = _transformed(transformer.transform(features), len(features))
    after = Scaling.fit(points, weights) if standardize else None
    if after is not None:
        points = after(points)
    if without_map:
        return None, points
    return FeatureMap(n_columns, before, axes, transformer, after), points


def read_features(features: object, n: int, predictions: str) -> Floats:
    """Check that features passed with ``n`` rows of predictions are finite numbers, (n, d)."""
    array = beside("features", features, n, predictions)
    assert array is not None
    with np.errstate(over="ignore"):
        checked = features_of(array.astype(np.float64, copy=False), None)
    assert checked is not None
    return some_columns(checked)


def some_columns(features: Any) -> Floats:
    """Return features in float64, row after row; raise InputError if there is no column."""
    if features.shape[1] == 0:
        raise must_be("features", "have at least one column", Verbatim("none"))
    return np.ascontiguousarray(features, dtype=np.float64)


def check_reduce(reduce: object) -> None:
    """Raise InputError unless a value is the name of a reduction or a transformer."""
    transforms = hasattr(reduce, "transform") and not isinstance(reduce, type)
    if reduce is None or is_named(reduce) or transforms:
        return
    rule = '"pca", "tsne", one of them with a number of dimensions, a transformer, or None'
    raise must_be("reduce", rule, reduce, hint='("pca", 20) leaves 20 dimensions')


def is_named(reduce: object) -> bool:
    """Return whether a value names a reduction, alone or with its number of dimensions."""
    name = reduce[0] if isinstance(reduce, tuple) and len(reduce) == 2 else reduce
    known = isinstance(name, str) and name in REDUCTIONS
    return known and (isinstance(reduce, str) or is_whole(reduce[1], 1))  # type: ignore[index]


def name_and_dims(reduce: Any) -> tuple[str, int]:
    """Return name and number of dimensions of a reduction."""
    return (reduce, REDUCTIONS[reduce]) if isinstance(reduce, str) else (reduce[0], int(reduce[1]))


def principal_axes(points: Floats, weights: Floats | None, n_dims: int) -> Floats:
    """Return at most ``n_dims`` directions of largest variance as columns.

    A weight of 3 counts as three rows. Directions in which points vary only by rounding are
    dropped.
    """
    centred = points - np.average(points, axis=0, weights=weights)
    share = np.full(len(points), 1 / len(points)) if weights is None else weights / weights.sum()
    variances, directions = np.linalg.eigh((centred * share[:, None]).T @ centred)
    real = variances > variances[-1] * len(variances) * np.finfo(np.float64).eps
    chosen = np.flatnonzero(real)[::-1][:n_dims]
    if len(chosen) == 0:  # all points are one
        chosen = np.array([len(variances) - 1])
    return np.ascontiguousarray(directions[:, chosen])


def _tsne(points: Floats, n_dims: int) -> Floats:
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    n = len(points)
    if n < FEWEST_ROWS:
        raise must_be("features", f"have at least {FEWEST_ROWS} rows for t-SNE", n)
    # "random" where principal components, the better start, are fewer than asked for
    start = "pca" if n_dims <= min(points.shape) else "random"
    method = "barnes_hut" if n_dims <= 3 else "exact"
    perplexity = min(PERPLEXITY, (n - 1) / 3)
    embedding = TSNE(n_dims, perplexity=perplexity, init=start, method=method, random_state=0)
    with threadpool_limits(1):  # the same coordinates on any number of cores
        return np.asarray(embedding.fit_transform(points), np.float64)


def _fitted(transformer: Any, features: Floats) -> Any:
    """Return a fitted transformer unchanged, or fit a clone of another one to these features."""
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(transformer, "fit"):
        return transformer
    try:
        check_is_fitted(transformer)
    except NotFittedError:
        return clone(transformer).fit(features)
    return transformer


def _transformed(rows: object, n: int) -> Floats:
    """Return the output of a transformer, checked in the same way as features."""
    array = as_floats("reduce", as_numpy("reduce", rows))
    if array.ndim != 2 or len(array) != n or array.shape[1] == 0 or not np.isfinite(array).all():
        rule = f"a transformer that gives {n} rows of finite numbers"
        raise must_be("reduce", rule, Verbatim(f"an array of shape {array.shape}"))
    return np.ascontiguousarray(array, dtype=np.float64)
