"""Three classifiers read handwritten digits. Which of them can be believed?

Run it with ``make demo``. Everything is computed on the spot, from data that scikit-learn brings.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import trueup as tu

OUT = Path("out/demo.json")

METRICS = {
    "ece": tu.ece,
    "rmsce": tu.rmsce,
    "ece_debiased": tu.ece_debiased,
    "ece_sweep": tu.ece_sweep,
    "smooth_ece": tu.smooth_ece,
    "ks_error": tu.ks_error,
    "sce": tu.sce,
    "ace": tu.ace,
    "tace": tu.tace,
    "marginal_error": tu.marginal_error,
    "psce": tu.psce,
    "brier": tu.brier,
    "log_loss": tu.log_loss,
}


def predictions() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Each model's probabilities for the test images, and the digits those images show."""
    images, digits = load_digits(return_X_y=True)
    x_fit, x_rest, y_fit, y_rest = train_test_split(
        images, digits, train_size=0.4, stratify=digits, random_state=0
    )
    x_valid, x_test, y_valid, y_test = train_test_split(
        x_rest, y_rest, train_size=0.25, stratify=y_rest, random_state=0
    )
    # The validation images choose the strength of the penalty; the test images choose nothing.
    logistic = min(
        (
            make_pipeline(StandardScaler(), LogisticRegression(C=c, max_iter=1000)).fit(
                x_fit, y_fit
            )
            for c in (0.01, 0.1, 1.0)
        ),
        key=lambda model: tu.log_loss(model.predict_proba(x_valid), y_valid),
    )
    models = {
        "naive Bayes": GaussianNB().fit(x_fit, y_fit),
        "random forest": RandomForestClassifier(random_state=0).fit(x_fit, y_fit),
        "logistic regression": logistic,
    }
    return {name: model.predict_proba(x_test) for name, model in models.items()}, y_test


def measure(probs: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Accuracy, mean confidence, and every metric."""
    return {
        "accuracy": float(np.mean(probs.argmax(axis=1) == labels)),
        "mean confidence": float(np.mean(probs.max(axis=1))),
        **{name: metric(probs, labels) for name, metric in METRICS.items()},
    }


def in_words(model: str, found: dict[str, float]) -> str:
    """One sentence on what the model says of itself and what is true."""
    accuracy, confidence = found["accuracy"], found["mean confidence"]
    gap = confidence - accuracy
    if abs(gap) < 0.02:
        verdict = "about as sure as it should be (within 2 points)"
    else:
        verdict = "too sure of itself" if gap > 0 else "not sure enough of itself"
    return (
        f"{model}: {confidence:.1%} sure on average, right {accuracy:.1%} of the time; {verdict}."
    )


def table(columns: dict[str, dict[str, float]]) -> str:
    """One row per number, one column per model."""
    rows = list(next(iter(columns.values())))
    lines = [" " * 16 + "".join(f"{model:>21}" for model in columns)]
    lines += [
        f"{row:<16}" + "".join(f"{found[row]:>21.4f}" for found in columns.values()) for row in rows
    ]
    return "\n".join(lines)


def write(path: Path, content: dict[str, dict[str, float]]) -> None:
    """Write JSON so that a reader sees the whole file or the old one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    partial.replace(path)


def main() -> None:
    probs, labels = predictions()
    found = {model: measure(p, labels) for model, p in probs.items()}
    print(f"{len(labels)} test images of handwritten digits, 10 classes.\n")
    print(table(found))
    print("\nAccuracy: higher is better. From ece on: 0 is perfect.\n")
    for model in found:
        print(in_words(model, found[model]))
    worst = max(found, key=lambda model: found[model]["ece"])
    best = min(found, key=lambda model: found[model]["ece"])
    print(f"Smallest calibration error (ece): {best}; largest: {worst}.")
    print(f"\nWhere the {worst} goes wrong: its confidence, bin by bin\n")
    print(tu.BinnedError().table(probs[worst], labels))
    write(OUT, found)
    print(f"\nThe numbers are in {OUT}.")


if __name__ == "__main__":
    main()
