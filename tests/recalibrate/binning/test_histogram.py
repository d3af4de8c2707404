"""Histogram binning against a loop over bins, and what certify takes from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import trueup as tu
from oracles import bins as oracle
from trueup.errors import InputError
from trueup.recalibrate.binning.histogram import HistogramBinning

SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 0.9, 1.0])


def literal_equal_width(p, y, w, n_bins: int, at: float) -> float:
    """The mean label of the right-closed bin that holds ``at``.

    An empty bin lies on the straight line between the nearest bins that are not, or has the value
    of the only one.
    """
    edges = np.arange(1, n_bins) / n_bins
    here, bins = np.searchsorted(edges, at), np.searchsorted(edges, p)

    def mean(b: int) -> float:
        return float(np.average(y[bins == b], weights=w[bins == b]))

    below = max((b for b in bins if b <= here), default=None)
    above = min((b for b in bins if b >= here), default=None)
    if below is None or above is None or below == above:
        return mean(above if below is None else below)
    share = (here - below) / (above - below)
    return (1 - share) * mean(below) + share * mean(above)


@given(
    st.lists(st.tuples(SCORES, st.booleans(), st.integers(1, 3)), min_size=1, max_size=40),
    st.integers(1, 8),
)
def test_equal_width_by_definition(rows, n_bins: int) -> None:
    p, y, w = (np.array(column, float) for column in zip(*rows, strict=True))
    found = HistogramBinning(n_bins=n_bins, binning="equal-width").fit(p, y.astype(bool), w)
    grid = np.linspace(0, 1, 33)
    expected = [literal_equal_width(p, y, w, n_bins, at) for at in grid]
    assert found.predict_proba(grid)[:, 1] == pytest.approx(expected, abs=1e-14)


def test_equal_mass_by_the_oracle(each_engine: str) -> None:
    rng = np.random.default_rng(0)
    p, y = rng.random(1000).round(2), rng.integers(0, 2, 1000)
    found = HistogramBinning(n_bins=7).fit(p, y)
    edges = oracle.equal_mass_edges(p, 7)
    bins = np.searchsorted(np.asarray(edges, float), p)
    expected = np.array([y[bins == b].mean() for b in bins])
    assert found.predict_proba(p)[:, 1] == pytest.approx(expected, abs=1e-14)
    assert np.array_equal(found.outputs_, np.unique(found.maps_[0]["values"]))


def test_each_class_by_itself_and_rows_normalised() -> None:
    rng = np.random.default_rng(1)
    p, y = rng.dirichlet([0.5] * 4, 300), rng.integers(0, 4, 300)
    found = HistogramBinning(n_bins=5).fit(p, y)
    marginals = found.predict_marginals(p)
    for k in range(4):
        alone = HistogramBinning(n_bins=5).fit(p[:, k], y == k)
        assert np.array_equal(marginals[:, k], alone.predict_proba(p[:, k])[:, 1])
        assert np.isin(marginals[:, k], found.outputs_[k]).all()
    rows = marginals / marginals.sum(axis=1, keepdims=True)
    assert found.predict_proba(p) == pytest.approx(rows, abs=1e-15)


def test_a_row_of_zeros_stays_as_it_was() -> None:
    """Classes with scores around 0.35 and 0.45 never occur; a new row has only such scores."""
    p = np.array([[0.45, 0.35, 0.20], [0.20, 0.45, 0.35], [0.35, 0.20, 0.45]])
    found = HistogramBinning(n_bins=10, binning="equal-width").fit(p, [2, 0, 1])
    new = np.array([[0.35, 0.33, 0.32], [0.45, 0.35, 0.20]])
    assert found.predict_marginals(new).tolist() == [[0, 0, 0], [0, 0, 1]]
    assert found.predict_proba(new) == pytest.approx(np.array([new[0], [0, 0, 1]]), abs=1e-15)


def test_top_label_keeps_the_class_and_the_ratios_of_others() -> None:
    rng = np.random.default_rng(2)
    p = rng.dirichlet([0.3] * 5, 400)
    y = np.where(rng.random(400) < 0.3, p.argmax(axis=1), rng.integers(0, 5, 400))
    found = HistogramBinning(n_bins=4, lens="top-label").fit(p, y)
    top, confidence = p.argmax(axis=1), p.max(axis=1)
    alone = HistogramBinning(n_bins=4).fit(confidence, top == y)
    expected = alone.predict_proba(confidence)[:, 1]
    assert np.array_equal(found.predict_confidence(p), expected)
    rows = found.predict_proba(p)
    assert np.array_equal(rows[np.arange(400), top], expected)
    assert np.array_equal(found.predict(p), top)
    assert (rows.argmax(axis=1) != top).any()  # or the test shows nothing
    others = np.delete(np.arange(5), top[0])
    assert rows[0, others] / rows[0, others].sum() == pytest.approx(
        p[0, others] / p[0, others].sum()
    )
    assert rows.sum(axis=1) == pytest.approx(1, abs=1e-12)


def test_certify_takes_what_it_can_answer() -> None:
    rng = np.random.default_rng(3)
    p = rng.random(30_000)
    y = rng.random(30_000) < p**2
    fitted, judged = slice(0, 10_000), slice(10_000, None)
    found = HistogramBinning(n_bins=10).fit(p[fitted], y[fitted])
    answers = found.predict_marginals(p[judged])[:, 1]
    certificate = tu.certify(answers, y[judged], max_error=0.1, outputs=found)
    assert certificate.verdict == "verified"
    assert certificate.notes["n_outputs"] == len(found.outputs_)

    rows = rng.dirichlet([1] * 3, 20_000)
    labels = (rows.cumsum(axis=1) > rng.random((20_000, 1))).argmax(axis=1)
    each = HistogramBinning(n_bins=8).fit(rows[:5000], labels[:5000])
    marginals = each.predict_marginals(rows[5000:])
    for k in range(3):
        certificate = tu.certify(
            marginals[:, k], labels[5000:] == k, max_error=0.1, outputs=each.outputs_[k]
        )
        assert certificate.verdict == "verified"
    top = HistogramBinning(n_bins=8, lens="top-label").fit(rows[:5000], labels[:5000])
    right = top.predict(rows[5000:]) == labels[5000:]
    confidence = top.predict_confidence(rows[5000:])
    assert tu.certify(confidence, right, max_error=0.1, outputs=top).verdict == "verified"


def test_says_where_bins_cost_log_loss() -> None:
    rng = np.random.default_rng(4)
    p = rng.random(2000)
    y = rng.random(2000) < p
    assert "log loss on the fit data increased" in HistogramBinning(n_bins=1).fit(p, y).notes_[0]
    assert HistogramBinning(n_bins=15).fit(p**3, y).notes_ == []


def test_refuses() -> None:
    p, y = [0.1, 0.9], [0, 1]
    with pytest.raises(InputError, match="`n_bins` must be a whole number of at least 1; got 0"):
        HistogramBinning(n_bins=0).fit(p, y)
    with pytest.raises(InputError, match='`binning` must be "equal-mass" or "equal-width"'):
        HistogramBinning(binning="uniform").fit(p, y)
    with pytest.raises(InputError, match='`lens` must be "one-vs-rest" or "top-label"'):
        HistogramBinning(lens="marginal").fit(p, y)
    with pytest.raises(InputError, match="predict_marginals requires lens='one-vs-rest'"):
        HistogramBinning(lens="top-label").fit(p, y).predict_marginals(p)
    with pytest.raises(InputError, match="predict_confidence requires lens='top-label'"):
        HistogramBinning().fit(p, y).predict_confidence(p)


def test_an_empty_bin_does_not_make_the_map_decrease() -> None:
    p, y = [0.05, 0.05, 0.05, 0.05, 0.55, 0.55, 0.55, 0.55], [0, 0, 0, 1, 0, 0, 0, 1]
    found = HistogramBinning(n_bins=10, binning="equal-width").fit(p, y)
    # The middle of the second bin is 0.15, below both its neighbors.
    assert found.maps_[0]["values"].tolist() == [0.25] * 10
    rng = np.random.default_rng(0)
    scores = rng.choice([0.02, 0.31, 0.33, 0.72, 0.95], 400)
    rising = HistogramBinning(n_bins=20, binning="equal-width").fit(
        scores, rng.random(400) < scores
    )
    values = rising.maps_[0]["values"]
    filled = np.unique(np.searchsorted(np.arange(1, 20) / 20, scores))
    assert (np.diff(values[filled]) > 0).all()
    assert (np.diff(values) >= 0).all()
