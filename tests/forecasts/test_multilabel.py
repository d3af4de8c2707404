"""Labels of several questions at once, and sigmoid scores, are seen for what they are."""

from __future__ import annotations

import numpy as np
import pytest

import trueup as tu
from trueup.forecasts.labels import looks_multilabel

RNG = np.random.default_rng(0)
ROWS = RNG.dirichlet(np.ones(3), 60)
SIGMOID = RNG.random((60, 3))
MULTI = (RNG.random((60, 3)) < 0.5).astype(int)
ONE_HOT = np.eye(3, dtype=int)[RNG.integers(0, 3, 60)]
SEPARATELY = r"this looks multilabel: evaluate each column separately, as probs\[:, k\]"


@pytest.mark.parametrize("labels", [MULTI, MULTI.astype(float), MULTI.astype(bool), MULTI.tolist()])
@pytest.mark.parametrize("probs", [ROWS, SIGMOID])
def test_multilabel_labels(probs: np.ndarray, labels: object) -> None:
    for call in (tu.ece, tu.evaluate, tu.Forecasts.from_arrays):
        with pytest.raises(tu.InputError, match=SEPARATELY):
            call(probs, labels)
    with pytest.raises(tu.InputError, match=SEPARATELY):
        tu.Forecasts.from_arrays(probs, labels, soft_labels=True)


def test_one_hot_and_soft_labels_are_not_multilabel() -> None:
    with pytest.raises(tu.InputError, match="pass soft_labels=True"):
        tu.ece(ROWS, ONE_HOT)
    with pytest.raises(tu.InputError, match="divide each row of labels by its sum"):
        tu.Forecasts.from_arrays(ROWS, SIGMOID, soft_labels=True)
    assert not looks_multilabel(ONE_HOT)
    assert not looks_multilabel(MULTI[:, :1])
    assert not looks_multilabel(np.array([["a", "b"]]))


def test_sigmoid_scores_are_not_led_to_normalize() -> None:
    with pytest.raises(tu.InputError, match="these look like sigmoid scores") as caught:
        tu.ece(SIGMOID, RNG.integers(0, 3, 60))
    assert "normalize" not in str(caught.value)
    with pytest.raises(tu.InputError, match=r"normalize=True .*if the values are rounded"):
        tu.ece(np.round(ROWS, 1), RNG.integers(0, 3, 60))


def test_rows_of_bfloat16_sum_to_1() -> None:
    """In PyTorch and in NumPy, for few classes and for many."""
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(0)
    for n_classes in (10, 1000):
        logits = 4 * torch.randn(100, n_classes, generator=generator)
        probs = torch.softmax(logits.to(torch.bfloat16), 1)
        away = (probs.float().sum(1) - 1).abs().max()
        assert away > 5e-4  # more than any other type
        labels = torch.randint(0, n_classes, (100,), generator=generator)
        assert 0 < tu.ece(probs, labels) < 1
        types = pytest.importorskip("ml_dtypes")
        same = probs.float().numpy().astype(types.bfloat16)
        assert tu.ece(same, labels.numpy()) == tu.ece(probs, labels)
