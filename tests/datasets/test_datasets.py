"""The datasets to start with: the same everywhere, and what they say is true of them holds."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from trueup import datasets
from trueup.datasets import LOADERS, Dataset

SEEDS = range(3)
FAR = 4.0  # standard errors
# Of labels and of what a file holds, both of which are rounded: the same on every platform.
DIGESTS = {
    "clinic": "d8e68addbe3d3b81",
    "tumors": "9bc0b641ffb43f3c",
    "network": "0c5f63b3b60e8279",
    "language_models": "7e2abb1711b1e815",
}
each_dataset = pytest.mark.parametrize("name", LOADERS)
each_seed = pytest.mark.parametrize("seed", SEEDS)


def digest(data: Dataset) -> str:
    found = hashlib.sha256(np.ascontiguousarray(data.labels, dtype="<i8").tobytes())
    found.update(np.ascontiguousarray(data.true_probs, dtype="<f8").tobytes())
    for column in data.table.data.values():
        text = column.dtype.kind == "U"
        found.update("\n".join(column).encode() if text else column.astype("<f8").tobytes())
    return found.hexdigest()[:16]


@each_dataset
def test_it_never_changes(name: str) -> None:
    assert digest(LOADERS[name]()) == DIGESTS[name]


@each_dataset
def test_other_seeds_are_other_rows(name: str) -> None:
    first, second = LOADERS[name](seed=1), LOADERS[name](seed=2)
    assert digest(first) != digest(second)
    assert first.n == second.n


@each_dataset
@each_seed
def test_labels_follow_the_true_probabilities(name: str, seed: int) -> None:
    """In every tenth of the rows in the order of a true probability, and for every class."""
    data = LOADERS[name](seed=seed)
    true = data.true_probs
    columns = true.T if true.ndim == 2 else [true]
    for k, p in enumerate(columns):
        happened = data.labels == (k if true.ndim == 2 else 1)
        for rows in np.array_split(np.argsort(p), 10):
            error = np.sqrt((p[rows] * (1 - p[rows])).sum())
            assert abs((happened[rows] - p[rows]).sum()) < FAR * error


@pytest.mark.parametrize("load", [datasets.clinic, datasets.tumors])
@each_seed
def test_slope_and_oe_ratio_are_the_known_ones(load, seed: int) -> None:
    data = load(seed=seed)
    fit = tu.cox(data)
    assert abs(fit.slope - data.known["slope"]) < FAR * fit.slope_error
    error = np.sqrt((data.true_probs * (1 - data.true_probs)).sum()) / data.probs.sum()
    assert abs(tu.oe_ratio(data) - data.known["oe_ratio"]) < FAR * error


@pytest.mark.parametrize("load", [datasets.clinic, datasets.tumors])
def test_errors_are_those_of_the_true_probabilities(load) -> None:
    """Labels that are the true probabilities have no noise: the binned error is a lower bound."""
    data = load()
    true = tu.Forecasts.from_arrays(data.probs, data.true_probs, soft_labels=True)
    for name, norm in (("l1_error", 1), ("l2_error", 2)):
        binned = tu.BinnedError(binning=tu.EqualMass(100), norm=norm)(true)
        assert 0.98 * data.known[name] < binned <= data.known[name] + 1e-9


@each_seed
def test_the_temperature_is_the_known_one(seed: int) -> None:
    """A standard error is that of the slope of the logits, by their Fisher information."""
    data = datasets.network(seed=seed)
    scaled = data.logits / data.known["temperature"]
    mean = (data.true_probs * scaled).sum(axis=1, keepdims=True)
    information = (data.true_probs * (scaled - mean) ** 2).sum()
    error = data.known["temperature"] / np.sqrt(information)
    found = tu.TemperatureScaling(logits=True).fit(data.logits, data.labels).temperature_
    assert abs(found - data.known["temperature"]) < FAR * error
    two = datasets.tumors(seed=seed)
    logit, spread = np.log(two.probs / (1 - two.probs)), two.true_probs * (1 - two.true_probs)
    slope = 1 / tu.TemperatureScaling().fit(two).temperature_
    assert abs(slope - 1 / two.known["temperature"]) < FAR / np.sqrt((spread * logit**2).sum())


@each_seed
def test_accuracy_and_confidence_of_the_network(seed: int) -> None:
    data = datasets.network(seed=seed)
    confidence, predicted = data.top
    assert data.known["confidence"] == pytest.approx(confidence.mean())
    error = np.sqrt(data.known["accuracy"] * (1 - data.known["accuracy"]) / data.n)
    assert abs((predicted == data.labels).mean() - data.known["accuracy"]) < FAR * error


@each_seed
def test_gaps_of_the_language_models(seed: int) -> None:
    data = datasets.language_models(seed=seed)
    assert len(data.known) == 20
    for group, gap in data.known.items():
        here = data.groups == group
        true = data.true_probs[here]
        error = np.sqrt((true * (1 - true)).sum()) / here.sum()
        assert abs((data.labels - data.probs)[here].mean() - gap) < FAR * error
    assert data.known["alder geography"] == 0


@each_dataset
def test_they_go_in_directly(name: str) -> None:
    data = LOADERS[name]()
    found = tu.evaluate(data, recalibrate=False, advice=False, n_resamples=99, metrics=["ece"])
    assert found.status == "miscalibrated"
    assert tu.ece(data) == tu.ece(data.probs, data.labels)


@each_dataset
def test_some_rows_keep_their_truth(name: str) -> None:
    data = LOADERS[name]()
    some = data.take(np.array([5, 3, 3]))
    assert isinstance(some, Dataset)
    np.testing.assert_array_equal(some.true_probs, data.true_probs[[5, 3, 3]])
    np.testing.assert_array_equal(some.probs, data.probs[[5, 3, 3]])
    assert [len(column) for column in some.table.data.values()] == [3] * len(data.table.data)


@pytest.mark.parametrize(
    ("name", "file", "options"),
    [
        ("clinic", "a.csv", {"probs": "risk", "labels": "died", "groups": "hospital"}),
        ("tumors", "a.parquet", {"labels": "malignant"}),
        ("network", "a.npz", {"logits": True}),
        ("network", "a.csv", {"logits": True}),
        ("language_models", "a.csv", {"groups": "task"}),
    ],
)
def test_files_hold_what_the_dataset_does(tmp_path: Path, name, file, options) -> None:
    data = LOADERS[name]()
    assert data.save(tmp_path / file) == [tmp_path / file]
    read = tu.read(tmp_path / file, **options)
    np.testing.assert_array_equal(read.labels, data.labels)
    np.testing.assert_array_equal(read.rows(slice(0, 50)), data.rows(slice(0, 50)))
    assert list(data.to_frame().columns)[-1] == list(data.table)[-1]


@pytest.mark.parametrize("format", [None, "parquet"])
def test_a_folder_has_a_file_for_each_group(tmp_path: Path, format) -> None:
    data = datasets.clinic()
    files = data.save(tmp_path / "days", format=format)
    assert sorted(files) == sorted((tmp_path / "days").iterdir())
    assert {file.suffix for file in files} == {f".{format or 'csv'}"}
    assert sum(tu.read(file, probs="risk", labels="died").n for file in files) == data.n


def test_bad_arguments() -> None:
    with pytest.raises(tu.InputError, match="`seed` must be"):
        datasets.clinic(seed=-1)
    with pytest.raises(tu.InputError, match="because this dataset has no groups"):
        datasets.tumors().save("folder")


def test_descriptions_and_texts() -> None:
    for name, load in LOADERS.items():
        data = load()
        assert repr(data).startswith(f"Dataset {name}: {data.n:,} samples")
        assert data.description.endswith(".")
