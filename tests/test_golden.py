"""One file of every saved format is readable from now on; those of earlier commits are refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from golden.write import KEY, NUMBERS, SETTINGS, data, evaluation, models, tables
from trueup import tables as table_classes
from trueup.simulate.studies.checkpoint import Checkpoint

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["temperature.json", "isotonic.safetensors"])
def test_recalibrators(name: str) -> None:
    model = tu.load_recalibrator(GOLDEN / name)
    expected = json.loads((GOLDEN / "predictions.json").read_text())[name]
    np.testing.assert_array_equal(model.predict_proba(data()[0]), expected)
    again = models()[name]
    assert repr(model) == repr(again)
    np.testing.assert_allclose(again.predict_proba(data()[0]), expected, rtol=1e-9)


def test_an_evaluation() -> None:
    found = tu.Evaluation.from_json(GOLDEN / "evaluation.json")
    again = evaluation()
    assert found.verdict == again.verdict
    assert [each.metric for each in found.estimates] == [each.metric for each in again.estimates]
    np.testing.assert_allclose(
        [each.value for each in found.estimates], [each.value for each in again.estimates]
    )
    assert set(found.tables) == set(again.tables)
    assert str(found).splitlines()[0] == str(again).splitlines()[0]


def test_tables() -> None:
    stored = json.loads((GOLDEN / "tables.json").read_text())
    for name, expected in tables().items():
        read = getattr(table_classes, name).from_dict(stored[name])
        assert json.dumps(read.to_dict()) == json.dumps(expected)


def test_a_checkpoint(tmp_path: Path) -> None:
    shutil.copy(GOLDEN / "checkpoint.jsonl", tmp_path)
    finished = Checkpoint(tmp_path / "checkpoint.jsonl", SETTINGS).finished
    assert list(finished) == [KEY]
    for name, column in NUMBERS.items():
        np.testing.assert_array_equal(finished[KEY][name], column)


def test_files_of_earlier_commits_are_refused_in_one_sentence(tmp_path: Path) -> None:
    earlier = json.loads((GOLDEN / "temperature.json").read_text()) | {"schema": 1}
    (tmp_path / "r.json").write_text(json.dumps(earlier))
    with pytest.raises(tu.InputError, match="which was saved by an earlier version of trueup"):
        tu.load_recalibrator(tmp_path / "r.json")
    for schema, words in ((1, "an earlier"), (99, "a newer")):
        document = json.loads((GOLDEN / "evaluation.json").read_text()) | {"schema": schema}
        with pytest.raises(tu.InputError, match=f"was written by {words} version of trueup"):
            tu.Evaluation.from_dict(document)
    stored_tables = json.loads((GOLDEN / "tables.json").read_text())
    assert "schema" not in stored_tables.pop("ResultTable")  # columns by name, and nothing else
    for name, stored in stored_tables.items():
        kind = getattr(table_classes, name)
        with pytest.raises(tu.InputError, match="was written by a newer version of trueup"):
            kind.from_dict(stored | {"schema": 99})
        del stored["schema"]
        with pytest.raises(tu.InputError, match="was written by an earlier version of trueup"):
            kind.from_dict(stored)
