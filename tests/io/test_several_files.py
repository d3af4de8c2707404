"""Several files, folders and patterns: one table, and the name of its file for every row."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueup as tu
from trueup.io import open_table, read_forecasts, read_scores, write_table
from trueup.io.several_files import files_of, short_names

DAYS = ["day-1", "day-2", "day-9", "day-10"]


def a_day(number: int) -> dict[str, np.ndarray]:
    return {"p": np.array([0.25, number / 20]), "y": np.array([0, 1])}


@pytest.fixture
def daily(tmp_path: Path) -> Path:
    """A folder of four days, in a folder of its own."""
    (tmp_path / "daily").mkdir()
    for name in DAYS:
        write_table(tmp_path / "daily" / f"{name}.csv", a_day(int(name[4:])))
    (tmp_path / "daily" / "_SUCCESS").touch()
    (tmp_path / "daily" / "notes.txt").write_text("p,y\n")
    return tmp_path / "daily"


def test_a_folder_in_the_order_of_its_numbers(daily: Path) -> None:
    found = read_forecasts(daily)
    assert found.forecasts.scores.tolist() == [0.25, 0.05, 0.25, 0.1, 0.25, 0.45, 0.25, 0.5]
    assert found.forecasts.groups is not None
    assert found.forecasts.groups.tolist() == [name for name in DAYS for _ in range(2)]
    assert found.forecasts.group_columns == ("file",)
    said = "the rows come from 4 files, and each file is a group"
    assert found.text == f"using column p, label y, groups file; {said}"
    assert found.forecasts.remarks == (said,)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "jsonl", "npz", "json"])
def test_every_format(tmp_path: Path, suffix: str) -> None:
    for day in (1, 2):
        write_table(tmp_path / f"{day}.{suffix}", a_day(day))
    expected = [0.25, 0.05, 0.25, 0.1]
    for given in (
        tmp_path,
        tmp_path / f"*.{suffix}",
        [tmp_path / f"1.{suffix}", str(tmp_path / f"2.{suffix}")],
    ):
        found = tu.read(given)
        assert found.scores.tolist() == expected
        assert found.groups is not None
        assert found.groups.tolist() == ["1", "1", "2", "2"]


def test_a_list_keeps_its_order_and_may_mix_formats(tmp_path: Path) -> None:
    write_table(tmp_path / "b.parquet", a_day(1))
    write_table(tmp_path / "a.csv", a_day(2))
    found = tu.read([tmp_path / "b.parquet", tmp_path / "a.csv"])
    assert found.scores.tolist() == [0.25, 0.05, 0.25, 0.1]


def test_a_matrix_and_columns_in_another_order(tmp_path: Path) -> None:
    write_table(tmp_path / "a.csv", {"p_0": [0.5], "p_1": [0.5], "y": [1], "w": [1.0]})
    write_table(tmp_path / "b.csv", {"w": [2.0], "y": [0], "p_1": [0.75], "p_0": [0.25]})
    found = tu.read(tmp_path, weights="w")
    assert found.rows(slice(0, 2)).tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert found.labels.tolist() == [1, 0]
    assert found.weights is not None
    assert found.weights.tolist() == [1, 2]


def test_files_of_one_name_in_two_folders_stay_distinct(tmp_path: Path) -> None:
    for model in ("gpt", "llama"):
        for task in ("a", "b"):
            (tmp_path / model).mkdir(exist_ok=True)
            write_table(tmp_path / model / f"{task}.csv", a_day(1))
    found = tu.read(tmp_path)
    assert found.groups is not None
    assert sorted(set(found.groups)) == ["gpt/a", "gpt/b", "llama/a", "llama/b"]
    assert len(files_of(str(tmp_path / "*" / "a.csv")) or []) == 2


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["x/a.csv", "x/b.csv.gz"], ["a", "b"]),
        (["x/a.csv", "x/a.parquet"], ["a.csv", "a.parquet"]),
        (["x/1/a.csv", "x/2/a.csv"], ["1/a", "2/a"]),
        (["2024.01.csv", "2024.02.csv"], ["2024.01", "2024.02"]),
        (["x/a.csv", "x/y/a.csv"], ["a", "y/a"]),
    ],
)
def test_names_of_files(files: list[str], names: list[str]) -> None:
    assert short_names([Path(file) for file in files]) == names


def test_a_column_called_file_is_kept(tmp_path: Path) -> None:
    for name in "ab":
        write_table(tmp_path / f"{name}.csv", {**a_day(1), "file": ["u", "v"]})
    found = read_forecasts(tmp_path)
    assert found.forecasts.group_columns == ("file_name",)
    found = read_forecasts(tmp_path, groups="file,file_name")
    assert found.forecasts.groups is not None
    assert found.forecasts.groups.tolist() == ["u / a", "v / a", "u / b", "v / b"]


def test_groups_that_are_named_win(daily: Path) -> None:
    for name in DAYS:
        write_table(daily / f"{name}.csv", {**a_day(1), "site": ["u", "v"]})
    found = read_forecasts(daily, groups="site")
    assert found.text == "using column p, label y, groups site"
    assert found.forecasts.remarks == ()


def test_each_file_is_read_once(daily: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trueup.io.formats.csv_files import CsvTable

    fetched = []
    original = CsvTable._fetch

    def counted(self: Any, names: Any, limit: Any) -> Any:
        fetched.append((self.shown, limit))
        return original(self, names, limit)

    monkeypatch.setattr(CsvTable, "_fetch", counted)
    tu.read(daily, probs="p", labels="y")
    assert len(fetched) == len({name for name, _ in fetched}) == 4
    assert {limit for _, limit in fetched} == {None}


def test_a_fault_is_said_with_its_file_and_line(tmp_path: Path) -> None:
    write_table(tmp_path / "a.csv", a_day(1))
    write_table(tmp_path / "b.csv", {"p": [0.5, 1.5], "y": [0, 1]})
    with pytest.raises(tu.InputError, match=r"got 1\.5 in row 1 \(line 3\) of \S*b\.csv"):
        tu.read(tmp_path)
    write_table(tmp_path / "b.csv", {"p": [0.5, np.nan], "y": [0, 1]})
    with pytest.raises(tu.InputError, match=r"1 of 4 rows has .* row 1 \(line 3\) of \S*b\.csv"):
        tu.read(tmp_path)
    assert tu.read(tmp_path, drop_missing=True).n == 3


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"q": [0.5], "y": [1]}, r"b\.csv: has no column 'p', which \S*a\.csv has\. Hint: name"),
        ({"p": [0.5], "y": [1], "z": [1]}, r"a\.csv: has no column 'z', which \S*b\.csv has"),
        ({"p": [0.5], "y": ["cat"]}, r"b\.csv: column 'y' holds texts, but in \S*a\.csv .* numb"),
        ({"p": ["50%"], "y": [1]}, r"b\.csv: column 'p' holds percentages, but not in \S*a\.csv"),
    ],
)
def test_columns_must_agree(tmp_path: Path, other: dict[str, Any], message: str) -> None:
    write_table(tmp_path / "a.csv", a_day(1))
    write_table(tmp_path / "b.csv", other)
    with pytest.raises(tu.InputError, match=message):
        tu.read(tmp_path)


def test_columns_that_nobody_uses_may_differ(tmp_path: Path) -> None:
    write_table(tmp_path / "a.csv", a_day(1))
    write_table(tmp_path / "b.csv", {"z": [1], "p": [0.5], "y": [1]})
    assert tu.read(tmp_path, probs="p", labels="y").n == 3


def test_matrices_must_agree(tmp_path: Path) -> None:
    for name, k in (("a", 3), ("b", 4)):
        write_table(tmp_path / f"{name}.npz", {"probs": np.full((2, k), 1 / k), "y": [0, 1]})
    with pytest.raises(tu.InputError, match=r"b\.npz: column 'probs' holds 4 numbers per row, but"):
        tu.read(tmp_path)


def test_refusals(daily: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no file like .*\*\.npz"):
        tu.read(daily / "*.npz")
    with pytest.raises(tu.InputError, match=r"day-1\.csv: is given twice"):
        tu.read([daily, daily / "day-1.csv"])
    with pytest.raises(tu.InputError, match="`path` must contain at least one file"):
        tu.read([])
    with pytest.raises(tu.InputError, match="files alone, without standard input"):
        tu.read([daily / "day-1.csv", "-"])
    with pytest.raises(tu.InputError, match=r"Hint: data in memory need no `read`; pass columns"):
        tu.read(np.zeros(3))  # type: ignore[arg-type]
    write_table(daily / "all.parquet", a_day(1))
    with pytest.raises(
        tu.InputError, match=r"several formats: csv \(4\), parquet \(1\)\. Hint: ch"
    ):
        tu.read(daily)
    assert tu.read(daily, format="csv").n == 8


def test_a_data_frame_gets_a_hint() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(tu.InputError, match=r"got a DataFrame\. Hint: data in memory need no"):
        tu.read(pandas.DataFrame(a_day(1)))  # type: ignore[arg-type]


def test_an_odd_name_is_a_file_before_it_is_a_pattern(tmp_path: Path) -> None:
    if os.name == "nt":
        pytest.skip("no such names on Windows")
    write_table(tmp_path / "a[1]*.csv", a_day(1))
    assert tu.read(tmp_path / "a[1]*.csv").n == 2


def test_predictions_alone(daily: Path) -> None:
    found = read_scores(open_table(daily), probs="p")
    assert found.values.tolist()[:2] == [0.25, 0.05]
    assert open_table(daily).texts(["file", "p"])["p"][:2] == ["0.25", "0.05"]
