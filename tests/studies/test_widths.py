"""The formulas of studies compared with loops, and how results are frozen and compared."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from studies.frozen.__main__ import main, run
from studies.frozen.compare import compare, differences, relative_difference
from studies.frozen.record import MOST_VALUES, Record
from studies.widths import sun_interval


def loops(p: np.ndarray, y: np.ndarray, edges: np.ndarray) -> tuple[float, float, float]:
    """T as a mean over pairs of rows, σ/√n and the null deviation, term by term."""
    n, total, spread, mean_square, null = len(p), 0.0, 0.0, 0.0, 0.0
    for b in range(len(edges) + 1):
        rows = [i for i in range(n) if int(np.sum(p[i] > edges)) == b]
        if not rows:
            continue
        u = [float(y[i] - p[i]) for i in rows]
        many, mean = len(u), sum(u) / len(u)
        if many > 1:
            pairs = sum(u[i] * u[j] for i in range(many) for j in range(many) if i != j)
            total += many / n * pairs / (many * (many - 1))
        square = sum(each * each for each in u) / many
        spread += many / n * (4 * mean**2 * square - 3 * mean**4)
        mean_square += many / n * mean**2
        null += (sum(p[i] * (1 - p[i]) for i in rows) / many) ** 2
    return total, np.sqrt((spread - mean_square**2) / n), np.sqrt(2 * null) / n


@pytest.mark.parametrize("power", [1.0, 1.3, 2.0, 4.0])
def test_the_interval_of_sun_et_al(power: float) -> None:
    """All branches: far from 0, between, near 0, and within the noise of calibrated scores."""
    rng = np.random.default_rng(int(10 * power))
    p = rng.random(200)
    y = (rng.random(200) < p**power).astype(int)
    edges = np.array([0.2, 0.4, 0.6, 0.8])
    total, error, null = loops(p, y, edges)
    value, two, one = max(total, 0.0), norm.ppf(0.975), norm.ppf(0.95)
    low = max(value - one * error, 0.0)
    if value >= 2 * two * error:
        low = value - two * error
    elif value >= 2 * one * error:
        low = value / 2
    low = 0.0 if value < one * null else low
    found = sun_interval(p, y, edges, 0.95)
    np.testing.assert_allclose(found, np.sqrt([low, value + two * error]), rtol=1e-10, atol=1e-12)


def test_a_record_keeps_leaves_and_errors(tmp_path: Path) -> None:
    record = Record()
    record("a", lambda: {"x": np.float64(0.1), "y": [np.array([1.0, math.nan]), {"z": None}]})
    record("b", int, "no number")
    record("c", lambda: np.arange(MOST_VALUES + 1.0))
    record("d", lambda: np.ones(2, np.float32))
    assert len(record.entries["c"]) == MOST_VALUES
    assert len(record.entries["c/sha256"]) == 64
    assert record.entries["d/dtype"] == "float32"
    record.write(tmp_path / "out.json")
    read = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert (read["a/x"], read["a/y/1/z"], read["b"]) == (0.1, None, "raises ValueError")
    assert "no number" in read["b/message"]
    assert not compare(record.entries, read)
    with pytest.raises(ValueError, match="two entries"):
        record("a/x", float)


def test_differences_are_told_apart_by_size() -> None:
    before = {"a": 1.0, "b": 0.3, "c": [1.0, 2.0], "d": "text", "e": 0.0, "f": 1, "g": math.nan}
    after = {"a": 1.0, "b": np.nextafter(0.3, 1), "c": [1.0, 2.1], "d": "other", "e": -0.0}
    before |= {"i": [1.0, -2.0, math.nan], "j": [1.0, 2.0]}
    after |= {"i": [-1.0, 2.0, math.nan], "j": [-1.0, 2.0]}
    found = differences(before, {**after, "f": None, "h": 1})
    assert {key: kind for key, kind, _ in found} == {
        "b": "rounding",
        "c": "larger",
        "d": "text",
        "e": "rounding",
        "f": "text",
        "g": "removed",
        "h": "added",
        "i": "sign",
        "j": "larger",
    }
    assert relative_difference(math.nan, math.nan) == 0
    assert relative_difference(math.nan, 1.0) == math.inf
    assert relative_difference(math.inf, 1.0) == math.inf
    assert relative_difference(-1.0, 1.0) == 2


def test_a_report_groups_keys_and_takes_renames() -> None:
    before = {"metric/one/a": 1.0, "metric/one/b": 2.0, "metric/two/old/c": 3}
    after = {"metric/one/a": 1.1, "metric/one/b": 2.0, "metric/two/new/c": 3}
    report = compare(before, after)
    assert "metric/one: 1, largest relative difference 9.1e-02" in report
    assert "metric/one/a: 1.0 → 1.1" in report
    assert "metric/two/old/c" in report
    assert "1 entries are bit-for-bit identical" in report
    assert "metric/two" not in compare(before, after, {"old": "new"})
    assert "metric/two" not in compare(before, after, {r"(?<=two/)\w+(?=/c$)": "new"})
    assert compare({"k": [0.5, 1.0]}, {"k": [0.5, 2.0]}).count("k[1]: 1.0 → 2.0") == 1


def test_a_section_is_frozen_the_same_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "ab":
        run(["checks"]).write(tmp_path / name)
    assert main(["--compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert "are bit-for-bit identical" in capsys.readouterr().out
    assert json.loads((tmp_path / "a").read_text("utf-8"))["check/ece/lists"] == pytest.approx(0.2)
