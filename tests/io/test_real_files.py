"""Real predictions, read as a newcomer would: the published figures come out."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueup as tu
from trueup.io import read, read_forecasts


@pytest.mark.parametrize(
    ("name", "said", "ece"),
    [
        ("tabular/hpc_cv.csv", "using columns VF, F, M, L, label obs (Resample not used)", 7.12),
        ("tabular/two_class_example.csv", "using columns Class1, Class2, label truth", 5.53),
        ("verifiedcal_cifar10_vgg16_probs.npz", "using column p, label y", 3.978),
    ],
)
def test_good_guesses(real_data: Path, name: str, said: str, ece: float) -> None:
    found = read_forecasts(real_data / name)
    assert found.text == said
    assert 100 * tu.ece(found.forecasts) == pytest.approx(ece, abs=0.005)


@pytest.mark.parametrize(("name", "brier"), [("logistic", 0.1398), ("naive_bayes", 0.2161)])
def test_columns_of_tidymodels(real_data: Path, name: str, brier: float) -> None:
    found = read_forecasts(real_data / f"tabular/segment_{name}.csv")
    assert found.text == "using columns .pred_poor, .pred_good, label Class"
    assert found.forecasts.classes == ("poor", "good")
    assert tu.brier(found.forecasts) == pytest.approx(brier, abs=5e-5)


def test_confidence_and_predicted_class(real_data: Path) -> None:
    path = real_data / "imagenet_top1_hollance.npz"
    with pytest.raises(tu.InputError, match=r"holds 14 sets of predictions: timm_densenetb"):
        read(path)
    found = read_forecasts(path, probs="tv_densenet161__conf")
    assert "prediction tv_densenet161__pred" in found.text
    assert 100 * found.forecasts.labels.mean() == pytest.approx(77.138, abs=5e-4)
    assert 100 * tu.ece(found.forecasts) == pytest.approx(5.642, abs=5e-4)


def test_sets_by_model(real_data: Path) -> None:
    path = real_data / "netcal_cifar_probs.npz"
    with pytest.raises(tu.InputError, match="lenet_5_cifar_10__p with lenet_5_cifar_10__y"):
        read(path)
    f = read(path, probs="wideresnet_16_4_cifar_100__p")
    assert f.n_classes == 100
    assert 100 * tu.ece(f) == pytest.approx(5.806, abs=5e-4)
    games = read(real_data / "fivethirtyeight_games.npz", probs="mlb_games__p")
    assert (games.n, round(tu.brier(games), 4)) == (15748, 0.2399)


def test_stated_confidence(real_data: Path) -> None:
    path = real_data / "llm_verbal_confidence.npz"
    with pytest.raises(tu.InputError, match="columns with values between 0 and 1: stated, token"):
        read(path)
    assert read_forecasts(path, probs="stated").text == "using column stated, label correct"
    with pytest.raises(tu.InputError, match="62940 of 72185 rows have missing values"):
        read(path, probs="token")
    assert read(path, probs="token", drop_missing=True).n == 72185 - 62940


def test_several_forecasters_and_percentages(real_data: Path) -> None:
    path = real_data / "tabular/precip_niamey_2016.csv"
    with pytest.raises(
        tu.InputError, match="columns with values between 0 and 1: Logistic, EMOS, ENS, EPC"
    ):
        read(path)
    assert tu.brier(read(path, probs="EMOS")) == pytest.approx(0.2320, abs=5e-5)
    with pytest.raises(tu.InputError, match=r"'frcst' .* got 40 .* divide percentages by 100"):
        read(real_data / "tabular/verification_prob_frcs.csv")
