"""Options of data: they reach the input check, and errors say what is wrong with a file."""

from __future__ import annotations

import numpy as np
import pytest

from support.command_line import overconfident
from trueup.cli import data_options as data_file
from trueup.forecasts import Forecasts
from trueup.io import write_table

CERTIFY = ("--max-error", "0.5", "--method", "asymptotic")


@pytest.fixture
def read(run, files, monkeypatch):
    """What `certify`, a command that takes no time, has read."""
    kept = []
    original = data_file.read

    def keep(path, columns) -> Forecasts:
        kept.append(original(path, columns))
        return kept[-1]

    monkeypatch.setattr("trueup.cli.commands.certify.read", keep)

    def read(*args, **options) -> Forecasts:
        run("certify", *args, *CERTIFY, **options)
        return kept[-1]

    return read


def test_all_options_together(read) -> None:
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(300, 3)), rng.integers(0, 3, 300)
    write_table("z.csv", {"z": logits, "what": labels, "w": 1 + rng.random(300)})
    columns = ("--probs", "z_*", "--labels", "what", "--weights", "w", "--logits")
    found = read("z.csv", *columns, "--classes", "x, y,z")
    assert found.log_probs_exact
    assert found.classes == ("x", "y", "z") or found.classes == (0, 1, 2)
    assert found.weights is not None
    np.testing.assert_array_equal(found.labels, labels)
    expected = Forecasts.from_arrays(logits, labels, logits=True)
    np.testing.assert_allclose(found.rows(slice(0, 300)), expected.rows(slice(0, 300)))


def test_confidence_in_a_predicted_class(read) -> None:
    write_table(
        "c.csv",
        {"conf": [0.9, 0.8, 0.7], "guess": ["a", "b", "b"], "truth": ["a", "a", "b"]},
    )
    found = read("c.csv", "--probs", "conf", "--prediction", "guess", "--labels", "truth")
    assert found.labels.tolist() == [1, 0, 1]


def test_standard_input_in_another_format(read, files) -> None:
    write_table("wrong.parquet", overconfident())
    content = (files / "wrong.parquet").read_bytes()
    assert read("-", input=content).n == 600
    content = (files / "wrong.csv").read_bytes()
    assert read("-", "--format", "csv", input=content).n == 600


def test_missing_values_and_sums(run, read, files) -> None:
    (files / "gap.csv").write_text("p,y\n" + "0.5,1\n,0\n0.25,0\n0.75,1\n" * 10)
    assert "--drop-missing" in run("certify", "gap.csv", *CERTIFY, code=2).stderr
    assert read("gap.csv", "--drop-missing").n == 30
    (files / "sum.csv").write_text("p_0,p_1,p_2,y\n" + "0.5,0.3,0.19,1\n0.25,0.6,0.14,0\n" * 10)
    assert "--normalize" in run("certify", "sum.csv", *CERTIFY, code=2).stderr
    assert read("sum.csv", "--normalize").n == 20
    (files / "own.csv").write_text("p_0,p_1,p_2,y\n" + "0.5,0.1,0.1,1\n0.25,0.5,0.1,0\n" * 10)
    told = run("certify", "own.csv", *CERTIFY, code=2).stderr
    assert "these look like sigmoid scores: evaluate each column separately" in told
    assert "--normalize" not in told
    assert read("own.csv", "--normalize").n == 20


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("p,y\n", "no rows"),
        ("p,y\n50%,1\n0.4,0\n", "'0.4'"),
        ("p,y\n1.5,1\n0.2,0\n", "1.5 in row 0 (line 2)"),
        ("name,age\nann,3\nbob,4\n", "no column name looks like labels"),
    ],
)
def test_files_that_cannot_be(run, files, content, said) -> None:
    (files / "bad.csv").write_text(content)
    result = run("evaluate", "bad.csv", code=2)
    assert said in result.stderr
    assert result.stderr.startswith("trueup: bad.csv: ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("command", "more"), [("power", ("--true-error", "0.1")), ("simulate", ("--n-datasets", "9"))]
)
def test_what_cannot_be_simulated_is_said_of_the_file(run, files, command, more) -> None:
    write_table(files / "c.csv", {"p": [0.5] * 3, "y": [1, 0, 1]})
    text = run(command, "c.csv", *more, code=2).stderr
    told = (
        "c.csv: the probabilities must contain two distinct values, to fit a Beta distribution; "
        "got only 0.5."
    )
    assert told in text


def test_apply_names_the_file(run, files) -> None:
    run("fit", "wrong.csv", "--method", "platt", "-o", "c.json")
    columns = {"p": np.full(7, 0.5), "y": np.zeros(30)}
    np.savez(files / "unequal.npz", **columns)
    said = run("apply", "c.json", "unequal.npz", "-o", "out.npz").stderr
    assert "left out y, of another length than p, which has 7 rows." in said
    with np.load(files / "out.npz") as written:
        assert written.files == ["p"]
    run("fit", "three.csv", "--method", "temperature", "-o", "k.json")
    text = run("apply", "k.json", "wrong.csv", "--probs", "p", code=2).stderr
    assert "trueup: wrong.csv: --probs must name 3 columns, as the calibrator was fitted" in text
