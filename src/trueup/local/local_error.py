"""Local calibration error: calibration among rows with similar features (Luo et al. 2022)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from trueup._typing import Floats, Ints
from trueup.bins import Binning, EqualWidth, check_binning
from trueup.checks import check_choice, check_flag, is_number
from trueup.errors import Argument, InputError, called, must_be, required
from trueup.estimators.base import Estimator
from trueup.forecasts import Forecasts
from trueup.forecasts.arrays import as_numpy, describe, is_missing
from trueup.lens import Lens, Pairs, check_lens
from trueup.local.bandwidth import KERNELS, check_bandwidth, default_bandwidth, scale_of
from trueup.local.device import Device, device_of, sums_on
from trueup.local.features import check_reduce, fit_map, some_columns
from trueup.results import Estimate
from trueup.tables import ResultTable

QUANTILES = (0.5, 0.9, 0.99)
COORDINATES = 3  # of each point, in the table: as many as can be drawn


@dataclass(frozen=True, repr=False)
class LocalError(Estimator):
    r"""Local calibration error: per row, among rows with similar features and confidence.

    Let β(x) be the rows in the confidence bin of x, x itself included. The error at x is

    .. math:: \mathrm{LCE}_\gamma(x) = \left| \frac{\sum_{i\in\beta(x)} w_i (p_i - y_i)
              k_\gamma(x, x_i)}{\sum_{i\in\beta(x)} w_i k_\gamma(x, x_i)} \right|

    and the value is its maximum over all x, MLCE. Use it to find kinds of rows for which a model is
    miscalibrated although it is calibrated overall. `gaps` keeps the sign, observed − predicted: a
    negative gap means that p is too high here, so the model is overconfident if p is a confidence.
    As γ → ∞ the maximum is the `mce`, as γ → 0 the largest |p − y|. Sampling noise always biases it
    upward, and more so for small γ.

    Parameters
    ----------
    lens : Lens, optional
        Lens with one score per row. The default is `Binary` for 1-D probabilities and `TopLabel`
        for a matrix.
    binning : Binning, default EqualWidth(15)
        Bins of the confidence.
    kernel : {"laplacian", "gaussian", "group"}, default "laplacian"
        ``"laplacian"`` is :math:`e^{-\|x - x'\|_1/(d\gamma)}` in d dimensions; ``"gaussian"`` is
        :math:`e^{-\|x - x'\|_2^2/(2\gamma^2)}`. ``"group"`` is 1 for rows of the same group and 0
        for others, if the features are groups: the result is the error of each bin within each
        group.
    bandwidth : float, optional
        γ, or ``math.inf`` for no locality (default: `default_bandwidth`).
    summary : {"max", "mean"} or float, default "max"
        How the errors of all rows are summarized; a number q in (0, 1) is that quantile.
    standardize : bool, default True
        Whether to divide each coordinate by its (weighted, population) standard deviation, as the
        default bandwidth assumes. Coordinates that vary by no more than rounding are dropped and
        not counted in d. The paper does not state the scale of its features.
    reduce : str, tuple or transformer, optional
        ``"pca"`` or ``("pca", d)``; ``"tsne"`` or ``("tsne", d)``; or a scikit-learn transformer,
        which is fitted on the features unless it is already fitted. Features are standardized
        before a reduction by name, and coordinates after any reduction. t-SNE ignores weights.

    Notes
    -----
    The table of `measure` is the landscape, one row per sample. Its columns are ``row`` (number
    among the rows passed, or among those of a `Forecasts`), ``bin``, ``p``, ``y``, ``gap``,
    ``absolute``, ``mass`` (sum of weights × similarities), and the first three coordinates ``x1``
    …. A small mass means that an error rests on few rows. The notes have ``bandwidth``, ``mean``,
    ``quantiles``, ``max``, ``n_dims`` and the ``method`` of the sums.

    Cost: n·log^(d−1) n for the Laplacian in up to 4 dimensions, otherwise n² for each bin. If
    ``features`` is a torch tensor, sums run on its device, float32 features in float32.

    References
    ----------
    Luo, Bhatnagar, Bai, Zhao, Wang, Xiong, Savarese, Ermon, Schmerling & Pavone 2022, "Local
    calibration: metrics and recalibration", eqs. 4 and 5.

    Examples
    --------
    >>> probs, labels, where = [0.7] * 4, [1, 1, 0, 0], [0.0, 0.0, 9.0, 9.0]
    >>> result = LocalError().measure(probs, labels, where)
    >>> result.table["gap"].round(3)  # underconfident for low features, overconfident for high ones
    array([ 0.3,  0.3, -0.7, -0.7])
    >>> round(result.value, 3)
    0.7
    """

    lens: Lens | None = None
    binning: Binning = EqualWidth(15)
    kernel: str = "laplacian"
    bandwidth: float | None = None
    _: KW_ONLY
    summary: str | float = "max"
    standardize: bool = True
    reduce: Any = None

    def __post_init__(self) -> None:
        check_lens(self.lens)
        check_binning(self.binning, "a binning, such as EqualWidth(15)")
        check_choice("kernel", self.kernel, *KERNELS, "group")
        check_bandwidth(self.bandwidth)
        if self.kernel == "group" and self.bandwidth is not None:
            raise must_be("bandwidth", 'None with kernel="group"', self.bandwidth)
        named = isinstance(self.summary, str) and self.summary in ("max", "mean")
        if not named and not (is_number(self.summary) and 0 < float(self.summary) < 1):
            raise must_be("summary", '"max", "mean" or a number between 0 and 1', self.summary)
        check_flag("standardize", self.standardize)
        check_reduce(self.reduce)

    def __call__(
        self,
        probs: object,
        labels: object = None,
        features: object = None,
        *,
        weights: object = None,
        logits: bool = False,
    ) -> float:
        """Return the estimate as a float."""
        return self.measure(probs, labels, features, weights=weights, logits=logits).value

    def measure(
        self,
        probs: object,
        labels: object = None,
        features: object = None,
        *,
        weights: object = None,
        logits: bool = False,
    ) -> Estimate:
        """Compute the estimate with its landscape and notes.

        Parameters
        ----------
        probs : array_like or Forecasts
            Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data,
            with its features.
        labels : array_like, optional
            Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
        features : array_like, optional
            Features of each row, shape (n, d), or n groups for ``kernel="group"``. Omit them if
            `probs` is a `Forecasts`.
        weights : array_like, optional
            Weight of each row (default: all rows count the same).
        logits : bool, default False
            Whether `probs` holds logits instead of probabilities.

        Returns
        -------
        Estimate
            Value, landscape and notes.
        """
        return self._estimate(self._given(probs, labels, features, weights, logits)[0])

    def table(
        self,
        probs: object,
        labels: object = None,
        features: object = None,
        *,
        weights: object = None,
        logits: bool = False,
    ) -> ResultTable:
        """Return the landscape."""
        found = self.measure(probs, labels, features, weights=weights, logits=logits)
        return cast(ResultTable, found.table)

    def gaps(
        self,
        probs: object,
        labels: object = None,
        features: object = None,
        *,
        weights: object = None,
        logits: bool = False,
    ) -> Floats:
        """Compute observed − predicted around each row.

        Parameters
        ----------
        probs : array_like or Forecasts
            Predicted probabilities, shape (n,) or (n, K), or a `Forecasts` that holds all data,
            with its features.
        labels : array_like, optional
            Observed labels, shape (n,). Omit them if `probs` is a `Forecasts`.
        features : array_like, optional
            Features of each row, shape (n, d), or n groups for ``kernel="group"``. Omit them if
            `probs` is a `Forecasts`.
        weights : array_like, optional
            Weight of each row (default: all rows count the same).
        logits : bool, default False
            Whether `probs` holds logits instead of probabilities.

        Returns
        -------
        ndarray
            One gap per row; NaN for rows that were dropped.
        """
        problem, n = self._given(probs, labels, features, weights, logits)
        found = np.full(n, np.nan)
        found[problem.rows] = problem.sums(self.kernel, self.bandwidth).gap
        return found

    def measure_forecasts(self, forecasts: Forecasts) -> Estimate:
        """Compute the estimate for validated data."""
        return self._estimate(self.problem(forecasts))

    def _estimate(self, problem: LocalProblem) -> Estimate:
        sums = problem.sums(self.kernel, self.bandwidth)
        absolute, w = np.abs(sums.gap), problem.pairs.w
        value = summary_of(absolute, w, self.summary)
        notes = {
            "bandwidth": sums.bandwidth,
            "mean": summary_of(absolute, w, "mean"),
            "quantiles": {q: summary_of(absolute, w, q) for q in QUANTILES},
            "max": summary_of(absolute, w, "max"),
            "n_dims": problem.n_dims,
            "method": sums.method,
        }
        return Estimate(value, value, landscape(problem, sums), notes)

    def problem(self, forecasts: Forecasts, device: Device | None = None) -> LocalProblem:
        """Return residuals and points of validated data, for any bandwidth and device.

        Parameters
        ----------
        forecasts : Forecasts
            Validated predictions and labels.
        device : Device, optional
            Device of the sums (default: that of the features).

        Returns
        -------
        LocalProblem
            Residuals and points.
        """
        pairs, rows = _pairs_and_rows(self.lens_for(forecasts), forecasts)
        edges = self.binning.inner_edges(pairs)
        bins = np.searchsorted(edges, pairs.p.astype(np.float64))
        if self.kernel == "group":
            groups = _group_numbers(forecasts)[rows]
            return LocalProblem(rows, pairs, edges, bins, np.empty((len(rows), 0)), groups)
        # Features are scaled by all rows, in a region or not.
        how: dict[str, Any] = {"standardize": self.standardize, "reduce": self.reduce}
        _, points = fit_map(_features_of(forecasts), forecasts.weights, **how)
        return LocalProblem(rows, pairs, edges, bins, points[rows], None, device)

    def _given(
        self, probs: object, labels: object, features: object, weights: object, logits: bool
    ) -> tuple[LocalProblem, int]:
        """Return the problem, and the number of rows passed, to which its row numbers refer."""
        beside: dict[str, Any] = {"groups" if self.kernel == "group" else "features": features}
        with called({"groups": "features"}):
            forecasts = Forecasts.from_arrays(
                probs, labels, weights=weights, logits=logits, **beside
            )
        problem = self.problem(forecasts, device_of(features))
        if weights is None:
            return problem, forecasts.n
        every = as_numpy("weights", weights)
        return replace(problem, rows=np.flatnonzero(every > 0)[problem.rows]), len(every)


class LocalSums(NamedTuple):
    """Return the kernel-weighted mean of observed − predicted around each row, and the weight."""

    gap: Floats
    mass: Floats
    bandwidth: float | None
    method: str


@dataclass(frozen=True, eq=False)
class LocalProblem:
    """Scores and outcomes in confidence bins, with a point or a group for each row."""

    rows: Ints  # numbers of the rows of the forecasts that are looked at
    pairs: Pairs
    edges: Floats  # inner edges of the bins
    bins: Ints  # the bin of each row
    points: Floats  # (n, d) standardized and reduced features; no columns for groups
    groups: Ints | None  # the number of each row's group, for the kernel of groups
    device: Device | None = None  # where the sums are found; None for here

    @property
    def n_dims(self) -> int:
        """Dimensions of the points."""
        return int(self.points.shape[1])

    def sums(self, kernel: str, bandwidth: float | None) -> LocalSums:
        """Return the weighted mean of y − p around each row and the row itself (eq. 4 of Luo)."""
        p, y, w = self.pairs.p, self.pairs.y, self.pairs.w
        weight = np.ones(len(p)) if w is None else w
        residual = weight * (p.astype(np.float64) - y.astype(np.float64))
        values = np.column_stack([weight, residual])
        gamma = bandwidth
        if self.groups is None and gamma is None:
            gamma = default_bandwidth(self.n_dims, kernel)
        scale = math.inf if gamma is None else scale_of(gamma, self.n_dims, kernel)
        if math.isinf(scale):
            sums, method = self._within_cells(values), "sums of groups"
        else:
            place = (self.points, values, self.bins)
            found = sums_on(self.device, *place, kernel=kernel, scale=scale)
            sums, method = found.sums, found.method
        mass = sums[:, 0]
        gap = 0.0 - np.clip(sums[:, 1] / mass, -1, 1)  # a difference, so that no gap is −0.0
        return LocalSums(gap, mass, gamma, method)

    def _within_cells(self, values: Floats) -> Floats:
        """Return sums over all rows of the same bin and group: every similarity is 1 or 0."""
        cell = self.bins if self.groups is None else self.groups * (len(self.edges) + 1) + self.bins
        _, place = np.unique(cell, return_inverse=True)
        return np.column_stack([np.bincount(place, column)[place] for column in values.T])


def landscape(problem: LocalProblem, sums: LocalSums) -> ResultTable:
    """Return the landscape, one row per sample: its location, its prediction, its local error."""
    columns = {
        "row": problem.rows,
        "bin": problem.bins,
        "p": problem.pairs.p.astype(np.float64),
        "y": problem.pairs.y.astype(np.float64),
        "gap": sums.gap,
        "absolute": np.abs(sums.gap),
        "mass": sums.mass,
    }
    for number in range(min(problem.n_dims, COORDINATES)):
        columns[f"x{number + 1}"] = problem.points[:, number]
    return ResultTable(columns)


def summary_of(absolute: Floats, w: Floats | None, summary: str | float) -> float:
    """Return the maximum, the weighted mean, or the weighted quantile of the errors."""
    if summary == "max":
        return float(absolute.max())
    if summary == "mean":
        return float(np.average(absolute, weights=w))
    order = np.argsort(absolute, kind="stable")
    reached = np.arange(1, len(order) + 1.0) if w is None else np.cumsum(w[order])
    wanted = float(summary) * reached[-1] * (1 - 1e-12)  # rounding of the sum is no shortage
    return float(absolute[order[np.searchsorted(reached, wanted)]])


def _group_numbers(forecasts: Forecasts) -> Ints:
    """Return numbers 0 … G−1 of the groups; raise InputError if a row has no group."""
    if forecasts.groups is None:
        set_in = (Argument("groups"), " in Forecasts.from_arrays")
        raise required("features", ("pass the group of each row, or set ", *set_in))
    if forecasts.groups.ndim != 1:
        raise must_be("features", "one group per row", describe(forecasts.groups))
    numbers: dict[Any, int] = {}
    found = np.empty(forecasts.n, np.int64)
    for row, name in enumerate(forecasts.groups.tolist()):
        if is_missing(name):
            raise must_be("features", "have a group in every row", name, row=row)
        found[row] = numbers.setdefault(name, len(numbers))
    return found


def _features_of(forecasts: Forecasts) -> Floats:
    """Return the features in float64; raise InputError if they are missing."""
    if forecasts.features is None:
        name = Argument("features")
        raise required("features", ("pass ", name, ", or set ", name, " in Forecasts.from_arrays"))
    return some_columns(forecasts.features)


def _pairs_and_rows(lens: Lens, forecasts: Forecasts) -> tuple[Pairs, Ints]:
    """Return the pairs in the region of a lens, and the rows they belong to."""
    if not lens.one_score:
        hint = "OneVsRest(c) evaluates one class, TopLabel() the predicted one"
        raise must_be("lens", "yield one score per row", lens, hint=hint)
    every = lens.everywhere.pairs(forecasts)
    if lens.where is None:
        return every, np.arange(len(every))
    rows = np.flatnonzero(lens.inside(every.p))
    if len(rows) == 0:
        raise InputError("where", "selects no predictions")
    return every.take(rows), rows
