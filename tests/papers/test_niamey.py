"""Dimitriadis, Gneiting & Jordan 2021: rain at Niamey, four forecasts decomposed."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

import trueup as tu

# mean_score, miscalibration, discrimination, uncertainty as the authors' R package prints them
# (reliabilitydiag 0.1.4, reference page of summary.reliabilitydiag): three significant digits
PUBLISHED = {
    "Logistic": ("0.206", "0.0171", "0.0555", "0.244"),
    "EMOS": ("0.232", "0.0183", "0.0305", "0.244"),
    "ENS": ("0.266", "0.0661", "0.0441", "0.244"),
    "EPC": ("0.234", "0.0223", "0.0323", "0.244"),
}
each_forecast = pytest.mark.parametrize("name", PUBLISHED)


@pytest.fixture(scope="module")
def rain(real_data: Path) -> dict[str, np.ndarray]:
    """The 92 days by column."""
    path = real_data / "tabular" / "precip_niamey_2016.csv"
    if not path.is_file():
        pytest.skip("the forecasts for Niamey, precip_niamey_2016.csv, are absent")
    with path.open() as lines:
        rows = list(csv.DictReader(lines))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


@each_forecast
def test_published_brier_decomposition(rain: dict[str, np.ndarray], name: str) -> None:
    found = tu.Brier().decompose(rain[name], rain["obs"])
    terms = (found.score, found.miscalibration, found.discrimination, found.uncertainty)
    assert tuple(f"{term:.3g}" for term in terms) == PUBLISHED[name]


def test_emos_to_four_digits(rain: dict[str, np.ndarray]) -> None:
    text = "0.2320 = 0.0183 miscalibration − 0.0305 discrimination + 0.2442 uncertainty"
    assert str(tu.Brier().decompose(rain["EMOS"], rain["obs"])) == text


@each_forecast
@pytest.mark.parametrize("score", [tu.Brier(), tu.LogLoss()], ids=repr)
def test_scikit_learn_gives_the_same(
    rain: dict[str, np.ndarray], name: str, score: tu.Brier | tu.LogLoss
) -> None:
    """Not published: all digits of both scores from an isotonic fit that is not ours."""
    p, y = rain[name], rain["obs"]
    fit = IsotonicRegression().fit_transform(p, y)
    best, base = score(fit, y), score(np.full(len(y), y.mean()), y)
    found = score.decompose(p, y)
    assert found.score == pytest.approx(score(p, y), abs=1e-13)
    assert found.miscalibration == pytest.approx(score(p, y) - best, abs=1e-12)
    assert found.discrimination == pytest.approx(base - best, abs=1e-12)
    assert found.uncertainty == pytest.approx(base, abs=1e-13)


def test_rain_is_predicted_best_by_the_statistical_model(rain: dict[str, np.ndarray]) -> None:
    """The paper's reading: Logistic has the highest skill, ENS loses to climatology."""
    skill = {name: tu.Brier().decompose(rain[name], rain["obs"]).skill for name in PUBLISHED}
    assert max(skill, key=skill.__getitem__) == "Logistic"
    assert min(skill, key=skill.__getitem__) == "ENS"
    assert skill["ENS"] < 0
