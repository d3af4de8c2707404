"""Wide, nested, endless and odd tables: one sentence, in little time and memory."""

from __future__ import annotations

import gzip
import io
import json
import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from trueup.io import open_table, read, read_scores, write_table
from trueup.io.formats import csv_files

Make = Callable[..., Path]
K = 3000


def refused(path: object, **options: object) -> str:
    with pytest.raises(tu.InputError) as caught:
        read(path, **options)  # type: ignore[arg-type]
    return str(caught.value)


def wide(n_columns: int, n_rows: int = 3) -> tuple[np.ndarray, list[str]]:
    values = np.random.default_rng(0).dirichlet(np.ones(n_columns), n_rows)
    return values, [f"p_{k}" for k in range(n_columns)]


def test_a_wide_csv_is_read_in_little_time(tmp_path: Path) -> None:
    values, names = wide(10_000)
    write_table(tmp_path / "w.csv", {**dict(zip(names, values.T, strict=True)), "y": [0, 1, 2]})
    start = time.process_time()
    found = read(tmp_path / "w.csv")
    assert time.process_time() - start < 6  # 0.4 s here; by a query for each 256 columns, 32 s
    assert np.array_equal(found.rows(slice(0, 3)), values)


def test_a_wide_csv_is_read_as_a_narrow_one(tmp_path: Path, monkeypatch) -> None:
    rng = np.random.default_rng(1)
    columns = {f"c{k}": rng.integers(0, 9, 700).astype(object) for k in range(6)}
    columns["c1"][500] = "late text"
    columns["c2"][3] = None
    columns["c3"][650] = "NA"
    columns["c4"] = rng.random(700)
    columns["c5"] = np.array(["a,b", 'say "x"'], object)[np.arange(700) % 2]
    write_table(tmp_path / "t.csv", columns)
    narrow = open_table(tmp_path / "t.csv")
    monkeypatch.setattr(csv_files, "FEWEST_BY_HAND", 1)
    monkeypatch.setattr(csv_files, "BYTES_BY_HAND", 10**9)
    monkeypatch.setattr(csv_files, "CELLS_AT_ONCE", 60)
    by_hand = open_table(tmp_path / "t.csv")
    assert by_hand.columns_at_once == 6  # type: ignore[attr-defined]
    for name in columns:
        one, other = narrow.column(name), by_hand.column(name)
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist() or np.array_equal(one, other, equal_nan=True)
        assert str(by_hand.sample([name])) == str(narrow.sample([name]))


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json"])
def test_too_many_columns(make_file: Make, suffix: str) -> None:
    names = [f"p{k}" for k in range(100_001)]
    content = {
        "csv": ",".join(names) + "\n" + ",".join("0" * len(names)) + "\n",
        "jsonl": json.dumps(dict.fromkeys(names, 0)) + "\n",
        "json": json.dumps({name: [0] for name in names}),
    }
    said = refused(make_file(f"w.{suffix}", content[suffix]))
    assert "has 100,001 columns, but at most 100,000 can be read. Hint: save a matrix" in said


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json"])
def test_many_names_take_little_time(make_file: Make, suffix: str) -> None:
    names = [f"p_{k}" for k in range(20_000)]
    content = {
        "csv": ",".join([*names, names[-1], "y"]) + "\n" + ",".join("0" * 20_002) + "\n",
        "jsonl": json.dumps(dict.fromkeys([*names, "y"], 1)) + "\n",
        "json": "[{" + ",".join(f'"{name}": 1' for name in [*names, names[-1]]) + "}]",
    }
    said = {"csv": "2 columns called 'p_19999'", "json": "the field 'p_19999' twice"}
    start = time.process_time()
    text = refused(make_file(f"w.{suffix}", content[suffix]))
    assert said.get(suffix, "must sum to 1") in text
    assert time.process_time() - start < 5  # less than 1 s here; as the square, minutes


def test_wide_json_lines_are_not_read_for_each_few_columns(make_file: Make) -> None:
    table = open_table(make_file("w.jsonl", json.dumps(dict.fromkeys(map(str, range(K)), 0))))
    assert table.columns_at_once >= K


def test_gzip_within_gzip(make_file: Make) -> None:
    once = gzip.compress(b"p,y\n0.5,1\n0.2,0\n")
    assert read(make_file("p.csv.gz", once)).n == 2
    content = once
    for _ in range(1200):
        content = gzip.compress(content, 1)
    for each in (gzip.compress(once), content):
        path = make_file("q.csv.gz", each)
        assert "q.csv.gz: is compressed twice. Hint: decompress it once" in refused(path)
        assert "is compressed twice" in refused(io.BytesIO(each))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="devices of POSIX")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/full"])
def test_devices(device: str) -> None:
    assert f"{device}: is a device, which may never end" in refused(device, format="csv")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux only")
def test_files_whose_size_is_not_known() -> None:
    assert "is empty" not in refused("/proc/self/status", format="csv")


def test_a_pipe_is_read(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, b"p,y\n0.5,1\n0.25,0\n")
    os.close(write_end)
    if not Path(f"/dev/fd/{read_end}").exists():
        pytest.skip("no /dev/fd")
    assert read(f"/dev/fd/{read_end}").scores.tolist() == [0.5, 0.25]
    os.close(read_end)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("p,y\n0.5,0\n1,1,\n", 3),
        ("p,y\n0.5,0,\n1,1\n", 2),
        ("p,y\n0.5,0\n1,1,", 3),
        ("p,y\r\n0.5,0,\r\n1,1\r\n", 2),
        ("p;y\n0.5;0\n1;1;\n", 3),
    ],
)
def test_an_empty_field_too_many(make_file: Make, content: str, line: int) -> None:
    said = refused(make_file("p.csv", content))
    assert f"line {line} has 3 fields, but the header has 2" in said


def test_a_last_field_that_is_empty(make_file: Make) -> None:
    path = make_file("p.csv", "p,y,z\n0.5,0,\n1,1,\n0.2,0,3\n")
    assert read(path).labels.tolist() == [0, 1, 0]


def test_a_quotation_without_end(make_file: Make) -> None:
    path = make_file("p.csv", b"p,y\n" + b'"' * 3_000_001)
    assert refused(path).startswith(f"{path}: cannot be read: unexpected end of data in line 2")


def test_no_rows_are_looked_for_again(make_file: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB finds no rows and no error in some files, such as one with 31 million quotes."""

    def nothing(_: object, names: list[str], __: object) -> dict[str, np.ndarray]:
        return {name: np.empty(0) for name in names}

    monkeypatch.setattr(csv_files.CsvTable, "_by_duckdb", nothing)
    assert read(make_file("p.csv", "p,y\n0.5,1\n0.25,0\n")).n == 2
    assert "unexpected end of data in line 2" in refused(make_file("q.csv", 'p,y\n"0.5,1\n'))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_empty_line_of_one_column_is_no_row(make_file: Make, end: str) -> None:
    table = open_table(make_file("p.csv", end.join(["p", "0.5", "", "0.25", "", ""])))
    assert table.column("p").tolist() == [0.5, 0.25]
    assert table.n == 2


@pytest.mark.parametrize("text", ["null", "true", "1", '"x"', "1.5"])
def test_json_that_is_no_table(make_file: Make, text: str) -> None:
    assert "must be a list of records or an object with a list for each" in refused(
        make_file("p.json", text)
    )


@pytest.mark.parametrize(("name", "text"), [("p.json", "{}"), ("p.jsonl", "{}\n{}\n")])
def test_a_table_without_columns(make_file: Make, name: str, text: str) -> None:
    assert f"{name}: has no columns" in refused(make_file(name, text))


HUGE = "9" * 400
LISTS_OF_LISTS = (
    "column 'p' must hold a number or a list of numbers per row; got lists of lists in row 0"
)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (f'{{"p": [{HUGE}, 0.5], "y": [1, 0]}}', "column 'p' must fit into 64-bit floats"),
        (f'{{"p": [[{HUGE}, 1], [0, 1]], "y": [1, 0]}}', "column 'p' must fit into 64-bit floats"),
        (f'{{"p": [0.5, 0.5], "y": [{HUGE}, 0]}}', "column 'y' must"),
        (f'{{"p": [{"[" * 64}0{"]" * 64}, 1], "y": [1, 0]}}', "column 'p' must hold"),
        ('{"p": [[[1, 2]], [[3, 4]]], "y": [1, 0]}', LISTS_OF_LISTS),
        ('{"p": [[1, 2], [3, null]], "y": [1, 0]}', "1 of 2 rows has missing values"),
        ('{"p": [[1, 2], [3]], "y": [1, 0]}', "must hold lists of 2 numbers; got a list of 1 in"),
        ('{"p": [0.5, 0.2], "y": [null, null]}', "2 of 2 rows have missing values"),
        ('{"p": [[1, "2"], [3, 4]], "y": [1, 0]}', "column 'p' must hold numbers; got '2'"),
        (
            '{"p": [0.5, 0.2], "y": [{"a": 1}, {"a": 2}]}',
            "must hold numbers or texts; got {'a': 1}",
        ),
        ('{"p": [0.5, 0.2], "y": ["a", []]}', "must hold numbers or texts; got [] in row 1"),
        ('{"p_a": [1, 0], "p_b": [0, 1], "y": ["a", {}]}', "must hold numbers or texts; got {}"),
        ('{"a": [1, 0], "b": [0, 1], "y": ["a", {}]}', "no column name looks like a prediction"),
    ],
)
def test_odd_values_in_json(make_file: Make, content: str, told: str) -> None:
    path = make_file("p.json", content)
    said = refused(path)
    assert told in said
    assert said.startswith(str(path))


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"p": [[[0.5]], [[0.2]]], "y": [1, 0]}, LISTS_OF_LISTS),
        ({"p": [0.5, 0.2], "y": [{"a": 1}, {"a": 2}]}, "column 'y' must hold numbers or texts"),
        ({"p": [0.5, 0.2], "y": [b"\xff", b"b"]}, "column 'y' must hold numbers or texts"),
        ({"p": [0.5, 0.2], "y": [[1], [2, 3]]}, "column 'y' must hold lists of 1 numbers"),
        ({"p": [{"a": 1}, {"a": 2}], "y": [1, 0]}, "column 'p' must hold numbers"),
    ],
)
def test_nested_columns(tmp_path: Path, suffix: str, columns: dict[str, list], told: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table, path = pyarrow.table(columns), tmp_path / f"p.{suffix}"
    if suffix == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, str(path))
    assert told in refused(path)


def test_a_map_as_label(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    maps = pyarrow.array([[("a", 1)], [("b", 2)]], pyarrow.map_(pyarrow.string(), pyarrow.int64()))
    table = pyarrow.table({"p": [0.5, 0.2], "y": maps})
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "p.parquet")
    assert "column 'y' must hold" in refused(tmp_path / "p.parquet")


def test_a_name_in_arrow_that_is_not_utf8(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    sink = pyarrow.BufferOutputStream()
    table = pyarrow.table({"wxyzwxyz": [0.5, 0.2], "y": [1, 0]})
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content = sink.getvalue().to_pybytes()
    assert b"wxyzwxyz" in content
    (tmp_path / "p.arrow").write_bytes(content.replace(b"wxyzwxyz", b"\xff" * 8))
    assert "p.arrow: cannot be read as Arrow" in refused(tmp_path / "p.arrow")


def test_scores_of_a_nested_column(make_file: Make) -> None:
    path = make_file("p.json", '{"p": [[[0.5]], [[0.2]]]}')
    with pytest.raises(tu.InputError, match=LISTS_OF_LISTS):
        read_scores(path, probs="p")


@pytest.mark.parametrize("option", ["groups", "clusters"])
def test_a_row_without_a_group_names_the_file(make_file: Make, option: str) -> None:
    path = make_file("p.json", '{"p": [0.5, 0.2], "y": [1, 0], "g": ["a", null]}')
    said = refused(path, **{option: "g"})
    assert said.startswith(
        f"{path}: 1 of 2 rows has missing values, the first in column 'g', row 1"
    )
    assert read(path, drop_missing=True, **{option: "g"}).n == 1


ROWS = 60_000


def _times_its_size(path: Path) -> float:
    """Return the most memory that reading a file takes, as a multiple of the file."""
    read(path)  # what is imported for the first time does not count
    tracemalloc.start()
    read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / path.stat().st_size


@pytest.mark.parametrize(
    ("name", "header", "line", "most"),
    [
        ("plain.csv", "p,y\n", "0.125000,{}\n", 6),
        ("mixed.csv", "p,y\n", "0.125000,{}\n0.125000,{}\r\n", 16),  # 27 with all cells at once
        ("texts.csv", "p_a,p_b,y\n", "0.125,0.875,{:c}\n", 6),
        ("lines.jsonl", "", '{{"p": 0.125, "y": {}}}\n', 6),
        ("records.json", "", '{{"p": 0.125, "y": {}}},', 13),
    ],
)
def test_memory_is_a_multiple_of_the_file(
    make_file: Make, name: str, header: str, line: str, most: float
) -> None:
    first = ord("a") if name == "texts.csv" else 0
    lines = ROWS // line.count("{}") if name == "mixed.csv" else ROWS
    body = "".join(line.format(first + k % 2, first + k % 2) for k in range(lines))
    if name == "records.json":
        body = f"[{body[:-1]}]"
    path = make_file(name, (header + body).encode())
    assert _times_its_size(path) < most


def test_names_of_columns_take_little_memory(make_file: Make) -> None:
    """A header of too many names is refused without a table of them."""
    path = make_file("names.csv", ",".join(f"p_{k}" for k in range(300_000)) + "\n")
    tracemalloc.start()
    assert "has 300,000 columns, but at most 100,000 can be read" in refused(path)
    assert tracemalloc.get_traced_memory()[1] < 16 * path.stat().st_size
    tracemalloc.stop()
