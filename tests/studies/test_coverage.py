"""Studies of coverage begin: their parts run on a few datasets, and a stopped run is taken up."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies import bin_free_coverage, coverage
from studies.coverage import COLUMNS, Key
from studies.finished_batches import FinishedBatches


def test_a_batch_has_every_estimator() -> None:
    found = coverage.measure(Key("resnet110_c10", 200, 0, 2))
    assert list(found) == list(coverage.ESTIMATORS)
    for sums in found.values():
        assert sums[COLUMNS.index("sets")] == 2
        assert sums[COLUMNS.index("naive_sets")] == 1


def test_finished_batches_are_kept(tmp_path: Path) -> None:
    path, key = tmp_path / "coverage.jsonl", Key("w", 10, 0, 1)
    FinishedBatches(path).add(key, {"ece": [1.0, 0.0]})
    assert FinishedBatches(path).found == {key: {"ece": [1.0, 0.0]}}


@pytest.mark.parametrize("part", ["bin_free", "weighted", "clustered"])
def test_parts_without_bins_with_weights_and_with_clusters(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, small in (("SETS", 2), ("RESAMPLES", 39), ("MILLION", 2000)):
        monkeypatch.setattr(bin_free_coverage, name, small)
    found = getattr(bin_free_coverage, part)(bin_free_coverage.Cell("resnet110_c10", 200))
    assert found
    assert all(0 <= held <= 1 and width > 0 for held, width in found.values())
