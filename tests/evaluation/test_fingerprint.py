"""The fingerprint: equal for equal data in any form, different when anything changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import trueup as tu
from trueup.evaluation.fingerprint import fingerprint_of, versions

RNG = np.random.default_rng(0)
P = RNG.integers(0, 256, 40) / 256
Y = RNG.integers(0, 2, 40)
G = np.array([[0.25, 0.25, 0.5], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])


def of(*data, **beside) -> str:
    return fingerprint_of(tu.Forecasts.from_arrays(*data, **beside))


def test_the_form_of_the_data_does_not_matter() -> None:
    same = {
        of(P, Y),
        of(P.tolist(), Y.tolist()),
        of(P.astype(np.float32), Y.astype(bool)),
        of(pd.Series(P), pd.Series(Y)),
        of(P[::-1][::-1], Y.astype(np.int8)),
    }
    assert len(same) == 1
    rows = {
        of(G, [2, 0, 0]),
        of(G.tolist(), [2, 0, 0]),
        of(pd.DataFrame(G), [2, 0, 0]),
        of(np.asfortranarray(G), np.array([2, 0, 0], np.uint8)),
    }
    assert len(rows) == 1
    words = np.where(P > 0.5, "x", "y")
    assert of(P, Y, groups=words) == of(P, Y, groups=words.tolist())
    assert of(P, Y, groups=words) == of(P, Y, groups=pd.Series(words))


def test_every_change_is_seen() -> None:
    other, label = P.copy(), Y.copy()
    other[7], label[7] = np.nextafter(P[7], 1), 1 - Y[7]
    words = np.where(P > 0.5, "x", "y")
    changed = words.copy()
    changed[3] = "z"
    weights, heavier = P + 1, P + 1
    heavier[0] += 1e-9
    every = [
        of(P, Y),
        of(other, Y),
        of(P, label),
        of(P[::-1], Y[::-1]),
        of(P[:-1], Y[:-1]),
        of(np.c_[1 - P, P], Y),
        of(P, Y, weights=weights),
        of(P, Y, weights=heavier),
        of(P, Y, groups=words),
        of(P, Y, groups=changed),
        of(P, Y, clusters=words),
        of(P, Y, features=P[:, None]),
        of(P, Y.astype(float), soft_labels=True),
    ]
    assert len(set(every)) == len(every)


def test_it_is_a_hash_and_versions_are_named(found) -> None:
    assert found("binary").fingerprint == of(*(found_data := _binary()))
    assert len(found_data) == 2
    assert int(found("binary").fingerprint, 16) >= 0
    assert set(versions()) == {"python", "trueup", "numpy", "scipy", "scikit-learn"}
    assert versions()["numpy"] == np.__version__


def _binary() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.random(300)
    rng.dirichlet(np.ones(3), 300)
    return p, (rng.random(300) < p).astype(int)


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    before = of(P, Y)
    monkeypatch.setattr("trueup.evaluation.fingerprint.ROWS_AT_ONCE", 7)
    assert of(P, Y) == before
