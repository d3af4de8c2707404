"""Names of files and columns are names, never commands; only the file asked for is touched."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import duckdb
import numpy as np
import pytest

from trueup import InputError
from trueup.io import open_table, read, read_forecasts, write_table
from trueup.io.formats.duckdb_reader import Duck

Make = Callable[..., Path]

NAMES = [
    "it's.csv",
    "x'); DROP TABLE y; --.csv",
    "a*.csv",
    "a?[b].csv",
    "{a,b}.csv",
    "k=1.csv",
    'say "p".csv',
    "$(touch x);.csv",
    "http:p.csv",
]
COLUMNS = [
    'p"; DROP TABLE t; --',
    "p'); SELECT 1; --",
    "p, (SELECT 1) AS y",
    'say "p"',
    "c0",
    "f1",
    "*",
    "?",
    "$1",
    "select",
    "a\\",
    "p\0",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_odd_names_of_files(tmp_path: Path, name: str, suffix: str) -> None:
    write_table(tmp_path / "ab.csv", {"p": [0.9], "y": [1]})
    write_table(tmp_path / "ab.parquet", {"p": [0.9], "y": [1]})
    path = tmp_path / name.replace(".csv", f".{suffix}")
    write_table(path, {"p": [0.25, 0.5], "y": [0, 1]})
    assert read(path).scores.tolist() == [0.25, 0.5]


def test_odd_names_of_folders(tmp_path: Path) -> None:
    folder = tmp_path / "y=1" / "a*[x]"
    folder.mkdir(parents=True)
    write_table(folder / "p.parquet", {"p": [0.25, 0.5], "y": [0, 1]})
    assert open_table(folder / "p.parquet").names == ("p", "y")
    assert read(folder / "p.parquet").labels.tolist() == [0, 1]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "npz", "feather", "parquet"])
def test_odd_names_of_columns(tmp_path: Path, suffix: str) -> None:
    names = [name for name in COLUMNS if "\0" not in name or suffix == "jsonl"]
    columns = {name: np.array([k, k + 0.5]) for k, name in enumerate(names)}
    path = tmp_path / f"t.{suffix}"
    write_table(path, columns)
    table = open_table(path)
    assert table.names == tuple(names)
    for name, values in columns.items():
        assert table.column(name).tolist() == values.tolist()
    assert table.matrix(names).tolist() == np.column_stack(list(columns.values())).tolist()


def test_names_that_differ_in_capitals(tmp_path: Path) -> None:
    for suffix in ("csv", "feather", "npz", "jsonl"):
        write_table(tmp_path / f"t.{suffix}", {"p": [0.1], "P": [0.2]})
        table = open_table(tmp_path / f"t.{suffix}")
        assert (table.column("p")[0], table.column("P")[0]) == (0.1, 0.2)


def test_capitals_in_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"p": [0.1], "P": [0.2]}), tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet")
    assert table.names == ("p", "P")
    assert (table.column("p")[0], table.column("P")[0]) == (0.1, 0.2)


def test_duckdb_is_shut_in(make_file: Make, tmp_path: Path) -> None:
    path, other = make_file("p.csv", "p,y\n0.5,1\n"), make_file("other.csv", "a\n1\n")
    duck = Duck(path)
    for query in (
        f"SELECT * FROM read_csv('{other}')",
        f"SELECT * FROM '{other}'",
        "SELECT * FROM glob('/*')",
        f"COPY (SELECT 1) TO '{tmp_path / 'new.csv'}'",
        f"ATTACH '{tmp_path / 'new.db'}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SELECT * FROM 'https://example.invalid/p.parquet'",
    ):
        with pytest.raises(duckdb.Error):
            duck.connection.execute(query).fetchall()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["other.csv", "p.csv"]


def test_python_variables_are_no_tables(make_file: Make) -> None:
    duck = Duck(make_file("p.csv", "p,y\n0.5,1\n"))
    secret = {"a": np.array([1])}
    with pytest.raises(duckdb.Error):
        duck.connection.execute("SELECT * FROM secret").fetchall()
    assert secret


def test_links_made_for_odd_names_are_taken_away(tmp_path: Path) -> None:
    write_table(tmp_path / "a*.parquet", {"p": [0.5]})
    duck = Duck(tmp_path / "a*.parquet")
    link = Path(duck.path)
    assert link.exists()
    del duck
    assert not link.exists()
    assert (tmp_path / "a*.parquet").exists()


def test_names_cannot_rule_a_terminal(make_file: Make) -> None:
    found = read_forecasts(make_file("p.csv", '"p\x1b[2J","two\nlines"\n0.5,1\n0.25,0\n'))
    assert found.text == "using column p?[2J, label two?lines"
    with pytest.raises(InputError) as caught:
        read(make_file("q.csv", '"a\x1b[2J","b","y"\n0.5,0.1,1\n'))
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("format", ["csv", "npz", "json"])
def test_reading_loads_no_more_than_it_needs(tmp_path: Path, format: str) -> None:
    write_table(tmp_path / f"p.{format}", {"p": [0.5, 0.25], "y": [1, 0]})
    others = ["sklearn", "matplotlib"]
    if format != "csv" or int(version("duckdb").split(".")[0]) >= 2:  # before, it loads them itself
        others += ["pyarrow", "pandas"]
    code = (
        "import sys, trueup.io\n"
        "assert not {'duckdb', 'scipy', 'sklearn', 'pyarrow', 'pandas'} & set(sys.modules)\n"
        f"trueup.io.read({str(tmp_path / f'p.{format}')!r})\n"
        f"assert not {set(others)!r} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
