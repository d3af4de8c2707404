"""One table in every format reads the same; types and missing values are kept."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from trueup import CapabilityError, InputError
from trueup.io import Table, open_table, write_table

Make = Callable[..., Path]

P = np.array([0.1, 0.25, 1 / 3, 1e-300, 1.0, 0.0])
Y = np.array([0, 1, 1, 0, 1, 0])
WORDS = np.array(["a", "it's", 'say "b"', "c,d", "é\n", "None"], object)
SUFFIXES = ["csv", "tsv", "csv.gz", "jsonl", "ndjson.gz", "json", "parquet", "feather", "npz"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_gives_back_what_was_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table.{suffix}"
    write_table(path, {"p": P, "y": Y, "word": WORDS, "short": P.astype(np.float32)})
    table = open_table(path)
    assert table.names == ("p", "y", "word", "short")
    assert table.n == len(table) == 6
    assert table.column("p").tolist() == P.tolist()
    assert table.column("y").dtype == np.int64
    assert table.column("y").tolist() == Y.tolist()
    assert table.column("word").tolist() == WORDS.tolist()
    assert table.column("short").astype(np.float32).tolist() == P.astype(np.float32).tolist()
    assert table.matrix(["p", "y"]).tolist() == np.column_stack([P, Y]).tolist()
    assert str(path) in repr(table)


@pytest.mark.parametrize("suffix", ["parquet", "feather", "npz"])
def test_short_floats_stay_short(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table.{suffix}"
    short = np.random.default_rng(0).random((50, 130), np.float32)
    write_table(path, {f"p_{k}": short[:, k] for k in range(130)})
    matrix = open_table(path).matrix([f"p_{k}" for k in range(130)])
    assert matrix.dtype == np.float32
    assert np.array_equal(matrix, short)


def test_one_long_column_makes_the_matrix_long(tmp_path: Path) -> None:
    columns = {f"p_{k}": np.full(3, 0.1, np.float32) for k in range(100)}
    columns["p_99"] = np.full(3, 0.1)
    write_table(tmp_path / "p.parquet", columns)
    matrix = open_table(tmp_path / "p.parquet").matrix(list(columns))
    assert matrix.dtype == np.float64
    assert matrix[0, 0] == np.float32(0.1)
    assert matrix[0, 99] == 0.1


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json", "parquet", "feather"])
def test_missing_values(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    words = np.array(["a", None], object)
    write_table(path, {"p": [0.5, np.nan], "word": words, "i": np.array([1, None], object)})
    table = open_table(path)
    assert np.isnan(table.column("p")).tolist() == [False, True]
    assert table.column("word").tolist() == ["a", None]
    assert np.isnan(table.column("i").astype(float)).tolist() == [False, True]


@pytest.mark.parametrize("suffix", ["parquet", "feather", "jsonl", "json"])
def test_a_column_of_lists_is_a_matrix(tmp_path: Path, suffix: str) -> None:
    rows = [[0.2, 0.8], [0.5, 0.5], [1.0, 0.0]]
    path = tmp_path / f"t.{suffix}"
    if suffix == "jsonl":
        lines = [json.dumps({"probs": row, "y": k % 2}) for k, row in enumerate(rows)]
        path.write_text("\n".join(lines))
    elif suffix == "json":
        path.write_text(json.dumps({"probs": rows, "y": [0, 1, 0]}))
    else:
        pyarrow = pytest.importorskip("pyarrow")
        feather = pytest.importorskip("pyarrow.feather")
        parquet = pytest.importorskip("pyarrow.parquet")
        table = pyarrow.table({"probs": rows, "y": [0, 1, 0]})
        (parquet.write_table if suffix == "parquet" else feather.write_feather)(table, str(path))
    assert open_table(path).matrix(["probs"]).tolist() == rows


def test_arrow_streams_dictionaries_and_compression(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    words = pyarrow.array(["a", "b", "a"]).dictionary_encode()
    table = pyarrow.table({"p": pyarrow.array([0.1, 0.2, 0.3], pyarrow.float32()), "w": words})
    with pyarrow.ipc.new_stream(str(tmp_path / "t.arrow"), table.schema) as writer:
        writer.write_table(table)
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_file(str(tmp_path / "c.arrow"), table.schema, options=options) as writer:
        writer.write_table(table)
    for name in ("t.arrow", "c.arrow"):
        found = open_table(tmp_path / name)
        assert found.column("p").dtype == np.float32
        assert found.column("w").tolist() == ["a", "b", "a"]


def test_arrow_without_pyarrow(make_file: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_file("t.feather", b"ARROW1\0\0 and more")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(CapabilityError, match=r"pip install pyarrow"):
        open_table(path)


def content_of(tmp_path: Path, suffix: str) -> bytes:
    write_table(tmp_path / f"t.{suffix}", {"p": P, "y": Y})
    return (tmp_path / f"t.{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", [s for s in SUFFIXES if s != "tsv"])
def test_streams_are_told_by_their_first_bytes(tmp_path: Path, suffix: str) -> None:
    if suffix == "json":
        content = json.dumps([{"p": p, "y": int(y)} for p, y in zip(P, Y, strict=True)]).encode()
    else:
        content = content_of(tmp_path, suffix)
    table = open_table(io.BytesIO(content))
    assert table.column("p").tolist() == P.tolist()


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"p\ty\n0.5\t1\n")))
    table = open_table("-", format="tsv")
    assert table.shown == "standard input"
    assert table.column("p").tolist() == [0.5]


def test_a_temporary_copy_goes_with_its_table() -> None:
    table: Table | None = open_table(io.BytesIO(b"p,y\n0.5,1\n"))
    assert table is not None
    path = table.source.path
    assert path.exists()
    del table
    assert not path.exists()


def test_text_streams_are_refused() -> None:
    with pytest.raises(InputError, match="stream of bytes"):
        open_table(io.StringIO("p,y\n0.5,1\n"))  # type: ignore[arg-type]


def test_format_overrides_an_unknown_suffix(make_file: Make) -> None:
    assert open_table(make_file("p.txt", "p;y\n0.5;1\n"), format="CSV").names == ("p", "y")
    with pytest.raises(InputError, match="`format` must be one of csv"):
        open_table(make_file("p.txt", "p,y\n"), format="excel")


def test_lines_of_json_under_the_suffix_json(make_file: Make) -> None:
    assert open_table(make_file("p.json", '{"p": 0.5}\n{"p": 1}\n')).column("p").tolist() == [
        0.5,
        1.0,
    ]
    assert open_table(make_file("q.json", '{"p": 0.5}\n')).n == 1


def test_a_matrix_of_one_column_is_a_column(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", p=P[:, None], y=Y[:, None])
    assert open_table(tmp_path / "t.npz").column("p").shape == (6,)


def test_bytes_in_npz_are_texts(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", word=np.array([b"a", b"bc"]))
    assert open_table(tmp_path / "t.npz").column("word").tolist() == ["a", "bc"]


def test_gzip_of_several_members(make_file: Make) -> None:
    content = gzip.compress(b"p,y\n0.5,1\n") + gzip.compress(b"0.25,0\n")
    assert open_table(make_file("p.csv.gz", content)).column("p").tolist() == [0.5, 0.25]
