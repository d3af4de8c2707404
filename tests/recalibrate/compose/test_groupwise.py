"""One copy for each group, and one for all where a group is small, unknown or missing."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
import sklearn
from hypothesis import given
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from support.samples import matrix_samples
from trueup import Forecasts, InputError
from trueup.recalibrate.compose.groupwise import GroupwiseCalibration
from trueup.recalibrate.scaling.platt import PlattScaling


def draw(n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities that are too high for "a", too low for "b"; "tiny" has few rows."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(["a", "b", "tiny"], n, p=[0.6, 0.35, 0.05])
    z = rng.normal(size=n)
    shift = np.select([groups == "a", groups == "b"], [-1.0, 1.0])
    labels = (rng.random(n) < 1 / (1 + np.exp(-z - shift))).astype(int)
    return 1 / (1 + np.exp(-z)), labels, groups


def test_every_group_has_its_own_and_others_the_one_for_all() -> None:
    probs, labels, groups = draw()
    found = GroupwiseCalibration(PlattScaling()).fit(probs, labels, groups=groups)
    assert found.groups_ == ["a", "b"]
    alone = {g: PlattScaling().fit(probs[groups == g], labels[groups == g]) for g in "ab"}
    together = PlattScaling().fit(probs, labels)
    answers = found.predict_proba(probs, groups=groups)
    for group, answer, p in zip(groups, answers, probs, strict=True):
        copy = alone.get(group, together)
        assert np.array_equal(answer, copy.predict_proba([p])[0])
    asked = [0.3] * 4
    for nothing in ("new", None, float("nan"), "tiny"):
        rows = found.predict_proba(asked, groups=np.array([nothing] * 4, dtype=object))
        assert np.array_equal(rows, together.predict_proba(asked))


def test_weights_and_rows_of_weight_0() -> None:
    probs, labels, groups = draw()
    weights = np.random.default_rng(1).integers(0, 3, len(probs))
    found = GroupwiseCalibration(PlattScaling(), min_rows=5).fit(probs, labels, weights, groups)
    rows = np.repeat(np.arange(len(probs)), weights)
    again = GroupwiseCalibration(PlattScaling(), min_rows=5).fit(
        probs[rows], labels[rows], groups=groups[rows]
    )
    assert found.groups_ == again.groups_ == ["a", "b", "tiny"]
    np.testing.assert_allclose(
        found.predict_proba(probs, groups=groups),
        again.predict_proba(probs, groups=groups),
        atol=1e-9,
    )


def test_min_rows_counts_rows_that_have_weight() -> None:
    probs, labels, groups = draw()
    weights = np.where((groups == "b") & (np.arange(600) % 4 > 0), 0.0, 1.0)
    assert GroupwiseCalibration(PlattScaling()).fit(probs, labels, weights, groups).groups_ == ["a"]


def test_log_loss_on_the_fit_data_does_not_rise() -> None:
    for seed in range(5):
        probs, labels, groups = draw(seed=seed)
        record = (
            GroupwiseCalibration(PlattScaling(), min_rows=20).fit(probs, labels, groups=groups).fit_
        )
        together = PlattScaling().fit(probs, labels).fit_
        assert record["log_loss_after"] <= together["log_loss_after"] + 1e-12
        assert together["log_loss_after"] <= record["log_loss_before"]


def test_a_copy_that_is_worse_than_the_one_for_all_is_not_used() -> None:
    class Spoilt(PlattScaling):
        """Worse the fewer rows it has."""

        def _fit(self, data: object) -> None:
            super()._fit(data)  # type: ignore[arg-type]
            if data.n < 600:  # type: ignore[attr-defined]
                self.maps_ = [m | {"intercept": 30.0} for m in self.maps_]

    probs, labels, groups = draw()
    found = GroupwiseCalibration(Spoilt()).fit(probs, labels, groups=groups)
    assert found.groups_ == []
    assert [note.split(":")[0] for note in found.notes_] == ["group a", "group b"]
    record = found.fit_
    assert record["log_loss_after"] <= record["log_loss_before"]


def test_without_groups_it_is_the_recalibrator_itself() -> None:
    probs, labels, _ = draw()
    found = GroupwiseCalibration(PlattScaling()).fit(probs, labels)
    assert found.groups_ is None
    same = PlattScaling().fit(probs, labels).predict_proba(probs)
    assert np.array_equal(found.predict_proba(probs), same)
    assert np.array_equal(found.predict_proba(probs, groups=["x"] * 600), same)


def test_groups_in_forecasts() -> None:
    probs, labels, groups = draw()
    forecasts = Forecasts.from_arrays(probs, labels, groups=groups)
    found = GroupwiseCalibration(PlattScaling()).fit(forecasts)
    by_hand = GroupwiseCalibration(PlattScaling()).fit(probs, labels, groups=groups)
    expected = by_hand.predict_proba(probs, groups=groups)
    assert np.array_equal(found.predict_proba(forecasts), expected)
    with pytest.raises(InputError, match="`groups` cannot be used if `X` is a Forecasts"):
        found.predict_proba(forecasts, groups=groups)


def test_numbers_names_and_class_names() -> None:
    probs, labels, groups = draw()
    numbers = np.unique(groups, return_inverse=True)[1]
    names = np.array(["no", "yes"])[labels]
    found = GroupwiseCalibration(PlattScaling()).fit(probs, names, groups=numbers)
    assert found.groups_ == [0, 1]
    by_name = GroupwiseCalibration(PlattScaling()).fit(probs, labels, groups=groups)
    expected = by_name.predict(probs, groups=groups)
    assert (found.predict(probs, groups=numbers) == np.array(["no", "yes"])[expected]).all()
    assert found.score(probs, names, groups=numbers) == by_name.score(probs, labels, groups=groups)
    rows = GroupwiseCalibration(PlattScaling()).fit_transform(probs, labels, groups=groups)
    assert np.array_equal(rows, by_name.transform(probs, groups=groups))


def test_what_is_refused() -> None:
    probs, labels, groups = draw()
    found = GroupwiseCalibration(PlattScaling()).fit(probs, labels, groups=groups)
    with pytest.raises(
        InputError, match=r"`groups` is required. Hint: the recalibrator was fitted with"
    ):
        found.predict_proba(probs)
    with pytest.raises(InputError, match="`groups` must be as long as `X`"):
        found.predict_proba(probs, groups=groups[:-1])
    with pytest.raises(InputError, match="`groups` must be as long as `X`"):
        GroupwiseCalibration(PlattScaling()).fit(probs, labels, groups=groups[:-1])
    with pytest.raises(InputError, match="one name or number per row"):
        found.predict_proba(probs, groups=groups[:, None])
    with pytest.raises(InputError, match="`min_rows` must be a whole number of at least 1"):
        GroupwiseCalibration(PlattScaling(), min_rows=0).fit(probs, labels)


@given(sample=matrix_samples, min_rows=st.integers(1, 20), seed=st.integers(0, 99))
def test_rows_are_probabilities_and_log_loss_does_not_rise(sample, min_rows, seed) -> None:
    groups = np.random.default_rng(seed).integers(0, 3, len(sample.labels))
    found = GroupwiseCalibration(PlattScaling(), min_rows=min_rows)
    found.fit(sample.probs, sample.labels, sample.weights, groups)
    rows = found.predict_proba(sample.probs, groups=groups[::-1])
    assert (rows >= 0).all()
    assert (rows <= 1).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-12)
    before, after = found.fit_["log_loss_before"], found.fit_["log_loss_after"]
    assert after <= before + 1e-9 * (1 + before)


def test_groups_by_metadata_routing() -> None:
    probs, labels, groups = draw()
    X = np.column_stack([1 - probs, probs])
    alone = GroupwiseCalibration(PlattScaling()).fit(X, labels, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        model = GroupwiseCalibration(PlattScaling())
        model.set_fit_request(groups=True, sample_weight=True)
        model.set_predict_proba_request(groups="sites").set_predict_request(groups=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        pipeline.fit(X, labels, groups=groups, sample_weight=np.ones(len(X)))
        rows = pipeline.predict_proba(X, sites=groups)
        assert np.array_equal(pipeline.predict(X, groups=groups), alone.predict(X, groups))
    np.testing.assert_allclose(rows, alone.predict_proba(X, groups=groups), atol=1e-12)


def test_a_group_of_just_enough_rows_has_its_own_copy() -> None:
    probs, labels, groups = draw()
    size = int((groups == "tiny").sum())
    for min_rows, names in ((size, ["a", "b", "tiny"]), (size + 1, ["a", "b"])):
        found = GroupwiseCalibration(PlattScaling(), min_rows=min_rows).fit(
            probs, labels, groups=groups
        )
        assert found.groups_ == names


def test_a_copy_that_is_worse_than_that_of_all_rows_is_not_kept() -> None:
    probs, labels = np.tile([0.01, 0.99], 200), np.tile([0, 1], 200)
    groups = np.repeat(["few", "many"], [10, 390])
    smoothed = PlattScaling(target="platt")  # the fewer rows, the nearer to one half
    found = GroupwiseCalibration(smoothed, min_rows=10).fit(probs, labels, groups=groups)
    assert "few" not in found.groups_
    note = "group few: the recalibrator for all rows is used, because the group's own had a higher"
    assert f"{note} log loss" in found.notes_
