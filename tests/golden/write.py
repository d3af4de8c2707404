"""Rewrite the golden files, for a new version of a format only: `python tests/golden/write.py`.

Every file is one that this version of trueup wrote; later versions must read it, or say that it is
an earlier one.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import trueup as tu
from trueup.recalibrate.files import save_and_load
from trueup.simulate.studies.checkpoint import BatchKey, Checkpoint
from trueup.tables import FineBinTable, ResultTable

HERE = Path(__file__).parent
SETTINGS = {"rng": 7, "measures": {"ece": "BinnedError()"}, "n": [10]}
NUMBERS = {"ece": np.array([0.1, 1 / 3]), "sure": np.array([np.nan, np.inf])}
KEY = BatchKey("world", 10, 3)


def data() -> tuple[np.ndarray, np.ndarray]:
    """Forty rows of three classes."""
    rng = np.random.default_rng(0)
    probs = rng.dirichlet([1, 2, 3], 40)
    return probs, (rng.random((40, 1)) > probs.cumsum(axis=1)).sum(axis=1)


def models() -> dict[str, tu.Recalibrator]:
    """Recalibrators by the name of their file."""
    probs, labels = data()
    names = np.array(["ant", "bee", "cat"])[labels]
    return {
        "temperature.json": tu.TemperatureScaling(normalize=True).fit(probs / 2, labels),
        "isotonic.safetensors": tu.OneVsRestCalibration(tu.IsotonicCalibration()).fit(probs, names),
    }


def evaluation() -> tu.Evaluation:
    """A small evaluation that has every part but those which take long."""
    probs, labels = data()
    options = {"n_bins": 3, "n_resamples": 39, "recalibrate": False, "advice": False}
    return tu.evaluate(probs, labels, groups=np.arange(40) % 2, **options)


def tables() -> dict[str, dict[str, object]]:
    """Every kind of table by its class, as `to_dict` has it."""
    probs, labels = data()
    found = [
        tu.BinnedError().table(probs, labels),
        tu.BinnedError(tu.lens.ClassWise()).table(probs, labels),
        tu.BinnedError(tu.lens.Canonical(), tu.bins.SimplexGrid(2)).table(probs, labels),
        FineBinTable.from_arrays(probs[:, 0], labels == 0),
        ResultTable({"name": np.array(["a", "b"]), "error": np.array([0.5, np.nan])}),
    ]
    return {type(table).__name__: table.to_dict() for table in found}


def main() -> None:
    """Write all files."""
    probs, _ = data()
    save_and_load.MOST_INSIDE = 500  # so that a small file has its arrays outside the JSON
    found = {}
    for name, model in models().items():
        model.save(HERE / name)
        found[name] = model.predict_proba(probs).tolist()
    (HERE / "predictions.json").write_text(json.dumps(found, indent=1))
    evaluation().to_json(HERE / "evaluation.json")
    (HERE / "tables.json").write_text(json.dumps(tables()))
    path = HERE / "checkpoint.jsonl"
    path.unlink(missing_ok=True)
    checkpoint = Checkpoint(path, SETTINGS)
    checkpoint.add(KEY, NUMBERS)
    checkpoint.close()


if __name__ == "__main__":
    main()
