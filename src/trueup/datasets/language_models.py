"""Stated confidences of five language models on four tasks, and whether they were right."""

from __future__ import annotations

import numpy as np

from trueup.checks import check_whole
from trueup.datasets.dataset import Dataset, with_truth
from trueup.datasets.draws import DIGITS, Draws
from trueup.forecasts import Forecasts
from trueup.tables import ResultTable

N_QUESTIONS = 200
STATED = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
SHARES = [0.08, 0.12, 0.15, 0.2, 0.25, 0.2]
# By how much the accuracy at each confidence lies below it: for a model, and more for a task.
MODELS = {"alder": 0.0, "birch": 0.04, "cedar": 0.09, "elm": 0.16, "fir": 0.25}
TASKS = {"arithmetic": 0.1, "geography": 0.0, "law": 0.05, "medicine": -0.03}
DESCRIPTION = (
    f"Stated confidence of five language models on four tasks, {N_QUESTIONS} questions per task, "
    "and which answers were correct. Most accuracies lie below the confidence, by an amount that "
    "depends on the model and the task; only alder on geography is calibrated."
)


def language_models(*, seed: int = 0) -> Dataset:
    """Return stated confidences of five language models on four tasks.

    Use it to try groups, tables of groups and comparisons. Groups are ``"model task"``; the table
    has models and tasks as separate columns.

    Parameters
    ----------
    seed : int
        Seed of the answers (default 0). Other seeds give other answers of the same models.

    Returns
    -------
    Dataset
        Confidences and whether the answers are correct. ``known`` has for each group the true
        gap: expected accuracy − mean confidence.

    Examples
    --------
    >>> import trueup as tu
    >>> data = tu.datasets.language_models()
    >>> round(data.known["alder geography"], 3), round(data.known["fir law"], 3)
    (0.0, -0.3)
    """
    check_whole("seed", seed, 0)
    draws = Draws("language models", seed)
    model = np.repeat(list(MODELS), len(TASKS) * N_QUESTIONS)
    task = np.tile(np.repeat(list(TASKS), N_QUESTIONS), len(MODELS))
    below = np.array([MODELS[m] + TASKS[t] for m, t in zip(model, task, strict=True)])
    confidence = np.array(STATED)[draws.choice(SHARES, len(model))]
    true = np.round(np.minimum(confidence - below, 0.99), DIGITS)
    correct = draws.labels(true)
    groups = np.char.add(np.char.add(model, " "), task)
    names = dict.fromkeys(groups.tolist())
    return with_truth(
        Forecasts.from_arrays(confidence, correct, groups=groups),
        name="language_models",
        description=DESCRIPTION,
        true_probs=true,
        known={each: float((true - confidence)[groups == each].mean()) for each in names},
        table=ResultTable(
            {"model": model, "task": task, "confidence": confidence, "correct": correct}
        ),
    )
