"""Choosing among recalibrators: by out-of-fold proper scores, the simplest within one error."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.model_selection import KFold, ShuffleSplit

from support.samples import matrix_samples
from trueup import InputError, interval
from trueup.metrics import brier, log_loss, rmsce_debiased
from trueup.recalibrate.auto.auto_calibration import AutoCalibration
from trueup.recalibrate.auto.candidates import default_candidates, not_tried
from trueup.recalibrate.binning.histogram import HistogramBinning
from trueup.recalibrate.binning.scaling_binning import ScalingBinning
from trueup.recalibrate.compose.groupwise import GroupwiseCalibration
from trueup.recalibrate.identity import IdentityCalibration
from trueup.recalibrate.scaling.beta import BetaCalibration
from trueup.recalibrate.scaling.platt import PlattScaling
from trueup.tables import ResultTable

CANDIDATES = [PlattScaling(), BetaCalibration(), HistogramBinning()]


def draw(n: int = 600, power: float = 3.0, k: int = 2, seed: int = 0) -> tuple:
    """Rows that are overconfident for powers above 1, and labels."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(k), n)
    labels = (truth.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    probs = truth**power
    probs /= probs.sum(axis=1, keepdims=True)
    return (probs[:, 1] if k == 2 else probs), labels


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("rank_by", ["log_loss", "brier"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_table_against_a_loop_over_folds(k: int, rank_by: str, weighted: bool) -> None:
    probs, labels = draw(k=k)
    weights = np.random.default_rng(0).integers(1, 4, 600).astype(float) if weighted else None
    folds = list(KFold(3).split(probs))
    found = AutoCalibration(CANDIDATES, cv=folds, rank_by=rank_by).fit(probs, labels, weights)
    table = found.table_
    assert isinstance(table, ResultTable)
    metric = {"log_loss": log_loss, "brier": brier}[rank_by]
    out_of_fold = {}
    for candidate in [IdentityCalibration(), *CANDIDATES]:
        rows = np.empty((600, k))
        for train, test in folds:
            w = None if weights is None else weights[train]
            candidate.fit(probs[train], labels[train], w)
            rows[test] = candidate.predict_proba(probs[test])
        out_of_fold[type(candidate).__name__] = rows[:, 1] if k == 2 else rows
    for row, name in enumerate(table["candidate"]):
        given = out_of_fold[name]
        assert table["score"][row] == pytest.approx(metric(given, labels, weights=weights))
        error = interval(rmsce_debiased, given, labels, weights=weights)
        assert table["error"][row] == pytest.approx(error.estimate, abs=1e-12)
        assert table["error_high"][row] == pytest.approx(error.high, abs=1e-12)
    assert (np.diff(table["score"]) >= 0).all()
    assert (table["difference"] == table["score"] - table["score"][0]).any()
    first, last = (out_of_fold[table["candidate"][row]] for row in (0, -1))

    def losses(given: np.ndarray) -> np.ndarray:
        return np.array([metric(given[i : i + 1], labels[i : i + 1]) for i in range(600)])

    away = losses(last) - losses(first)
    w = np.ones(600) if weights is None else weights
    mean = np.average(away, weights=w)
    se = math.sqrt(600 / 599 * np.sum((w * (away - mean)) ** 2)) / w.sum()
    assert table["difference"][-1] == pytest.approx(mean)
    assert table["difference_se"][-1] == pytest.approx(se)


def test_the_simplest_within_one_standard_error() -> None:
    for seed in range(6):
        probs, labels = draw(300, power=1.3, seed=seed)
        found = AutoCalibration(CANDIDATES).fit(probs, labels)
        table = found.table_
        good = table["difference"] <= table["difference_se"]
        expected = table["candidate"][good][np.argmin(table["simplicity"][good])]
        assert found.best_name_ == expected == table["candidate"][table["chosen"]][0]
        assert type(found.best_).__name__ == expected


def test_calibrated_rows_are_left_alone_and_crooked_ones_mended() -> None:
    left_alone = 0
    for seed in range(10):
        calibrated = AutoCalibration(CANDIDATES).fit(*draw(power=1.0, seed=seed))
        left_alone += isinstance(calibrated.best_, IdentityCalibration)
        mended = AutoCalibration(CANDIDATES).fit(*draw(seed=seed))
        assert not isinstance(mended.best_, IdentityCalibration)
    assert left_alone >= 7


def test_one_row_of_infinite_log_loss_is_no_matter_of_one_standard_error() -> None:
    probs, labels = draw(300, power=1.0, seed=3)
    assert isinstance(AutoCalibration(CANDIDATES).fit(probs, labels).best_, IdentityCalibration)
    probs[0], labels[0] = 1.0, 0
    found = AutoCalibration(CANDIDATES[:2]).fit(probs, labels)
    table = found.table_
    raw = table["candidate"] == "IdentityCalibration"
    assert table["zeros"][raw] == [1]
    assert table["difference"][raw] == pytest.approx(table["difference_se"][raw], rel=0.05)
    assert found.best_name_ == "PlattScaling"
    words = "IdentityCalibration assigned probability 0 to the observed class of at least one row"
    assert words in found.explanation_
    by_brier = AutoCalibration(CANDIDATES[:2], rank_by="brier").fit(probs, labels)
    assert isinstance(by_brier.best_, IdentityCalibration)


def test_it_answers_as_the_chosen_one_fitted_on_all_rows() -> None:
    probs, labels = draw(k=3)
    names = np.array(["ant", "bee", "cat"])[labels]
    found = AutoCalibration(CANDIDATES).fit(probs, names)
    again = type(found.best_)().fit(probs, names)
    assert np.array_equal(found.predict_proba(probs), again.predict_proba(probs))
    assert np.array_equal(found.predict(probs), again.predict(probs))
    assert found.best_.classes_.tolist() == found.classes_.tolist() == ["ant", "bee", "cat"]


def test_the_explanation_names_what_was_chosen_and_why() -> None:
    found = AutoCalibration({"line": PlattScaling(), "curve": BetaCalibration()}).fit(*draw())
    words = found.explanation_
    assert found.best_name_ in ("line", "curve")
    assert words.startswith("Compared 3 candidates by out-of-fold log loss (")
    assert "(600 rows, 5 folds)" in words
    assert "Compared with no recalibration, it lowers the log loss by " in words
    assert found.best_name_ in words
    alone = AutoCalibration(CANDIDATES).fit(*draw(power=1.0, seed=1))
    assert isinstance(alone.best_, IdentityCalibration)
    assert "The debiased calibration error is" in alone.explanation_


def test_deterministic_and_seeded() -> None:
    probs, labels = draw(200)
    one, two = (AutoCalibration(CANDIDATES).fit(probs, labels).results_ for _ in range(2))
    for name, column in one.items():
        assert np.array_equal(column, two[name])
    other = AutoCalibration(CANDIDATES, random_state=1).fit(probs, labels).results_
    assert (other["score"] != one["score"]).any()


@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
def test_random_states_are_those_of_scikit_learn(kind) -> None:
    probs, labels = draw(200)
    same = [
        AutoCalibration(CANDIDATES, random_state=kind(3)).fit(probs, labels).results_["score"]
        for _ in range(2)
    ]
    assert np.array_equal(*same)
    cut = [
        ScalingBinning(n_bins=4, split=True, random_state=kind(3)).fit(probs, labels).outputs_[0]
        for _ in range(2)
    ]
    assert np.array_equal(*cut)
    ScalingBinning(n_bins=4, split=True, random_state=None).fit(probs, labels)


def test_folds_hold_each_class_evenly() -> None:
    seen = []

    class Looks(IdentityCalibration):
        """Remembers the labels it is fitted on."""

        def _fit(self, data: object) -> None:
            seen.append(np.bincount(data.labels, minlength=3))  # type: ignore[attr-defined]

    probs, _ = draw(100, k=3)
    labels = np.repeat([0, 1, 2], [50, 45, 5])
    AutoCalibration({"look": Looks()}, cv=5).fit(probs, labels)
    # IdentityCalibration is not put before one of its own kind.
    assert [counts.tolist() for counts in seen[:5]] == [[40, 36, 4]] * 5


def test_rows_of_weight_0_are_as_if_not_there() -> None:
    probs, labels = draw(300)
    weights = np.where(np.arange(300) % 3, 1.0, 0.0)
    kept = weights > 0
    one = AutoCalibration(CANDIDATES).fit(probs, labels, weights)
    two = AutoCalibration(CANDIDATES).fit(probs[kept], labels[kept])
    np.testing.assert_allclose(one.table_["score"], two.table_["score"])
    splits = list(KFold(3).split(probs))
    by_hand = AutoCalibration(CANDIDATES, cv=splits).fit(probs, labels, weights)
    place = np.cumsum(kept) - 1
    fewer = [tuple(place[part[kept[part]]] for part in split) for split in splits]
    again = AutoCalibration(CANDIDATES, cv=fewer).fit(probs[kept], labels[kept])
    np.testing.assert_allclose(by_hand.table_["score"], again.table_["score"])


@settings(max_examples=20)
@given(sample=matrix_samples)
def test_any_rows_give_probabilities(sample) -> None:
    found = AutoCalibration(CANDIDATES, cv=3).fit(sample.probs, sample.labels, sample.weights)
    rows = found.predict_proba(sample.probs)
    assert (rows >= 0).all()
    assert (rows <= 1).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-12)
    for name, column in found.results_.items():
        assert name == "candidate" or np.isfinite(column).all()


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_few_rows(n: int) -> None:
    probs, labels = draw(n, k=3)
    found = AutoCalibration().fit(probs, labels)
    rows = found.predict_proba(probs)
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-12)
    assert found.explanation_


def test_default_candidates_depend_on_rows_and_classes() -> None:
    few = list(default_candidates(25, 2))
    assert few == ["IdentityCalibration", "TemperatureScaling", "PlattScaling"]
    many = list(default_candidates(5000, 2))
    assert many[:4] == [*few, "BetaCalibration"]
    assert "IsotonicCalibration" in many
    assert "MatrixScaling" not in many
    assert "VectorScaling" not in many
    assert list(default_candidates(5000, 10))[-1] == "MatrixScaling"
    assert "MatrixScaling" not in default_candidates(1000, 10)
    assert "VectorScaling" in default_candidates(50_000, 1000)
    assert "IsotonicCalibration" not in default_candidates(50_000, 1000)
    assert {"ScalingBinning", "BayesianBinning"} <= set(default_candidates(5000, 20))
    assert {"ScalingBinning", "BayesianBinning"}.isdisjoint(default_candidates(5000, 21))
    assert "VennAbers" in default_candidates(5000, 100)
    assert "VennAbers" not in default_candidates(5000, 101)


def test_the_explanation_says_what_was_not_tried() -> None:
    assert not_tried(5000, 2) == not_tried(5000, 10) == ""
    assert not_tried(25, 2).startswith("Not tried: BetaCalibration, ScalingBinning")
    assert not_tried(25, 2).endswith("VennAbers (too few rows).")
    costly = "ScalingBinning, BayesianBinning, DirichletCalibration, MatrixScaling"
    assert not_tried(5000, 50) == f"Not tried: {costly} (too costly for this many classes)."
    assert AutoCalibration().fit(*draw(25)).explanation_.endswith(not_tried(25, 2))
    assert "Not tried" not in AutoCalibration(CANDIDATES).fit(*draw(25)).explanation_


def test_candidates_with_a_fit_of_their_own() -> None:
    probs, labels = draw(200)
    inner = {
        "groups": GroupwiseCalibration(PlattScaling()),
        "auto": AutoCalibration([PlattScaling()]),
    }
    found = AutoCalibration(inner).fit(probs, labels)
    assert found.notes_ == []
    assert set(found.table_["candidate"]) == {"IdentityCalibration", "groups", "auto"}


def test_a_candidate_that_cannot_be_fitted_is_noted() -> None:
    class Refuses(PlattScaling):
        """Rejects any data."""

        def _fit(self, data: object) -> None:
            raise InputError(None, "never")

    found = AutoCalibration([Refuses(), PlattScaling()]).fit(*draw())
    assert found.notes_ == ["Refuses was skipped: never."]
    assert found.best_name_ == "PlattScaling"


def test_what_is_refused() -> None:
    probs, labels = draw(50)
    with pytest.raises(InputError, match=r"`candidates\['str'\]` must be a recalibrator"):
        AutoCalibration(["platt"]).fit(probs, labels)
    with pytest.raises(InputError, match="`n_bins` must be a whole number of at least 1; got 0"):
        AutoCalibration([HistogramBinning(n_bins=0)]).fit(probs, labels)
    with pytest.raises(InputError, match="`candidates` must be a list"):
        AutoCalibration(PlattScaling()).fit(probs, labels)
    with pytest.raises(InputError, match='`rank_by` must be "log_loss" or "brier"'):
        AutoCalibration(rank_by="ece").fit(probs, labels)
    for cv in (1, "five", 2.5):
        with pytest.raises(InputError, match="`cv` must be a whole number of at least 2"):
            AutoCalibration(cv=cv).fit(probs, labels)
    with pytest.raises(InputError, match="test a row more than once"):
        AutoCalibration(cv=ShuffleSplit(5)).fit(probs, labels)
    with pytest.raises(InputError, match="both training and test rows"):
        AutoCalibration(cv=[]).fit(probs, labels)


def test_two_of_a_kind_have_names_of_their_own() -> None:
    twice = AutoCalibration([PlattScaling(), PlattScaling(target="platt")]).fit(*draw())
    assert set(twice.table_["candidate"]) == {
        "IdentityCalibration",
        "PlattScaling",
        "PlattScaling 2",
    }
