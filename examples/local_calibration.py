"""Local errors, group errors and decisions on two public datasets.

Settings 1 and 4 of Luo et al. 2022, "Local calibration: metrics and recalibration": a network is
trained, its confidences are recalibrated in several ways on rows it has not seen, and held against
the truth on others. ``python examples/local_calibration.py`` shows one seed in detail, and
``--seeds 20`` the mean and standard deviation over twenty. The files (docs/local.md) are read from
``shared/data/tabular`` next to the repository, or from ``--folder``. Bandwidths and dimensions are
the defaults and those of the paper: nothing was chosen by looking at test rows.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

import trueup as tu
from trueup.decisions import accuracy_coverage_curve, compare_rewards
from trueup.local.local_error import LocalError
from trueup.local.named_metrics import mlce, mlce_over_bandwidths
from trueup.local.worst_groups import max_group_mce, mlce_group_correlation, with_local_errors
from trueup.recalibrate.local_calibration import LocalCalibration

FOLDER = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "tabular"
FILES = ("communities.data.gz", "compas-scores-two-years-violent.csv.gz")
BANDWIDTHS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 6.4)
RATIOS = (2, 5, 10, 20, 50)
LARGE = 50  # rows of a group: the worst bin of a smaller one is mostly chance


@dataclass(frozen=True)
class Table:
    """Inputs, labels and groups of one dataset, and how many rows learn, recalibrate and test."""

    name: str
    inputs: np.ndarray
    labels: np.ndarray
    groups: np.ndarray
    sizes: tuple[int, int, int]


def communities(folder: Path) -> Table:
    """UCI Communities and Crime: whether the rate of violent crime is above the median.

    The paper groups communities by their most frequent race. The file has shares of four, each
    scaled by its own range, so a group here is the share that is largest on its own scale.
    """
    with gzip.open(folder / FILES[0], "rt") as file:
        rows = [line.strip().split(",") for line in file if line.strip()]
    numbers = np.array([[np.nan if cell == "?" else float(cell) for cell in r[5:]] for r in rows])
    inputs, crime = numbers[:, :-1], numbers[:, -1]
    inputs = inputs[:, np.isnan(inputs).mean(axis=0) < 0.5]
    inputs = np.where(np.isnan(inputs), np.nanmedian(inputs, axis=0), inputs)
    races = np.array(["Black", "White", "Asian", "Hispanic"])
    groups = races[numbers[:, 2:6].argmax(axis=1)]
    return Table(
        "Communities and Crime", inputs, (crime > np.median(crime)) + 0, groups, (994, 500, 500)
    )


def compas(folder: Path) -> Table:
    """COMPAS, violent: whether a person is charged with a violent crime within two years.

    Rows are those that ProPublica kept, 4,020 as in the paper.
    """
    with gzip.open(folder / FILES[1], "rt") as file:
        every = list(csv.DictReader(file))
    rows = [
        row
        for row in every
        if row["days_b_screening_arrest"]
        and abs(float(row["days_b_screening_arrest"])) <= 30
        and row["is_recid"] != "-1"
        and row["c_charge_degree"] != "O"
        and row["v_score_text"] not in ("", "N/A")
    ]
    counts = ("age", "priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count")
    inputs = [
        [
            *(float(row[name]) for name in counts),
            row["sex"] == "Male",
            row["c_charge_degree"] == "F",
            row["age_cat"] == "Less than 25",
            row["age_cat"] == "Greater than 45",
            np.log1p(float(row["priors_count"])),
        ]
        for row in rows
    ]
    labels = np.array([int(row["two_year_recid"]) for row in rows])
    groups = np.array([row["race"] for row in rows])
    return Table("COMPAS (violent)", np.array(inputs, float), labels, groups, (2020, 1000, 1000))


def hidden_layer(network: MLPClassifier, inputs: np.ndarray) -> np.ndarray:
    """What the last hidden layer says of each row: the features of the paper."""
    for weights, intercept in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        inputs = np.maximum(inputs @ weights + intercept, 0)
    return inputs


def trained(table: Table, seed: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Probabilities, labels, groups and features of the rows to recalibrate on and to test."""
    order = np.random.default_rng(seed).permutation(len(table.labels))
    learn, recalibrate, test = np.split(order[: sum(table.sizes)], np.cumsum(table.sizes)[:-1])
    scaler = StandardScaler().fit(table.inputs[learn])
    network = MLPClassifier((64, 32), alpha=1e-4, max_iter=60, random_state=seed)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        network.fit(scaler.transform(table.inputs[learn]), table.labels[learn])
    reduce = PCA(20).fit(hidden_layer(network, scaler.transform(table.inputs[learn])))

    def part(rows: np.ndarray) -> dict[str, np.ndarray]:
        inputs = scaler.transform(table.inputs[rows])
        return {
            "probs": network.predict_proba(inputs),
            "labels": table.labels[rows],
            "groups": table.groups[rows],
            "features": reduce.transform(hidden_layer(network, inputs)),
        }

    return part(recalibrate), part(test)


def recalibrated(fit: dict[str, np.ndarray], test: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What each method says of the probability that the network's own answer is right."""
    histogram = tu.HistogramBinning(lens="top-label", binning="equal-width")
    plain = {
        "none": tu.IdentityCalibration(),
        "temperature": tu.TemperatureScaling(),
        "histogram": histogram,
        "isotonic": tu.IsotonicCalibration(),
    }
    answers = {
        name: method.fit(fit["probs"], fit["labels"]).predict_proba(test["probs"])
        for name, method in plain.items()
    }
    for name, inner in (("temperature", tu.TemperatureScaling()), ("histogram", histogram)):
        each = tu.GroupwiseCalibration(inner, min_rows=30)
        each.fit(fit["probs"], fit["labels"], groups=fit["groups"])
        answers[f"{name} by group"] = each.predict_proba(test["probs"], groups=test["groups"])
    for dims in (20, 3):
        lore = LocalCalibration().fit(
            fit["probs"], fit["labels"], features=fit["features"][:, :dims]
        )
        where = test["features"][:, :dims]
        answers[f"LoRe, {dims}-D"] = lore.predict_proba(test["probs"], features=where)
    predicted = test["probs"].argmax(axis=1)
    return {name: rows[np.arange(len(rows)), predicted] for name, rows in answers.items()}


def show(header: list[str], rows: list[list[object]]) -> None:
    """Print a table that Markdown reads."""
    print("\n| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for row in rows:
        cells = [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row]
        print("| " + " | ".join(cells) + " |")
    print()


ERRORS = (
    "ECE",
    "Brier",
    "max group MCE",
    "if calibrated",
    f"of {LARGE}+ rows",
    "MLCE",
    "mean LCE",
)


def if_calibrated(p: np.ndarray, groups: np.ndarray) -> float:
    """Mean of the max group MCE if every one of these confidences were exactly true."""
    rng = np.random.default_rng(0)
    return float(np.mean([max_group_mce(p, rng.random(len(p)) < p, groups) for _ in range(20)]))


def errors(p: np.ndarray, right: np.ndarray, test: dict[str, np.ndarray]) -> list[float]:
    """The numbers named in ERRORS."""
    return [
        tu.ece(p, right),
        tu.brier(p, right),
        max_group_mce(p, right, test["groups"]),
        if_calibrated(p, test["groups"]),
        max_group_mce(p, right, test["groups"], min_rows=LARGE),
        mlce(p, right, test["features"]),
        LocalError(summary="mean")(p, right, test["features"]),
    ]


def over_seeds(table: Table, n_seeds: int) -> None:
    """Print the errors of every method, mean and standard deviation over splits and networks."""
    print(f"\n## {table.name}, {n_seeds} seeds: mean ± standard deviation")
    result: dict[str, list[list[float]]] = {}
    for seed in range(n_seeds):
        fit, test = trained(table, seed)
        right = test["probs"].argmax(axis=1) == test["labels"]
        for name, p in recalibrated(fit, test).items():
            result.setdefault(name, []).append(errors(p, right, test))
    show(
        ["method", *ERRORS],
        [
            [name, *(f"{np.mean(c):.3f} ± {np.std(c):.3f}" for c in zip(*each, strict=True))]
            for name, each in result.items()
        ],
    )


def examine(table: Table, seed: int = 0) -> None:
    """Train, recalibrate, and print errors by method, by bandwidth, by group, and in costs."""
    print(f"\n## {table.name}\n")
    fit, test = trained(table, seed)
    right = test["probs"].argmax(axis=1) == test["labels"]
    groups, features = test["groups"], test["features"]
    sizes = {str(name): int((groups == name).sum()) for name in np.unique(groups)}
    print(f"accuracy {right.mean():.3f}; test rows by group: {sizes}")
    confidences = recalibrated(fit, test)
    show(["method", *ERRORS], [[n, *errors(p, right, test)] for n, p in confidences.items()])

    lore = LocalCalibration().fit(fit["probs"], fit["labels"], features=fit["features"])
    far = int(lore.neighbours(test["probs"], features=features)["far"].sum())
    print(f"LoRe, 20-D: γ = {lore.bandwidth_:.3f}; {far} of {len(right)} rows far from all data.\n")

    print("MLCE over γ (20-D features):")
    sweeps = {
        name: mlce_over_bandwidths(p, right, features, bandwidths=BANDWIDTHS)["max"]
        for name, p in confidences.items()
    }
    show(
        ["method", *(f"γ = {g}" for g in BANDWIDTHS)],
        [[name, *map(float, sweep)] for name, sweep in sweeps.items()],
    )

    print("Correlation of MLCE with max group MCE over the methods:")
    result = mlce_group_correlation(confidences, right, groups, features, bandwidths=BANDWIDTHS)
    show([f"γ = {g}" for g in BANDWIDTHS], [list(map(float, result["correlation"]))])

    print("Total reward minus that without recalibration; abstaining costs u = 1, a mistake w:")
    gains = compare_rewards(
        confidences, right, ratios=RATIOS, baseline="none", lens=tu.lens.Binary()
    )
    show(
        ["method", *(f"w/u = {ratio}" for ratio in RATIOS)],
        [[name, *(f"{gain:+.0f}" for gain in gains[name])] for name in confidences],
    )

    print("Accuracy on the rows with the highest confidence, by coverage:")
    shares = (0.25, 0.5, 0.75, 1.0)
    curves = {
        n: accuracy_coverage_curve(p, right, lens=tu.lens.Binary()) for n, p in confidences.items()
    }
    show(
        ["method", *(f"{share:.0%}" for share in shares)],
        [
            [name, *(float(np.interp(s, c["coverage"], c["accuracy"])) for s in shares)]
            for name, c in curves.items()
        ],
    )

    print("Group errors of the network without recalibration, with local errors:")
    by_group = tu.group_errors(confidences["none"], right, groups, rng=seed).table
    gaps = LocalError().gaps(confidences["none"], right, features)
    joined = with_local_errors(by_group, groups, gaps)
    columns = [
        "group",
        "n",
        "gap",
        "error",
        "low",
        "high",
        "adjusted_pvalue",
        "mean_local_gap",
        "max_lce",
    ]
    show(columns, [[joined[c][i].item() for c in columns] for i in range(len(joined))])


def main() -> None:
    """Read both tables and show them; say so where they are not there."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--folder", type=Path, default=FOLDER)
    options.add_argument("--seeds", type=int, default=1)
    asked = options.parse_args()
    for read, name in ((communities, FILES[0]), (compas, FILES[1])):
        if not (asked.folder / name).exists():
            print(f"Skipped: there is no file {name} in the folder {asked.folder.name!r}.")
        elif asked.seeds > 1:
            over_seeds(read(asked.folder), asked.seeds)
        else:
            examine(read(asked.folder))


if __name__ == "__main__":
    main()
