"""Tables are written whole or not at all, and lose nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from trueup import CapabilityError, InputError, atomic_write
from trueup.io import open_table, write_table


def test_csv_as_a_person_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    columns = {
        "p": np.array([0.1, 1 / 3]),
        "short": np.array([0.1, 1 / 3], np.float32),
        "y": np.array([1, 0]),
        "ok": np.array([True, False]),
        "word": np.array(["a,b", None], object),
        "gap": np.array([np.nan, np.inf]),
    }
    write_table(path, columns)
    assert path.read_text().splitlines() == [
        "p,short,y,ok,word,gap",
        '0.1,0.1,1,True,"a,b",',
        "0.3333333333333333,0.33333334,0,False,,inf",
    ]


def test_standard_output(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_table("-", {"p": [0.5], "y": [1]})
    assert capsysbinary.readouterr().out == b"p,y\n0.5,1\n"
    write_table("-", {"p": [0.5], "y": [1]}, format="jsonl")
    assert capsysbinary.readouterr().out == b'{"p": 0.5, "y": 1}\n'


def test_json_is_strict(tmp_path: Path) -> None:
    write_table(tmp_path / "p.jsonl", {"p": [0.5, np.nan], "é": np.array(["ü", None], object)})
    lines = (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [{"p": 0.5, "é": "ü"}, {"p": None, "é": None}]
    with pytest.raises(InputError, match="finite numbers"):
        write_table(tmp_path / "q.jsonl", {"p": [np.inf]})
    assert not (tmp_path / "q.jsonl").exists()


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather", "jsonl", "npz"])
def test_a_matrix(tmp_path: Path, suffix: str) -> None:
    matrix = np.array([[0.25, 0.75], [0.5, 0.5]])
    write_table(tmp_path / f"p.{suffix}", {"p": matrix, "y": [0, 1]})
    table = open_table(tmp_path / f"p.{suffix}")
    names = ("p", "y") if suffix == "npz" else ("p_0", "p_1", "y")
    assert table.names == names
    assert table.matrix(names[:-1]).tolist() == matrix.tolist()


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("p.xyz", {"p": [1.0]}, r"`path` must be a file name such as \*.csv"),
        ("p.csv", {}, "`columns` must be at least one"),
        ("p.csv", {"p": [1.0], "y": [1, 2]}, "`columns` must have one length"),
        ("p.csv", {"p": 3.0}, "must be a column or a matrix"),
        ("p.csv", {"p": np.eye(2), "p_0": [1, 2]}, "`columns` must have different names"),
        ("p.npz", {"p": np.array([None], object)}, "numbers or texts without missing"),
    ],
)
def test_refusals(tmp_path: Path, name: str, columns: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        write_table(tmp_path / name, columns)
    assert list(tmp_path.iterdir()) == []


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="There is no directory"):
        write_table(tmp_path / "no" / "p.csv", {"p": [1.0]})


def test_what_was_there_stays_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.csv"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(atomic_write.os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_table(path, {"p": [0.5]})
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["p.csv"]


def test_parquet_needs_neither_pandas_nor_pyarrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pandas", "pyarrow"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    columns = {
        "p": np.array([0.5, 0.25], np.float16),
        "word": np.array(["a", "bc"]),
        "object": np.array(["a", None], object),
        "strided": np.arange(4.0)[::2],
        "ok": np.array([True, False]),
    }
    write_table(tmp_path / "p.parquet", columns)
    table = open_table(tmp_path / "p.parquet")
    assert table.column("p").tolist() == [0.5, 0.25]
    assert table.column("word").tolist() == ["a", "bc"]
    assert table.column("object").tolist() == ["a", None]
    assert table.column("strided").tolist() == [0, 2]
    assert table.column("ok").tolist() == [True, False]
    with pytest.raises(CapabilityError, match="pip install pyarrow"):
        write_table(tmp_path / "p.feather", columns)
