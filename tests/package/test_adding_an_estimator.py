"""docs/adding-an-estimator.md, followed to the letter in a copy of the source."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import trueup

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adding-an-estimator.md"
BLOCK = re.compile(r"```(?:python|markdown)\n# ([\w/.]+)(?:, ([^\n]+))?\n(.*?)```", re.S)

SCRIPT = """
import json
import numpy as np
import matplotlib
matplotlib.use("Agg")
import trueup as tu

rng = np.random.default_rng(0)
P = rng.dirichlet([1, 1, 2], 400)
y = np.array([rng.choice(3, p=row) for row in P**2 / (P**2).sum(axis=1, keepdims=True)])
p, z = P[:, 0], y == 0
gap, parity = tu.MeanGap(), tu.lens.Parity()
found = {}

ends = tu.interval(gap, p, z, n_resamples=99, rng=0)
found["interval"] = ends.low <= ends.estimate <= ends.high
found["lens in an interval"] = tu.interval(tu.BinnedError(parity), P, y).low >= 0
for statistic in (gap, tu.MeanGap(parity), tu.BinnedError(parity), tu.parity_gap):
    test = tu.calibration_test(P, y, statistic=statistic, n_resamples=99, rng=0)
    found[f"test of {statistic!r}"[:60]] = 0 < test.pvalue <= 1
clusters = np.repeat(np.arange(40), 10)
grouped = tu.Forecasts.from_arrays(p, z, clusters=clusters)
signs = tu.calibration_test(grouped, statistic=gap, method="cluster-signs", n_resamples=99, rng=0)
found["cluster signs"] = 0 < signs.pvalue <= 1

evaluation = tu.evaluate(P, y, metrics=[gap, tu.BinnedError(parity), "parity_gap"],
                         n_resamples=99, recalibrate=False, advice=False)
rows = {each.metric: each for each in evaluation.estimates}
found["evaluate"] = {"parity_gap", repr(gap)} <= set(rows)
found["tested"] = all(each.test is not None for each in rows.values())
found["lens in words"] = rows["parity_gap"].lens == "even and odd predicted classes"

found["classes"] = tu.class_errors(gap, P, y)["class"].tolist() == [0, 1, 2]
halves = tu.class_errors(tu.MeanGap(parity), P, y)
found["members"] = halves["class"].tolist() == ["even", "odd"]
found["groups"] = len(tu.group_errors(P, y, y % 2, estimator=gap, n_resamples=99, rng=0).table) == 2
found["compare"] = tu.compare(p, p**2, z, estimator=gap, n_resamples=99, rng=0).pvalue <= 1

trace = tu.Trace({"gap": tu.parity_gap})
found["trace"] = trace.record(1, P, y)["gap"] >= 0
found["explain"] = "rmsce_debiased." in tu.explain("parity_gap", P, y, n_draws=5).text
found["make_scorer"] = callable(tu.make_scorer(tu.parity_gap))

evaluation.plot()
tu.plotting.plot_reliability(tu.BinnedError(parity).table(P, y)["even"])
np.savez("data.npz", probs=P, labels=y)
print(json.dumps({key: bool(value) for key, value in found.items()}))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with the page's blocks in the files they name, and nothing else changed."""
    place = tmp_path_factory.mktemp("copy")
    unneeded = shutil.ignore_patterns("__pycache__", "*.c")
    shutil.copytree(Path(trueup.__file__).parent, place / "src" / "trueup", ignore=unneeded)
    for folder in ("docs", "tests"):
        shutil.copytree(ROOT / folder, place / folder, ignore=unneeded)
    for file in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / file, place)
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 10
    for name, where, code in blocks:
        path = place / name
        if where == "at the end":
            path.write_text(path.read_text(encoding="utf-8") + "\n" + code, encoding="utf-8")
        elif where == "after the imports":
            before, import_, after = path.read_text(encoding="utf-8").rpartition("\nfrom trueup")
            path.write_text(f"{before}\n{code.strip()}{import_}{after}", encoding="utf-8")
        elif where.startswith(
            "in "
        ):  # a list or a table: below the line, and its rule, that opens it
            before, opening, after = re.split(
                rf"^({re.escape(where[3:])}.*\n(?:\|[-|]+\n)?)",
                path.read_text(encoding="utf-8"),
                maxsplit=1,
                flags=re.M,
            )
            path.write_text(f"{before}{opening}{code}{after}", encoding="utf-8")
        else:
            assert not path.exists()
            path.write_text(code, encoding="utf-8")
    return place


def run(copy: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(copy / "src")}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_new_estimator_and_a_new_lens_work_everywhere(copy: Path):
    found = json.loads(run(copy, "-c", SCRIPT).splitlines()[-1])
    assert found
    assert all(found.values()), found


def test_the_command_line_takes_the_new_metric(copy: Path):
    run(copy, "-c", SCRIPT)
    arguments = ("evaluate", "data.npz", "--metric", "parity_gap", "--quick", "--json")
    report = json.loads(run(copy, "-m", "trueup", *arguments, "--resamples", "99"))
    assert "parity_gap" in {each["metric"] for each in report["estimates"]}


def test_the_lists_of_the_tests_know_the_new_names(copy: Path):
    files = ("package/test_public_names.py", "metrics/test_declare.py", "package/test_contract.py")
    laws = ["-k", "parity_gap or MeanGap", "tests/laws", "tests/explanation"]
    for chosen in ([f"tests/{file}" for file in files], laws):
        out = run(copy, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *chosen)
        assert "passed" in out


def test_the_page_names_four_places_for_a_metric():
    text = PAGE.read_text(encoding="utf-8")
    named = text.partition("## A named metric: four places")[2].partition("## Speed")[0]
    assert re.findall(r"^(\d)\. ", named, re.M) == ["1", "2", "3", "4"]
