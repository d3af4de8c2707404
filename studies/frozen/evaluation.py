"""Evaluations and what is drawn of them, files, and the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import trueup as tu
from studies.frozen.record import Record
from studies.frozen.samples import Sample, forecasts, matrix, sample, some
from trueup import inference, plotting, simulate

LEFT_OUT = ("versions", "fingerprint")
"""Parts of an evaluation that depend on the machine, or only repeat the input."""

EVALUATED = (
    "binary",
    "binary-ties",
    "binary-weights",
    "binary-clusters",
    "binary-soft",
    "two",
    "binary-0-1",
    "binary-n7",
    "binary-n1",
    "binary-float32",
    "binary-logits",
    "four",
    "four-ties",
    "four-weights",
    "four-clusters",
    "four-soft",
    "four-names",
    "four-logits",
    "four-0-1",
    "hundred",
    "real-games",
    "real-cells",
    "real-images-10",
)
WHOLE = ("binary", "four")
"""Samples that are evaluated with recalibration and advice; the others without advice."""

METRICS = ("ece", "sce", "skce", "psce", "brier", "smooth_ece", "mmce", "kuiper", "ece_kde")


def evaluations(record: Record) -> None:
    """Record whole evaluations as JSON, and their text."""
    quick: dict[str, Any] = {"n_resamples": 99, "advice": False}
    for name in some(*EVALUATED):
        recalibrate = name in (*WHOLE, "four-weights", "real-games", "four-names")
        options = quick | {"recalibrate": recalibrate, "advice": name in WHOLE}
        record(f"evaluate/{name}", _evaluated, _arguments(name), **options)
    for name in ("binary", "four"):
        given = sample(name)
        rng = np.random.default_rng(9)
        n = len(given["labels"])
        beside: dict[str, Any] = {
            "groups": np.array(["north", "south"])[np.arange(n) % 3 % 2],
            "features": rng.normal(size=(n, 2)),
        }
        options = quick | {"recalibrate": False}
        for key, value in beside.items():
            record(f"evaluate-{key}/{name}", _evaluated, given, **{key: value}, **options)
        record(f"evaluate-metrics/{name}", _evaluated, given, metrics=list(METRICS), **options)
        other = matrix(4, n, temperature=1.1)["probs"] if name == "four" else given["probs"] ** 1.3
        models = {"first": given["probs"], "second": other}
        asked = {"labels": given["labels"], "models": models}
        record(f"evaluate-models/{name}", _evaluated, asked, **options)
        record(
            f"evaluate-bins/{name}", _evaluated, given, n_bins=7, confidence_level=0.9, **options
        )


def _arguments(name: str) -> Sample:
    given = dict(sample(name))
    if "logits" in given or "soft_labels" in given:
        return {"probs": forecasts(name)}
    return given


def _evaluated(given: Sample, **options: Any) -> dict[str, Any]:
    found = tu.evaluate(**given, **options)
    return {"json": _without(json.loads(found.to_json())), "text": str(found).splitlines()}


def _without(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {k: _without(v) for k, v in data.items() if k not in LEFT_OUT}
    return [_without(item) for item in data] if isinstance(data, list) else data


def figures(record: Record) -> None:
    """Record lines, markers, bars and texts of figures."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("without figures: matplotlib is missing", file=sys.stderr)
        return
    mpl.use("Agg")
    few: dict[str, Any] = {"n_resamples": 99, "advice": False}
    for name in ("binary", "four"):
        found = tu.evaluate(**sample(name), recalibrate=True, **few)
        record(f"figure/overview/{name}", lambda found=found: drawn(found.plot()))
    for key, draw in _figures().items():
        record(f"figure/{key}", lambda draw=draw: drawn(draw().figure))


def _figures() -> dict[str, Callable[[], Any]]:
    """What draws each of the other figures."""
    binary, four, three = (tu.Forecasts.from_arrays(**each) for each in _three())
    table = tu.BinnedError(binning=tu.EqualMass(10)).table(binary)
    band, confidence = inference.consistency_band(table), inference.confidence_band(table)
    grid = tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(4))
    groups = np.array(["a", "b"])[np.arange(four.n) % 2]
    features = np.random.default_rng(10).normal(size=(binary.n, 2))
    given = sample("binary")
    landscape = tu.LocalError().table(given["probs"], given["labels"], features)
    sweep = tu.local.mlce_over_bandwidths(given["probs"], given["labels"], features)
    world = simulate.PUBLISHED["resnet110_c10"]
    measures: dict[str, Any] = {"ece": tu.BinnedError(), "sweep": tu.SweepError()}
    studied = simulate.study(world, measures, [50, 200], n_datasets=50, progress=False)
    trace = tu.Trace({"ece": tu.ece, "brier": tu.brier})
    for step in (1, 2, 3):
        trace.record(step, given["probs"] ** step, given["labels"])
    auto = tu.AutoCalibration(cv=3).fit(given["probs"], given["labels"])
    intervals = [tu.interval(tu.ece, binary), tu.interval(tu.rmsce, binary)]
    models = {
        "model": np.array(["ece", "rmsce"]),
        "error": np.array([each.estimate for each in intervals]),
        "low": np.array([each.low for each in intervals]),
        "high": np.array([each.high for each in intervals]),
    }
    few: dict[str, Any] = {"rng": 0, "n_resamples": 99}
    return {
        "reliability": lambda: plotting.plot_reliability(table, band=band),
        "deviation": lambda: plotting.plot_reliability(
            table, band=band, confidence=confidence, form="deviation", zoom="auto"
        ),
        "classes": lambda: plotting.plot_class_errors(inference.class_tests(four, **few)),
        "groups": lambda: plotting.plot_group_errors(
            tu.group_errors(four, groups=groups, **few).table
        ),
        "comparison": lambda: plotting.plot_comparison(tu.tables.ResultTable(models)),
        "simplex": lambda: plotting.plot_simplex(grid.table(three)),
        "tetrahedron": lambda: plotting.plot_tetrahedron(grid.table(four)),
        "pointwise": lambda: plotting.plot_psce(tu.PointwiseError().table(four)),
        "decomposition": lambda: plotting.plot_decomposition(tu.Brier().decompose(binary)),
        "trade-off": lambda: plotting.plot_trade_off(inference.trade_off(binary, rng=0)),
        "recalibrations": lambda: plotting.plot_recalibrations(auto.table_),
        "trace": lambda: plotting.plot_trace(trace.table()),
        "landscape": lambda: plotting.plot_lce_landscape(landscape),
        "local-distribution": lambda: plotting.plot_lce_cdf(landscape),
        "local-bandwidths": lambda: plotting.plot_mlce(sweep),
        "rewards": lambda: plotting.plot_rewards(tu.decisions.abstention_rewards(binary)),
        "coverage": lambda: plotting.plot_coverage(tu.decisions.accuracy_coverage_curve(binary)),
        "study": lambda: plotting.plot_study(studied),
    }


def _three() -> tuple[Sample, Sample, Sample]:
    return sample("binary"), sample("four"), matrix(3, 400)


def drawn(figure: Any) -> list[dict[str, Any]]:
    """Return what is drawn on each axes, in the coordinates of the data."""
    from matplotlib.pyplot import close

    found = []
    for axes in figure.axes:
        bars = [(*bar.get_xy(), bar.get_width(), bar.get_height()) for bar in _bars(axes)]
        found.append(
            {
                "lines": [np.array(line.get_xydata()).tolist() for line in axes.lines],
                "markers": [np.array(each.get_offsets()).tolist() for each in axes.collections],
                "bars": np.array(bars).tolist(),
                "limits": [axes.get_xlim(), axes.get_ylim()],
                "texts": [text.get_text() for text in _texts(axes)],
            }
        )
    close(figure)
    return found


def _bars(axes: Any) -> list[Any]:
    return [patch for patch in axes.patches if hasattr(patch, "get_width")]


def _texts(axes: Any) -> list[Any]:
    return [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]


COMMANDS: dict[str, str] = {
    "evaluate/binary": "evaluate binary.csv --json --quick --resamples 99",
    "evaluate/whole": "evaluate binary.csv --json --resamples 99",
    "evaluate/groups": "evaluate groups.csv --groups site --json --quick --resamples 99",
    "evaluate/four": "evaluate four.csv --json --quick --resamples 99 --metric skce",
    "evaluate/fails": "evaluate binary.csv --quick --resamples 99 --fail-if rmsce_debiased>0.001",
    "evaluate/text": "evaluate four.csv --quick --resamples 99",
    "compare": "compare both.csv --model a=p --model b=q --labels y --json --resamples 99",
    "certify/bins": "certify binary.csv --max-error 0.05 --json",
    "certify/outputs": "certify ties.csv --max-error 0.2 --json "
    "--outputs 0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
    "power": "power binary.csv --true-error 0.05 --n 300 --n-datasets 100 --json",
    "simulate": "simulate --world roelofs_figure_3 --n 100 --n-datasets 50 --metric ece --json",
    "fit/temperature": "fit binary.csv --method temperature -o c.json --json",
    "apply/temperature": "apply c.json binary.csv",
    "fit/auto": "fit four.csv -o d.json --json",
    "apply/auto": "apply d.json four.csv",
    "bad-file": "evaluate missing.csv",
    "bad-column": "evaluate binary.csv --labels nothing",
}


def files(record: Record) -> None:
    """Record what is read from files of every format, and what the commands print."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        _write(here)
        for path in sorted(here.iterdir()):
            record(f"read/{path.name}", _read, path)
        for key, line in COMMANDS.items():
            record(f"command/{key}", _run, line.split(), here)


def _write(folder: Path) -> None:
    from trueup.io import write_table

    p, y = sample("binary")["probs"], sample("binary")["labels"]
    four = sample("four")
    columns = {f"p_{k}": four["probs"][:, k] for k in range(4)} | {"label": four["labels"]}
    site = np.array(["a", "b"], object)[np.arange(len(p)) % 2]
    names = np.array(["dog", "cat", "eel", "ant"], object)
    logits = {f"logit_{k}": np.log(four["probs"][:, k]) for k in range(4)}
    write_table(folder / "binary.csv", {"p": p, "y": y})
    write_table(folder / "ties.csv", {"p": np.round(p, 1), "y": y})
    write_table(folder / "groups.csv", {"p": p, "y": y, "site": site})
    write_table(folder / "both.csv", {"p": p, "q": p**1.3, "y": y})
    write_table(folder / "named.csv", {"p": p, "y": np.array(["no", "yes"], object)[y]})
    write_table(folder / "logits.csv", {**logits, "label": four["labels"]})
    by_name = {f"p_{name}": four["probs"][:, k] for k, name in enumerate(names)}
    write_table(folder / "names.csv", {**by_name, "label": names[four["labels"]]})
    for suffix in ("csv", "tsv", "npz", "json", "jsonl", "parquet", "csv.gz"):
        write_table(folder / f"four.{suffix}", columns)


def _read(path: Path) -> dict[str, Any]:
    options: dict[str, Any] = {"logits": True} if path.stem == "logits" else {}
    options |= {"probs": "p"} if path.stem == "both" else {}
    found = tu.read(path, **options)
    return {
        "labels": found.labels,
        "probs": found.rows(slice(None)) if found.is_matrix else found.scores,
        "classes": found.classes,
    }


def _run(arguments: list[str], folder: Path) -> dict[str, Any]:
    """Run a command in a process of its own; return what it prints and how it ends."""
    command = [sys.executable, "-m", "trueup", *arguments]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    out: Any = done.stdout.splitlines()
    if "--json" in arguments and done.returncode == 0:
        out = _without(json.loads(done.stdout))
    return {"code": done.returncode, "out": out, "error": done.stderr.splitlines()}
