"""Gupta et al. 2020: the KS error of published networks (Kängsepp's logits)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oracles import cumulative
from trueup.estimators.bin_free.cumulative import CumulativeError

# in percent, computed apart from this library and listed with the predictions
LISTED = {
    "resnet110_c10": 4.7504,
    "densenet40_c10": 5.4931,
    "resnet110_c100": 18.4805,
    "densenet40_c100": 21.1563,
}


def top_labels(real_data: Path, network: str) -> tuple[np.ndarray, np.ndarray]:
    """Confidence and whether the prediction is right."""
    path = real_data / "kangsepp_top1_hollance.npz"
    if not path.is_file():
        pytest.skip("the top-label predictions, kangsepp_top1_hollance.npz, are absent")
    with np.load(path, allow_pickle=False) as file:
        label, predicted, confidence = (
            file[f"probs_{network}_logits__{name}"] for name in ("y", "pred", "conf")
        )
    return confidence, (label == predicted).astype(np.int64)


@pytest.mark.parametrize(("network", "percent"), LISTED.items())
def test_ks_of_networks(real_data: Path, network: str, percent: float) -> None:
    confidence, right = top_labels(real_data, network)
    assert 100 * CumulativeError()(confidence, right) == pytest.approx(percent, abs=5e-5)


def test_over_confidence_everywhere_makes_ks_the_mean_gap(real_data: Path) -> None:
    """resnet110_c100 is overconfident at every score: KS, Kuiper and mean gap are one number."""
    confidence, right = top_labels(real_data, "resnet110_c100")
    gap = float(np.mean(confidence.astype(np.float64) - right))
    assert CumulativeError()(confidence, right) == pytest.approx(gap, abs=1e-13)
    assert CumulativeError(statistic="kuiper")(confidence, right) == pytest.approx(gap, abs=1e-3)


def test_naive_sums_of_a_network(real_data: Path) -> None:
    """All digits, on every 25th confidence: float32 scores, many of them tied at 1."""
    confidence, right = top_labels(real_data, "densenet40_c10")
    order = np.argsort(confidence, kind="stable")[::25]
    p, y = confidence[order], right[order]
    for statistic, oracle in (("ks", cumulative.ks_error), ("kuiper", cumulative.kuiper)):
        found = CumulativeError(statistic=statistic)(p, y)
        assert found == pytest.approx(oracle(p, y), abs=1e-14)
