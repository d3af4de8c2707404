"""Real predictions as a newcomer has them: a file and no options."""

from __future__ import annotations

import numpy as np
import pytest

from support.command_line import json_of
from trueup.io import open_table, write_table

QUICK = ("--resamples", "99", "--quick")


def test_two_columns_of_forecasts(run, real_data) -> None:
    games = np.load(real_data / "fivethirtyeight_games.npz", allow_pickle=False)
    write_table("mlb.csv", {"forecast": games["mlb_games__p"], "won": games["mlb_games__y"]})
    result = run("evaluate", "mlb.csv", *QUICK, "--json")
    assert "using column forecast, label won" in result.stderr
    found = json_of(result)
    assert "no evidence of miscalibration" in found["verdict"]
    assert found["overview"]["n"] == 15748
    assert found["scores"][0]["interval"]["estimate"] == pytest.approx(0.2399, abs=5e-5)


@pytest.mark.slow
def test_a_network_of_many_classes(run, real_data) -> None:
    """100 columns; a part of the rows, so that it takes no time."""
    networks = np.load(real_data / "netcal_cifar_probs.npz", allow_pickle=False)
    name = "wideresnet_16_4_cifar_100"
    probs, labels = networks[f"{name}__p"][:3000], networks[f"{name}__y"][:3000]
    write_table("net.csv", {"p": probs, "label": labels})
    result = run("evaluate", "net.csv", *QUICK)
    assert "using columns p_0 … p_99, label label" in result.stderr
    text = " ".join(result.stdout.split())
    assert text.startswith("The probabilities are miscalibrated (p ≤ 0.01, 3,000 rows).")
    assert "The model is overconfident: mean confidence" in text
    assert "The 5 worst of 100 classes" in text
    run("fit", "net.csv", "--method", "temperature", "-o", "c.json")
    run("apply", "c.json", "net.csv", "-o", "fixed.csv")
    assert open_table("fixed.csv").column("label").tolist() == labels.tolist()
    found = json_of(run("compare", "net.csv", "fixed.csv", "--resamples", "99", "--json"))
    assert found["difference"] > 0


def test_what_a_language_model_says_of_itself(run, real_data) -> None:
    """Scores of seventeen different values, 1.0 and 0.0 among them."""
    said = np.load(real_data / "llm_verbal_confidence.npz", allow_pickle=False)
    rows = said["llm"] == said["llm_names"].tolist().index("gpt-4o")
    sets = said["qset_names"][said["qset"][rows]]
    columns = {"set": sets, "confidence": said["stated"][rows], "correct": said["correct"][rows]}
    write_table("llm.csv", columns)
    result = run("evaluate", "llm.csv", "--groups", "set", *QUICK)
    assert "using column confidence, label correct, groups set" in result.stderr
    text = " ".join(result.stdout.split())
    assert "Probabilities are too high: the mean prediction is" in text
    assert "5 of 5 groups are shown to be miscalibrated" in text
    assert "lsat_ar_test" in text
