"""Errors about files are one sentence: file, column, row, value, and what to do."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from trueup.io import open_table, read

Make = Callable[..., Path]


def test_no_file_and_no_directory(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nothing\.csv\."):
        read(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError, match="is a directory: give the name of a file in it"):
        read(tmp_path)
    for name in ("", 3, None, "a\0b.csv"):
        with pytest.raises(tu.InputError, match="`path` must be the name of a file"):
            read(name)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", "", "is empty"),
        ("p.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("p.csv", "\n\n", "has no header in its first line"),
        ("p.csv", "p,y\n", "has no rows below its header"),
        ("p.xyz", "p,y\n0.5,1\n", r"unsupported extension '.xyz'; supported: .csv, .*format='csv'"),
        ("p", "PAR1", r"no file extension; supported: .*format='parquet'"),
        ("p.pkl", b"\x80\x04", "is a pickle, which can run code and is never loaded. Hint: save"),
        (
            "p.csv",
            b"PAR1....",
            r"is being read as csv but looks like parquet. Hint",
        ),
        ("p.parquet", "p,y\n0.5,1\n", "cannot be read as Parquet"),
        ("p.arrow", "p,y\n0.5,1\n", "cannot be read as Arrow"),
        ("p.npz", "p,y\n0.5,1\n", "is not a valid NPZ file"),
        ("p.npz", b"PK\x05\x06" + b"\0" * 18, "holds no arrays"),
        ("p.npz", gzip.compress(b"abc", mtime=0), "is not a valid NPZ file"),
        (
            "p.csv.gz",
            gzip.compress(b"p,y\n" * 9999, mtime=0)[:-20],
            "is damaged: it cannot be decompressed",
        ),
        ("p.csv", "p,y\n0.5,1\n0.25\n", r"line 3 has 1 field, but the header has 2\."),
        ("p.csv", "p,y\n0,5,1\n", r"line 2 has 3 fields, but the header has 2. Hint: write decim"),
        ("p.csv", 'p,y\n"0.5,1\n', "cannot be read: unexpected end of data in line 2"),
        ("p.csv", b"p,y\n0.5,\xe9\n", "is not UTF-8 text. Hint: save it again as UTF-8"),
        ("p.csv", "p,y\n0.5,1\n".encode("utf-16"), "is not UTF-8 text"),
        (
            "p.csv",
            "p,y\n0.5,1\nabc,0\n",
            r"'p' must hold numbers; got 'abc' in row 1 \(line 3",
        ),
        ("p.csv", "p,y\n50%,1\n", r"got '50%' in row 0 \(line 2\). Hint: write 50% as 0.5"),
        ("p.csv", 'p,y\n"0,5",1\n', r"got '0,5' .* Hint: write decimals with a point, not a comma"),
        ("p.csv", "p;y\n0,5;1\n", r"got '0,5' .* Hint: write decimals with a point, not a comma"),
        (
            "p.csv",
            "p,y\n40,1\n70,0\n",
            r"got 40 in row 0 \(line 2\). Hint: divide percentages",
        ),
        ("p.csv", "p,y\n0.5,1\n-3.5,0\n", r"got -3.5 in row 1 \(line 3\). Hint: pass logits=True"),
        ("p.csv", "p,y\n0.5,1\n1.0001,0\n", "Hint: clip rounding errors to .0, 1."),
        ("p.csv", "p,y\n0.5,1\ninf,0\n", r"got inf in row 1 \(line 3\). Hint: drop or repair rows"),
        (
            "p.csv",
            "p,y\n0.5,1\n,0\nNaN,0\n",
            r"2 of 3 rows have missing values, the first in column 'p', row 1 \(line 3\). "
            r"Hint: drop such rows with drop_missing=True",
        ),
        ("p.csv", "p,y\n0.5,1\n0.5,\n", r"1 of 2 rows has missing values, the first in column 'y'"),
        (
            "p.csv",
            "p,y\n0.5,1\n0.5,3\n",
            r"p.csv: column 'y' must be 0 or 1; got 3 in row 1 \(line 3\)\. Hint: pass",
        ),
        (
            "p.csv",
            "p_a,p_b,y\n0.5,0.9,a\n",
            r"sum to 1 in every row; .* not the classes of one",
        ),
        ("p.csv", "p,y,y\n0.5,1,1\n", "labels may be in any|has 2 columns called 'y'"),
        (
            "p.csv",
            "p,y\n0.5,a\n0.5,b\n0.1,c\n",
            "must hold 0 and 1, as 'p' is the only .* got 'a', 'b', 'c'",
        ),
        ("p.json", "[]", "has no rows"),
        ("p.json", "[1]", r"row 0 must be a record such as \{.p.: 0.5, .y.: 1\}; got 1"),
        ("p.json", '{"p": [1], "y": [1, 2]}', "column 'y' has 2 rows, but column 'p' has 1"),
        ("p.json", '{"p": [1], "y": 3}', "must be a list of records or an object with a list for"),
        ("p.json", "{", "is not JSON: .* in line 1"),
        ("p.json", '[{"p": 1, "p": 0}]', "has the field 'p' twice in a record"),
        ("p.json", "[" * 100_000, "is not JSON that can be read"),
        ("p.jsonl", '{"p": 0.5}\n[1]\n', r"line 2 must be a record such as .*; got \[1\]"),
        ("p.jsonl", '{"p": 0.5}\n{"p": \n', r"line 2 must be JSON; got '\{\"p\": \\n'"),
        ("p.jsonl", '{"p": 0.5, "p": 1}\n', "line 1 has the field 'p' twice"),
        ("p.jsonl", "\n\n", "holds no records"),
        (
            "p.jsonl",
            '{"p": "0.5", "y": 1}\n',
            r"got '0.5' in row 0 \(line 1\). Hint: write num",
        ),
        ("p.jsonl", '{"p": [1], "y": 1}\n{"p": [1, 2], "y": 1}\n', "must hold lists of 1 numbers"),
        ("p.jsonl", '{"p": 0.5, "y": 1}\n{"y": 1}\n', "1 of 2 rows has missing values"),
    ],
)
def test_one_clear_sentence(make_file: Make, name: str, content: str | bytes, message: str) -> None:
    path = make_file(name, content)
    with pytest.raises(tu.InputError) as caught:
        read(path)
    said = str(caught.value)
    assert re.search(message, said), said
    assert said.startswith(str(path))
    assert "\n" not in said
    assert said.endswith((".", "?"))


def test_objects_in_npz_are_never_loaded(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (tmp_path / "exploded",)  # type: ignore[return-value]

    path = tmp_path / "p.npz"
    np.savez(path, p=np.array([0.5]), y=np.array([Bomb()], dtype=object))
    with pytest.raises(tu.InputError, match="array 'y' holds Python objects, which can run code"):
        read(path)
    assert not (tmp_path / "exploded").exists()
    assert open_table(path).column("p").tolist() == [0.5]


def test_arrays_of_different_lengths(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", p=np.array([0.5, 0.2]), y=np.array([1, 0, 1]), s=np.array(3))
    with pytest.raises(tu.InputError, match="column 'y' has 3 rows, but column 'p' has 2"):
        read(tmp_path / "p.npz")
    with pytest.raises(tu.InputError, match="array 's' must be a column or a matrix"):
        read(tmp_path / "p.npz", labels="s")


def test_a_damaged_npz(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    np.savez(path, p=np.linspace(0, 1, 1000), y=np.arange(1000) % 2)
    content = bytearray(path.read_bytes())
    content[3000:3010] = b"x" * 10
    path.write_bytes(content)
    with pytest.raises(tu.InputError, match="array 'p' is damaged"):
        read(path)


def test_a_cut_parquet(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    tu_io = pytest.importorskip("trueup.io")
    tu_io.write_table(path, {"p": np.linspace(0, 1, 1000), "y": np.arange(1000) % 2})
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(tu.InputError, match="cannot be read as Parquet") as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_no_rows(tmp_path: Path) -> None:
    tu_io = pytest.importorskip("trueup.io")
    for suffix in ("parquet", "feather", "npz"):
        tu_io.write_table(tmp_path / f"p.{suffix}", {"p": np.empty(0), "y": np.empty(0)})
        with pytest.raises(tu.InputError, match="has no rows"):
            read(tmp_path / f"p.{suffix}")
