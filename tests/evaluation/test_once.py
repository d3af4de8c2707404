"""An evaluation cuts no bins twice, and sorts no scores twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import trueup as tu
from trueup.engines.select import engine

SUMS = {"order": ("equal_mass_edges", "tied_scores"), "bins": ("bin_sums", "class_bin_sums")}
N, CLASSES = 2_000, 4


def _arguments(given: tuple[Any, ...]) -> Iterator[Any]:
    """Arguments by what is in them; functions that read rows are all of the same matrix."""
    for each in given:
        if isinstance(each, np.ndarray):
            yield each.dtype.str, each.shape, hash(each.tobytes())
        elif not callable(each):
            yield each


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[Any, ...]]:
    """How often each sum was made of the same numbers."""
    counted: Counter[tuple[Any, ...]] = Counter()

    def watch(module: Any, name: str) -> None:
        real = getattr(module, name)

        def counting(*given: Any) -> Any:
            counted[name, *_arguments(given)] += 1
            return real(*given)

        monkeypatch.setattr(module, name, counting)

    for module, names in SUMS.items():
        for name in names:
            watch(getattr(engine, module), name)
    return counted


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("is_matrix", [False, True])
def test_nothing_is_summed_twice(calls, is_matrix, weighted) -> None:
    rng = np.random.default_rng(0)
    probs: Any = rng.dirichlet(np.ones(CLASSES), N) if is_matrix else rng.random(N)
    upto = np.cumsum(probs, axis=1) if is_matrix else 1 - probs[:, None]
    labels = (rng.random((N, 1)) > upto).sum(axis=1)
    w = rng.exponential(size=N) + 0.1 if weighted else None
    tu.evaluate(probs, labels, weights=w, n_resamples=39, recalibrate=False, advice=False)
    twice = [key[0] for key, many in calls.items() if many > 1]
    assert twice == []
    assert len(calls) > 10
    if not weighted:  # edges of weighted rows are found without this sum
        cuts = [key for key in calls if key[0] == "equal_mass_edges" and key[-1] == 15]
        of_all_rows = [scores for _, scores, _ in cuts if scores[1] == (N,)]
        assert len(of_all_rows) == 1 + CLASSES * is_matrix
