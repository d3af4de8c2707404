"""Błasiok & Nakkiran 2023 on real predictions: the width found is the width that fits."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from oracles import smooth as oracle
from trueup.estimators.bin_free.smooth import SmoothError

KANGSEPP = {
    "resnet110_c10": 0.0475,  # the authors' package gives 0.0707
    "densenet40_c10": 0.0549,
    "resnet110_c100": 0.1848,
    "densenet40_c100": 0.2116,
    "resnet50_birds": 0.0175,
}


def assert_fits(p: np.ndarray, y: np.ndarray) -> float:
    """The exact integral equals the width to 1e-9; it decreases, so no other width fits."""
    found = SmoothError()(p, y)
    left = oracle.integrated_residual(oracle.residual_sums(p, y), found)
    assert left == pytest.approx(found, abs=1e-9)
    return found


def top_label(probs: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    probs = probs.astype(np.float64)
    probs /= probs.sum(axis=1, keepdims=True)
    return probs.max(axis=1), probs.argmax(axis=1) == labels


@pytest.mark.parametrize("model", KANGSEPP)
def test_kangsepp(real_data: Path, model: str) -> None:
    """Up to half of these confidences are exactly 1."""
    with np.load(real_data / "kangsepp_top1_hollance.npz", allow_pickle=False) as arrays:
        key = f"probs_{model}_logits__"
        p, y = arrays[key + "conf"], arrays[key + "y"] == arrays[key + "pred"]
    assert assert_fits(p, y) == pytest.approx(KANGSEPP[model], abs=5e-5)


@pytest.mark.slow
def test_imagenet(real_data: Path) -> None:
    with np.load(real_data / "imagenet_top1_hollance.npz", allow_pickle=False) as arrays:
        for name in (name.removesuffix("__conf") for name in arrays if name.endswith("__conf")):
            assert_fits(arrays[name + "__conf"], arrays[name + "__y"] == arrays[name + "__pred"])


def test_cifar(real_data: Path) -> None:
    with np.load(real_data / "netcal_cifar_probs.npz", allow_pickle=False) as arrays:
        for name in (name.removesuffix("__p") for name in arrays if name.endswith("__p")):
            assert_fits(*top_label(arrays[name + "__p"], arrays[name + "__y"]))
    with np.load(real_data / "verifiedcal_cifar10_vgg16_probs.npz", allow_pickle=False) as arrays:
        assert_fits(*top_label(arrays["p"], arrays["y"]))


def test_tables(real_data: Path) -> None:
    """The binary columns of every table, and the top label of the one with four classes."""
    tables = real_data / "tabular"

    def read(name: str) -> dict[str, np.ndarray]:
        rows = list(csv.DictReader((tables / f"{name}.csv").open(encoding="utf-8")))
        return {column: np.array([row[column] for row in rows]) for column in rows[0]}

    rain = read("precip_niamey_2016")
    for forecast in ("Logistic", "EMOS", "ENS", "EPC"):
        assert_fits(rain[forecast].astype(float), rain["obs"].astype(float) == 1)
    two = read("two_class_example")
    assert_fits(two["Class1"].astype(float), two["truth"] == "Class1")
    for name in ("segment_logistic", "segment_naive_bayes"):
        cells = read(name)
        assert_fits(cells[".pred_good"].astype(float), cells["Class"] == "good")
    percent = read("verification_prob_frcs")
    assert_fits(percent["frcst"].astype(float) / 100, percent["obs"].astype(float) == 1)
    jobs = read("hpc_cv")
    classes = np.array(["VF", "F", "M", "L"])
    probs = np.column_stack([jobs[name].astype(float) for name in classes])
    assert_fits(*top_label(probs, np.argmax(jobs["obs"][:, None] == classes, axis=1)))


def test_games(real_data: Path) -> None:
    with np.load(real_data / "fivethirtyeight_games.npz", allow_pickle=False) as arrays:
        for name in (name.removesuffix("__p") for name in arrays if name.endswith("__p")):
            assert_fits(arrays[name + "__p"], arrays[name + "__y"])


def test_stated_confidence_of_language_models(real_data: Path) -> None:
    with np.load(real_data / "llm_verbal_confidence.npz", allow_pickle=False) as arrays:
        stated, correct = arrays["stated"], arrays["correct"]
        groups = arrays["llm"].astype(np.int64) * 1000 + arrays["qset"]
    inside = (stated >= 0) & (stated <= 1)
    for group in np.unique(groups[inside]):
        rows = inside & (groups == group)
        assert_fits(stated[rows], correct[rows])
