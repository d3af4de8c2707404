"""The omnibus test: one p-value for many kinds of miscalibration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats
from trueup.engines.draw_keys import keys_of
from trueup.forecasts import Forecasts
from trueup.inference.arguments import check_resamples
from trueup.inference.cluster_tests.cluster_draws import SharedDraws, about_clusters, joint_pvalue
from trueup.inference.hypothesis_tests.consistency_resampling import all_certain
from trueup.inference.hypothesis_tests.null_distribution import (
    certain_pvalue,
    check_lens_of_test,
    lens_of_test,
    null_of,
    refuse_soft_labels,
    resampling_notes,
)
from trueup.inference.omnibus.clusters import ClusterColumns
from trueup.inference.omnibus.columns import Column, values_of_column
from trueup.inference.omnibus.matrices import MatrixColumns, columns_of
from trueup.inference.omnibus.pooled_pvalues import harmonic, pooled_pvalues
from trueup.inference.omnibus.statistics import NAMES
from trueup.lens import Binary, Lens
from trueup.results import CalibrationTestResult
from trueup.seeds import Seed, seed_of

WEIGHTS = np.array([3.0, 0.25, 2.0])  # of the top label, the sums over classes, and each class
BLOCKS = ("top label", "all classes", "one class")


def omnibus(
    forecasts: Forecasts, *, statistic: Lens | None, n_resamples: int, rng: Seed
) -> CalibrationTestResult:
    r"""Combine six statistics of the same drawn labels; exact for any number of rows.

    Scores are grouped into at most 45 cells with about the same number of rows. A cell has the sum
    R of w(y − p), its variance V = Σ w² p(1 − p), and the mean logit z. The statistics are

    * :math:`(\sum R)^2`;
    * the Cox score test of intercept and slope;
    * max − min of the cumulative sum of R;
    * :math:`\sum R^2/V` over 15 merged cells;
    * :math:`R' (C^{-1} + V)^{-1} R` with a Gaussian kernel C of the order of the cells: the
      likelihood ratio if errors of logits form a smooth curve;
    * the largest :math:`|R|/\sqrt{V}` of a run of merged cells.

    Each has a p-value among all draws. :math:`h = \sum a/p` combines them with the weights
    a = 1½, 1½, ½, ½, 1½ and 1 (the weighted harmonic mean), and h is ranked among the draws again.
    The data are treated as one more draw in every step, so the p-value stays exact.

    For a matrix, three such h are combined with weights 3, ¼ and 2: those of the top labels, of the
    six statistics summed over classes, and of all statistics of every class.

    An observed outcome with probability 0 gives the smallest possible p-value. In ``notes``,
    the parts of "one class" are the smallest p-values over classes, which are not valid p-values.

    If rows come in clusters, cluster signs replace drawn labels, and the test is
    asymptotic in the number of clusters: see `clusters`.

    References
    ----------
    Bröcker & Smith 2007, on drawing labels from the predictions; Wilson 2019, "The harmonic mean
    p-value for combining dependent tests". docs/omnibus.md has its power.
    """
    check_resamples(n_resamples)
    refuse_soft_labels(forecasts)
    lens = lens_of_test(statistic, "the omnibus test")
    if lens is None and not forecasts.is_matrix:
        lens = Binary()
    if lens is None:
        return _of_matrix(forecasts, n_resamples, rng)
    return _of_lens(forecasts, check_lens_of_test(lens, simplex=False), n_resamples, rng)


def _of_lens(
    forecasts: Forecasts, lens: Lens, n_resamples: int, rng: Seed
) -> CalibrationTestResult:
    pairs = lens.problem(forecasts)
    clusters = _clusters_of(lens, forecasts)
    null = _independent(null_of(lens), clusters)
    possible = bool((np.where(pairs.y, pairs.p, 1 - pairs.p) > 0).all())
    if not possible or ((pairs.p == 0) | (pairs.p == 1)).all():
        return _without_draws(possible, null, n_resamples, clusters)
    shared = None
    if clusters is None:
        column = Column.from_pairs(pairs)
        pools = [values_of_column(column, pairs, keys_of(seed_of(rng), n_resamples))]
        about: dict[str, Any] = {}
    else:
        binary = Forecasts.from_pairs(pairs.p, pairs.y, pairs.w, forecasts.tiny)
        clustered = ClusterColumns(replace(binary, clusters=clusters))
        (column,) = clustered.columns
        pools = [values[:, 0] for values in clustered.pools(seed_of(rng), n_resamples)]
        shared, about = clustered.shared, clustered.notes

    def tested(values: Floats) -> CalibrationTestResult:
        pvalues = pooled_pvalues(values)
        part = int(np.argmin(pvalues[0]))
        strongest = column.strongest(part) | {"pvalue": float(pvalues[0, part])}
        notes = {"parts": _parts(pvalues[0]), "strongest": strongest}
        return _result(harmonic(pvalues), null, notes | about)

    return _weakest([tested(values) for values in pools], shared)


def _weakest(
    found: list[CalibrationTestResult], shared: SharedDraws | None
) -> CalibrationTestResult:
    """Return the only result, or the decisive one of the results by signs and by labels."""
    if shared is None or len(found) == 1:
        return found[0]
    by_signs, by_labels = found
    pvalue = joint_pvalue(by_signs.pvalue, by_labels.pvalue, shared)
    return replace(by_labels if pvalue == by_labels.pvalue else by_signs, pvalue=pvalue)


def _clusters_of(lens: Lens, forecasts: Forecasts) -> NDArray[Any] | None:
    """Return the cluster of each row that the lens uses."""
    if forecasts.clusters is None or lens.where is None:
        return forecasts.clusters
    return forecasts.clusters[lens.inside(lens.everywhere.problem(forecasts).p)]


def _independent(null: str, clusters: NDArray[Any] | None) -> str:
    """Return the null hypothesis, with clusters in place of rows if there are any."""
    if clusters is None:
        return null
    return null.replace("with independent rows", "with independent clusters")


def _of_matrix(forecasts: Forecasts, n_resamples: int, rng: Seed) -> CalibrationTestResult:
    clusters = forecasts.clusters
    null = _independent(
        "every label follows its whole predicted distribution, with independent rows", clusters
    )
    possible = all(
        (
            forecasts.rows(block)[np.arange(block.stop - block.start), forecasts.labels[block]] > 0
        ).all()
        for block in forecasts.blocks()
    )
    if not possible or all_certain(forecasts) is not None:
        return _without_draws(possible, null, n_resamples, clusters)
    columns: MatrixColumns | ClusterColumns
    shared = None
    if clusters is None:
        columns = columns_of(forecasts)
        pools = [columns.values(keys_of(seed_of(rng), n_resamples))]
        about: dict[str, Any] = {}
    else:
        columns = ClusterColumns(forecasts)
        shared = columns.shared
        values = columns.pools(seed_of(rng), n_resamples)
        pools = [(each[:, 0], each[:, 1:]) for each in values]
        about = columns.notes
    return _weakest([_of_blocks(columns, *pool, null, about) for pool in pools], shared)


def _of_blocks(
    columns: MatrixColumns | ClusterColumns,
    top: Floats,
    classes: Floats,
    null: str,
    about: dict[str, Any],
) -> CalibrationTestResult:
    of_blocks, ranked = pvalues_of_blocks(top, classes)
    combined = np.sum(WEIGHTS / ranked, axis=1)
    parts = {name: _parts(each[0]) for name, each in zip(BLOCKS[:2], of_blocks[:2], strict=True)}
    by_class = of_blocks[2][0].reshape(classes.shape[1:])
    worst, part = np.unravel_index(int(np.argmin(by_class)), by_class.shape)
    parts[BLOCKS[2]] = _parts(by_class.min(axis=0))
    block = int(np.argmin(ranked[0]))
    pvalue = float(of_blocks[block][0].min())
    strongest: dict[str, Any] = {"block": BLOCKS[block], "pvalue": pvalue}
    if block == 0:
        strongest |= columns.top.strongest(int(np.argmin(of_blocks[0][0])))
    elif block == 1:
        strongest |= {"part": NAMES[int(np.argmin(of_blocks[1][0]))]}
    else:
        strongest |= {"class": columns.names[worst]} | columns.classes[worst].strongest(int(part))
    blocks = dict(zip(BLOCKS, map(float, ranked[0]), strict=True))
    notes = {"blocks": blocks, "parts": parts, "strongest": strongest}
    return _result(combined, null, notes | about)


def pvalues_of_blocks(top: Floats, classes: Floats) -> tuple[list[Floats], Floats]:
    """Return the p-values of the parts of each block, and (rows, 3) of the blocks themselves."""
    each_class = classes.reshape(len(classes), -1)
    of_blocks = [pooled_pvalues(each) for each in (top, classes.sum(axis=1), each_class)]
    return of_blocks, pooled_pvalues(np.column_stack([harmonic(each) for each in of_blocks]))


def _parts(pvalues: Floats) -> dict[str, float]:
    return dict(zip(NAMES, map(float, pvalues), strict=True))


def _result(combined: Floats, null: str, notes: dict[str, Any]) -> CalibrationTestResult:
    pvalue = float(pooled_pvalues(combined[:, None])[0, 0])
    drawn = combined[1:]
    notes = notes | resampling_notes(drawn)
    return CalibrationTestResult(float(combined[0]), pvalue, "omnibus", null, notes, drawn)


def _without_draws(
    possible: bool, null: str, n_resamples: int, clusters: NDArray[Any] | None
) -> CalibrationTestResult:
    """Return the result if draws are constant: an outcome with probability 0 refutes the model."""
    notes: dict[str, Any] = {"n_resamples": n_resamples}
    if clusters is not None:
        notes |= about_clusters(len(np.unique(clusters)))
    if not possible:
        notes["strongest"] = {"part": "an observed outcome that had probability 0"}
    return CalibrationTestResult(0.0, certain_pvalue(possible, n_resamples), "omnibus", null, notes)
