"""What is done with a damaged file, by the name of the target."""

from __future__ import annotations

import csv
import io
import json
import os
import random
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

import trueup as tu
from tools.fuzz.mutations import TOKENS, damaged_bytes, damaged_json, damages_of
from tools.fuzz.outcomes import DefectError, checked, limited
from tools.fuzz.whole_files import whole_evaluation, whole_recalibrators, whole_tables
from trueup.cli.program import program
from trueup.io import open_table
from trueup.recalibrate.files import save_and_load

Target = Callable[[Path, random.Random], None]
TOLERANCE = 1e-6
MORE: tuple[dict[str, Any], ...] = (
    *({}, {}, {}, {"drop_missing": True}, {"logits": True}, {"normalize": True}, {"groups": "g"}),
    *({"probs": "p"}, {"probs": "p_*", "labels": "label"}, {"features": "w"}, {"weights": "w"}),
    *({"clusters": "g"}, {"prediction": "prediction"}, {"soft_labels": True}, {"ignore_label": -1}),
)


def _damaged_table(folder: Path, rng: random.Random, suffixes: tuple[str, ...] = ()) -> Path:
    known = whole_tables()
    name = rng.choice([x for x in known if not suffixes or x.endswith(suffixes)])
    content = rng.choice(damages_of(name))(known[name], rng)
    path = folder / f"damaged.{name.split('.', 1)[1]}"
    path.write_bytes(content)
    return path


def read_tables(folder: Path, rng: random.Random) -> None:
    """Read damaged predictions; what is accepted must hold probabilities and labels."""
    path = _damaged_table(folder, rng)
    options = rng.choice(MORE)
    found = checked(folder, path, lambda: tu.read(path, **options))
    if found is None:
        return
    probs = found.rows(slice(0, found.n))
    if not (found.n > 0 and np.isfinite(probs).all() and (probs >= 0).all()):
        raise DefectError("accepted predictions that are no probabilities")
    if not np.allclose(probs.sum(axis=1), 1, atol=0.02):
        raise DefectError("accepted probabilities that do not sum to 1")


def read_several(folder: Path, rng: random.Random) -> None:
    """Read damaged predictions together with whole ones of the same kind."""
    import_module("trueup.io.files_table")  # before imports are watched
    path = _damaged_table(folder, rng)
    kind, suffix = rng.choice(list(whole_tables())).split(".", 1)
    whole = folder / f"whole.{suffix}"
    whole.write_bytes(whole_tables()[f"{kind}.{suffix}"])
    files = rng.choice(([whole, path], [path, whole], str(folder), str(folder / "*")))
    options = rng.choice((*MORE, {"groups": "file"}))
    # The message may be about several files, or about the one that is whole.
    checked(folder, None, lambda: tu.read(files, **options))


def load_evaluations(folder: Path, rng: random.Random) -> None:
    """Load a damaged evaluation."""
    path = folder / "damaged.json"
    path.write_bytes(rng.choice(damages_of(path.name))(whole_evaluation(), rng))
    checked(folder, path, lambda: tu.Evaluation.from_json(path))


def load_recalibrators(folder: Path, rng: random.Random) -> None:
    """Load a damaged recalibrator; one that is accepted must give probabilities."""
    known = whole_recalibrators()
    name = rng.choice(list(known))
    content = known[name]
    if content.startswith(b"{") and rng.random() < 0.7:
        # With the right checksum, as anyone can write who knows the format.
        document = json.loads(damaged_json(content, rng))
        if isinstance(document, dict) and "sha256" in document:
            rest = {key: value for key, value in document.items() if key != "sha256"}
            document["sha256"] = save_and_load._checksum(rest, [])
        content = json.dumps(document).encode()
    else:
        content = damaged_bytes(content, rng)
    path = folder / "damaged.json"
    path.write_bytes(content)
    found = checked(folder, path, lambda: tu.load_recalibrator(path))
    if found is None:
        return
    probs = checked(folder, None, lambda: _predicted(found))
    if probs is None:
        return
    if not np.isfinite(probs).all() or np.abs(probs.sum(axis=1) - 1).max() > TOLERANCE:
        raise DefectError("loaded a recalibrator that gives no probabilities")


def _predicted(recalibrator: Any) -> Any:
    scores = np.random.default_rng(0).dirichlet(np.ones(3), 9)
    n = recalibrator.n_features_in_
    given = scores[:, 0] if n == 1 else np.resize(scores, (9, n)) / n
    if n != 1:
        given = given / given.sum(axis=1, keepdims=True)
    groups = {"groups": ["u"] * 9} if "group" in type(recalibrator).__name__.lower() else {}
    return recalibrator.predict_proba(given, **groups)


def agree_with_csv(folder: Path, rng: random.Random) -> None:
    """Read a damaged CSV; what is accepted must be what Python's csv module reads."""
    if rng.random() < 0.5:
        path = _damaged_table(folder, rng, (".csv",))
    else:
        path = folder / "random.csv"
        path.write_bytes(_random_csv(rng))

    def work() -> tuple[Any, dict[str, Any]]:
        table = open_table(path)
        return table, table.columns(table.names)

    found = checked(folder, path, work)
    if found is None:
        return
    table, columns = found
    text = path.read_bytes().decode("utf-8-sig")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=table._delimiter)
    rows = [row for row in reader if row][1:]
    if any(len(column) != len(rows) for column in columns.values()):
        raise DefectError(f"read {len(columns[table.names[0]])} rows of {len(rows)}")
    for at, name in enumerate(table.names):
        for row, (value, cells) in enumerate(zip(columns[name].tolist(), rows, strict=True)):
            if len(cells) != len(table.names) or not _same(value, cells[at]):
                raise DefectError(f"read {value!r} for {cells} in row {row}, column {at}")


def _same(value: Any, cell: str) -> bool:
    if isinstance(value, str):
        return value == cell
    if value is None or value != value:
        return cell.strip().lower() in {"", "nan", "+nan", "-nan"} or not _is_float(cell)
    return _is_float(cell) and float(cell) == value


def _is_float(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _random_csv(rng: random.Random) -> bytes:
    words = [token.decode("latin1") for token in TOKENS if token not in (b"\xff", b"\0")]
    width = rng.randint(1, 4)
    lines = [",".join(f"c{k}" for k in range(width))]
    for _ in range(rng.randint(0, 6)):
        cells = [rng.choice(words) if rng.random() < 0.3 else "0.5" for _ in range(width)]
        quoted = [f'"{cell}"' if rng.random() < 0.3 else cell for cell in cells]
        lines.append(",".join(quoted) + "," * (rng.random() < 0.1))
    return rng.choice(("\n", "\r\n", "\r")).join(lines).encode("utf-8") + b"\n" * rng.randint(0, 2)


COMMANDS = (
    ("evaluate", "{}", "--quick", "--resamples", "39"),
    ("evaluate", "{}", "--quick", "--resamples", "39", "--groups", "g", "-o", "out.json"),
    ("certify", "{}", "--max-error", "0.1", "--json"),
    ("fit", "{}", "--method", "platt", "-o", "out.json"),
    ("fit", "{}", "--method", "histogram", "-o", "out.json"),
    ("apply", "platt.json", "{}", "-o", "out.csv"),
    ("apply", "platt.json", "{}", "-o", "out.parquet"),
    ("apply", "platt.json", "{}"),
    ("compare", "{}", "whole.csv", "--resamples", "39"),
    ("power", "{}", "--true-error", "0.1", "--n", "20", "--n-datasets", "20"),
)


def run_program(folder: Path, rng: random.Random) -> None:
    """Run a command on a damaged file; it ends with 0 or with 2 and one sentence."""
    path = _damaged_table(folder, rng)
    (folder / "platt.json").write_bytes(whole_recalibrators()["platt"])
    (folder / "whole.csv").write_bytes(whole_tables()["binary.csv"])
    args = [word.format(path.name) for word in rng.choice(COMMANDS)]
    here = Path.cwd()
    before = set(os.listdir(folder))
    os.chdir(folder)
    try:
        with limited(folder):
            result = CliRunner().invoke(program, args)
    finally:
        os.chdir(here)
    told = f"{' '.join(args)}: {result.stderr.strip()[-300:]}"
    if result.exit_code not in (0, 2):
        raise DefectError(f"exit code {result.exit_code} of {told}")
    if any(not line.isprintable() for line in result.stderr.splitlines()):
        raise DefectError(f"control characters written by {told!r}")
    left = set(os.listdir(folder)) - before
    if result.exit_code == 2 and left:
        raise DefectError(f"{left} left by {told}")
    last = result.stderr.splitlines()[-1] if result.stderr else ""
    named = (path.name, *(word for word in args if word.startswith("out.")))
    if result.exit_code == 2 and not any(name in last for name in named):
        raise DefectError(f"the file is not named by {told}")


TARGETS: dict[str, Target] = {
    "read": read_tables,
    "several": read_several,
    "load": load_recalibrators,
    "evaluation": load_evaluations,
    "csv": agree_with_csv,
    "program": run_program,
}
