"""Features as points: scale, constant columns, principal components, t-SNE, transformers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import trueup as tu
from trueup.local.features import FeatureMap, Scaling, fit_map, principal_axes, read_features
from trueup.local.local_error import LocalError


def draw(n: int = 200, d: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3


def same_up_to_sign(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-8) -> None:
    sign = np.sign((a * b).sum(axis=0))
    np.testing.assert_allclose(a, b * sign, rtol=0, atol=tolerance)


def test_points_have_unit_spread_and_new_rows_the_same_scale() -> None:
    x = draw()
    found, points = fit_map(x, None, standardize=True)
    assert found is not None
    np.testing.assert_allclose(points.std(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-12)
    new = draw(seed=1)
    expected = (new - x.mean(axis=0)) / x.std(axis=0)
    np.testing.assert_allclose(found(new), expected, atol=1e-12)
    assert np.array_equal(found(x), points)


def test_weights_are_repeated_rows() -> None:
    x = draw(60, 4)
    weights = np.random.default_rng(0).integers(1, 5, 60)
    rows = np.repeat(np.arange(60), weights)
    for reduce in (None, ("pca", 2)):
        _, weighted = fit_map(x, weights.astype(float), standardize=True, reduce=reduce)
        _, repeated = fit_map(x[rows], None, standardize=True, reduce=reduce)
        same_up_to_sign(weighted[rows], repeated)


@pytest.mark.parametrize("offset", [1e4, 1e8, 1e12])
def test_large_offsets_keep_their_differences(offset: float) -> None:
    small = np.round(draw(2_000, 3) * 64) / 64  # sums with the offset are exact
    expected = (small - small.mean(axis=0)) / small.std(axis=0)
    points = Scaling.fit(small + offset, None)(small + offset)
    np.testing.assert_allclose(points - points[0], expected - expected[0], rtol=0, atol=1e-12)


def test_columns_up_to_the_largest_numbers_have_a_scale() -> None:
    small = draw(50, 2)
    large = small / np.abs(small).max() * np.finfo(np.float64).max
    expected = Scaling.fit(small, None)(small)
    np.testing.assert_allclose(Scaling.fit(large, None)(large), expected, atol=1e-12)


def test_principal_components_are_those_of_scikit_learn() -> None:
    x = draw(300, 6)
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    expected = PCA(3).fit_transform(standard)
    axes = principal_axes(standard, None, 3)
    same_up_to_sign((standard - standard.mean(axis=0)) @ axes, expected)
    found, points = fit_map(x, None, standardize=True, reduce=("pca", 3))
    same_up_to_sign(points, expected / expected.std(axis=0))
    assert found is not None
    np.testing.assert_allclose(found(x), points, atol=1e-12)


def test_directions_of_no_variance_are_left_out() -> None:
    x = draw(100, 3)
    flat = np.column_stack([x, x @ [1.0, 2.0, -1.0], np.ones(100)])
    _, points = fit_map(flat, None, standardize=True, reduce="pca")
    assert points.shape == (100, 3)
    _, alone = fit_map(np.ones((5, 4)), None, standardize=True, reduce="pca")
    assert np.array_equal(alone, np.zeros((5, 1)))
    _, few = fit_map(draw(3, 40), None, standardize=True, reduce="pca")
    assert few.shape == (3, 2)


def test_maps_read_back() -> None:
    for reduce in (None, "pca", ("pca", 2)):
        for standardize in (True, False):
            found, points = fit_map(draw(), None, standardize=standardize, reduce=reduce)
            assert found is not None
            again = FeatureMap.of(found.to_dict())
            assert np.array_equal(again(draw()), points)


def test_transformers_fitted_and_not() -> None:
    x = draw()
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = rng.random(200) < p
    fitted = make_pipeline(StandardScaler(), PCA(2)).fit(x[:100])
    measure = LocalError(reduce=fitted)
    by_hand = LocalError()
    np.testing.assert_allclose(
        measure.gaps(p, y, x), by_hand.gaps(p, y, fitted.transform(x)), atol=1e-12
    )
    unfitted = PCA(2)
    found = LocalError(reduce=unfitted).gaps(p, y, x)
    assert not hasattr(unfitted, "components_")
    np.testing.assert_allclose(
        found, by_hand.gaps(p, y, PCA(2).fit_transform(x)), rtol=0, atol=1e-9
    )

    class Broken:
        def transform(self, rows: np.ndarray) -> np.ndarray:
            return np.full((len(rows), 1), np.nan)

    with pytest.raises(tu.InputError, match="a transformer that gives 200 rows of finite"):
        LocalError(reduce=Broken())(p, y, x)


def test_tsne_is_that_of_scikit_learn_and_has_no_map() -> None:
    x = draw(40, 4)
    found, points = fit_map(x, None, standardize=True, reduce="tsne")
    assert found is None
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    with threadpool_limits(1):
        expected = TSNE(2, perplexity=13, init="pca", random_state=0).fit_transform(standard)
    np.testing.assert_allclose(points.std(axis=0), 1, atol=1e-9)
    np.testing.assert_allclose(points, (expected - expected.mean(0)) / expected.std(0), atol=1e-4)
    with pytest.raises(tu.InputError, match="at least 4 rows for t-SNE"):
        fit_map(x[:3], None, standardize=True, reduce="tsne")
    rng = np.random.default_rng(0)
    p = rng.random(40)
    assert 0 <= LocalError(reduce=("tsne", 1))(p, p > 0.5, x) <= 1


def test_reading() -> None:
    assert read_features([1, 2, 3], 3, "X").shape == (3, 1)
    with pytest.raises(tu.InputError, match=r"`features` must be finite; got inf in row 2"):
        read_features([1, 2, np.inf], 3, "X")
    with pytest.raises(tu.InputError, match="one row of numbers per sample"):
        read_features(np.zeros((2, 2, 2)), 2, "X")


def test_new_rows_far_out_stay_finite() -> None:
    scaling = Scaling.fit(np.array([[0.0], [1e-300]]), None)
    assert np.isfinite(scaling(np.array([[1e308], [-1e308]]))).all()
