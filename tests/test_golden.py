"""One file of every saved format is readable from now on; those of earlier commits are refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueup as tu
from golden.write import KEY, NUMBERS, SETTINGS, data, evaluation, models, tables
from trueup import tables as table_classes
from trueup.simulate import study
from trueup.simulate.studies.checkpoint import Checkpoint
from trueup.tables import ResultTable

GOLDEN = Path(__file__).parent / "golden"
EARLIER = GOLDEN / "earlier"  # files that commit 7722cc3 wrote


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


RENAMED = {"TableFamily": "BinTables", "FineTable": "FineBinTable", "Columns": "ResultTable"}


def earlier_tables() -> dict[str, dict[str, Any]]:
    stored = json.loads((EARLIER / "tables.json").read_text())
    return {RENAMED.get(name, name): table for name, table in stored.items()}


@pytest.mark.parametrize("name", ["temperature.json", "isotonic.safetensors"])
def test_recalibrators_of_an_earlier_version_are_refused(name: str) -> None:
    with pytest.raises(tu.InputError) as refused:
        tu.load_recalibrator(EARLIER / name)
    words = (
        f"{str(EARLIER / name)!r}, which was saved by an earlier version of trueup: fit it again."
    )
    assert str(refused.value).endswith(words)


def test_evaluations_of_an_earlier_version_are_refused() -> None:
    with pytest.raises(tu.InputError) as refused:
        tu.Evaluation.from_json(EARLIER / "evaluation.json")
    path = EARLIER / "evaluation.json"
    assert str(refused.value) == f"{path}: {earlier('data', 'evaluate again')}"


@pytest.mark.parametrize("name", earlier_tables())
def test_tables_of_an_earlier_version_are_refused(name: str) -> None:
    with pytest.raises(tu.InputError) as refused:
        getattr(table_classes, name).from_dict(earlier_tables()[name])
    assert str(refused.value) == earlier("data", "make the table again")


def test_checkpoints_of_an_earlier_version_are_refused(tmp_path: Path) -> None:
    before = (EARLIER / "checkpoint.jsonl").read_bytes()
    path = tmp_path / "checkpoint.jsonl"
    path.write_bytes(before)
    world = tu.simulate.World(tu.simulate.Uniform(), tu.simulate.Identity())
    with pytest.raises(tu.InputError) as refused:
        study(world, {"ece": tu.BinnedError()}, [20], n_datasets=2, rng=7, path=path)
    assert str(refused.value) == earlier("path", "give another path, or delete it to start again")
    assert path.read_bytes() == before


def earlier(argument: str, hint: str) -> str:
    return f"`{argument}` was written by an earlier version of trueup. Hint: {hint}."


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("data", [{}, {"a": 1}, {"schema": "1", "a": [1]}, None, []], ids=str)
def test_what_is_no_table_is_not_of_an_earlier_version(name: str, data: Any) -> None:
    with pytest.raises(tu.InputError) as refused:
        getattr(table_classes, name).from_dict(data)
    assert str(refused.value) == f"`data` must be a dictionary from `to_dict`; got {data}."


def test_columns_are_lists_and_none_is_named_schema() -> None:
    with pytest.raises(tu.InputError, match="`data` must have a list as its entry 'a'; got 3"):
        ResultTable.from_dict({"schema": 1, "a": 3})
    with pytest.raises(tu.InputError, match="`data` must have columns that are not named 'schema'"):
        ResultTable({"schema": np.ones(2)}).to_dict()


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
    assert stored_tables["ResultTable"]["schema"] == 1
    for name, stored in stored_tables.items():
        kind = getattr(table_classes, name)
        with pytest.raises(tu.InputError, match="was written by a newer version of trueup"):
            kind.from_dict(stored | {"schema": 99})
        del stored["schema"]
        with pytest.raises(tu.InputError, match="was written by an earlier version of trueup"):
            kind.from_dict(stored)
