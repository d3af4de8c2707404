"""CSV as programs and people write it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from trueup import InputError
from trueup.io import open_table

Make = Callable[..., Path]


@pytest.mark.parametrize(
    "text",
    [
        "p,y\n0.5,1\n0.25,0\n",
        "p,y\n0.5,1\n0.25,0",
        "p,y\r\n0.5,1\r\n0.25,0\r\n",
        "p,y\r0.5,1\r0.25,0\r",
        "p,y\r\n0.5,1\n0.25,0\r\n",
        "\ufeffp,y\n0.5,1\n0.25,0\n",
        '\ufeff"p","y"\n"0.5","1"\n"0.25","0"\n',
        " p , y \n 0.5 , 1\n0.25,0 \n",
        "p;y\n0.5;1\n0.25;0\n",
        "p\ty\n0.5\t1\n0.25\t0\n",
        "p|y\n0.5|1\n0.25|0\n",
        "# p,y\n0.5,1\n0.25,0\n",
        "p,y\n0.5,1\n\n0.25,0\n\n\n",
        "p,y\n5e-1,1.0\n.25,+0\n",
    ],
)
def test_ways_to_write_the_same(make_file: Make, text: str) -> None:
    table = open_table(make_file("p.csv", text))
    assert table.names == ("p", "y")
    assert table.n == 2
    assert table.column("p").tolist() == [0.5, 0.25]
    assert table.column("y").tolist() == [1, 0]
    assert table.column("y").dtype == np.int64


def test_names_with_commas_quotes_and_lines(make_file: Make) -> None:
    table = open_table(make_file("p.csv", '"a,b","say ""c""","two\nlines"\n1,2,3\n'))
    assert table.names == ("a,b", 'say "c"', "two\nlines")
    assert table.column("two\nlines").tolist() == [3]


def test_a_column_of_row_numbers_without_a_name(make_file: Make) -> None:
    assert open_table(make_file("p.csv", ",p,y\n0,0.5,1\n")).names == ("column_0", "p", "y")


def test_numbers_that_come_late_are_not_lost(make_file: Make) -> None:
    rows = ["1"] * 5000 + ["x"] + ["2"] * 5
    column = open_table(make_file("p.csv", "a,b\n" + "\n".join(f"0,{r}" for r in rows))).column("b")
    assert column.dtype == object
    assert column[5000] == "x"
    assert column[-1] == "2"


def test_a_text_column_that_is_all_numbers_in_the_end(make_file: Make) -> None:
    table = open_table(make_file("p.csv", "a,b\n0,n/a\n0,2.5\n"))
    assert np.isnan(table.column("b")[0])
    assert table.column("b")[1] == 2.5


def test_whole_numbers_too_long_for_floats_stay_as_they_are_read(make_file: Make) -> None:
    column = open_table(make_file("p.csv", "a,b\n0,9007199254740993\n")).column("b")
    assert column.dtype == np.float64


def test_lines_are_those_of_the_file(make_file: Make) -> None:
    table = open_table(make_file("p.csv", 'p,y\n0.5,"a\nb"\n\n0.25,0\n'))
    assert table.where(0) == "row 0 (line 3)"
    assert table.where(1) == "row 1 (line 5)"


def test_names_that_are_numbers(make_file: Make) -> None:
    assert open_table(make_file("p.csv", "0,1,2\n0.2,0.3,0.5\n")).names == ("0", "1", "2")
    for text in ("0.2,0.8,1\n0.3,0.7,0\n", "0,1\n1,1\n", "1,1,2\n1,1,2\n"):
        with pytest.raises(InputError, match=r"has no header: its first line is"):
            open_table(make_file("p.csv", text))


def test_a_thousand_columns(make_file: Make) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.random((20, 1000))
    names = [f"p_{k}" for k in range(1000)]
    lines = [",".join(map(repr, row)) for row in matrix.tolist()]
    table = open_table(make_file("p.csv", ",".join(names) + "\n" + "\n".join(lines)))
    assert np.array_equal(table.matrix(names), matrix)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_every_float_is_read_as_python_reads_it(
    tmp_path_factory: pytest.TempPathFactory, values: list[float]
) -> None:
    path = tmp_path_factory.mktemp("floats") / "p.csv"
    path.write_text("p,y\n" + "".join(f"{value!r},1\n" for value in values))
    assert open_table(path).column("p").astype(float).tolist() == values


def test_rows_of_a_long_file_stay_in_order(make_file: Make) -> None:
    n = 400_000
    lines = "\n".join(f"{k / n!r},{k % 2},{'word' * 5}" for k in range(n))
    table = open_table(make_file("p.csv", f"p,y,word\n{lines}\n"))
    assert np.array_equal(table.column("p"), np.arange(n) / n)
    assert table.n == n
