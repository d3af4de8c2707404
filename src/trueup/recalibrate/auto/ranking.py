"""Candidates ranked by a proper score of their out-of-fold predictions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup._typing import Floats, Ints
from trueup.forecasts import Forecasts
from trueup.inference import interval
from trueup.metrics import marginal_error_debiased, rmsce_debiased
from trueup.readable import percent
from trueup.results import Interval

WORDS = {"log_loss": "log loss", "brier": "Brier score"}
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class Trial:
    """One candidate: the loss of every row, and calibration errors, of out-of-fold predictions.

    ``zeros`` is the number of rows whose class has probability 0. ``errors`` are those of the top
    label (or of the second of two classes), and of all classes.
    """

    name: str
    losses: Floats
    zeros: int
    errors: dict[str, Interval]

    @classmethod
    def of(
        cls, name: str, probs: Floats, labels: Ints, weights: Floats | None, score: str
    ) -> Trial:
        """Measure out-of-fold probabilities."""
        binary = probs.shape[1] == 2
        forecasts = Forecasts.from_arrays(probs[:, 1] if binary else probs, labels, weights=weights)
        errors = {"error": interval(rmsce_debiased, forecasts)}
        if not binary:
            errors["marginal_error"] = interval(marginal_error_debiased, forecasts)
        zeros = int(np.count_nonzero(probs[np.arange(len(labels)), labels] < TINY))
        return cls(name, _losses(score, probs, labels), zeros, errors)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Trials in the order of simplicity, with mean losses and mean differences of losses."""

    trials: list[Trial]
    weights: Floats | None
    score: str

    @cached_property
    def best(self) -> int:
        """Index of the trial with the lowest mean loss."""
        return int(np.argmin([self.mean(trial.losses)[0] for trial in self.trials]))

    @cached_property
    def chosen(self) -> int:
        """Index of the first trial within one standard error of the best."""
        return int(np.argmax([self._is_near(trial) for trial in self.trials]))

    def _is_near(self, trial: Trial) -> bool:
        """Whether a trial is within one standard error of the best.

        The log loss of a row whose class has probability 0 depends on the clipping, and one such
        row is only one standard error. A trial with such rows therefore never counts as close to
        one without.
        """
        if self.score == "log_loss" and trial.zeros and not self.trials[self.best].zeros:
            return False
        difference, se = self.behind(trial)
        return difference <= se

    def mean(self, values: Floats) -> tuple[float, float]:
        """Return the weighted mean over rows and its standard error."""
        n = len(values)
        share = np.full(n, 1 / n) if self.weights is None else self.weights / self.weights.sum()
        mean = float(np.sum(share * values))
        away = share * (values - mean)
        return mean, math.sqrt(n / max(1, n - 1) * float(np.sum(away**2)))

    def behind(self, trial: Trial) -> tuple[float, float]:
        """Return the mean difference from the best trial over rows, and its standard error."""
        return self.mean(trial.losses - self.trials[self.best].losses)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per trial, the best score first."""
        rows = [self._row(number, trial) for number, trial in enumerate(self.trials)]
        rows.sort(key=lambda row: (row["score"], row["simplicity"]))
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _row(self, number: int, trial: Trial) -> dict[str, Any]:
        score, score_se = self.mean(trial.losses)
        difference, difference_se = self.behind(trial)
        row = {
            "candidate": trial.name,
            "simplicity": number,
            "score": score,
            "score_se": score_se,
            "difference": difference,
            "difference_se": difference_se,
            "zeros": trial.zeros,
        }
        for name, found in trial.errors.items():
            row |= {name: found.estimate, f"{name}_low": found.low, f"{name}_high": found.high}
        return row | {"chosen": number == self.chosen}

    def explanation(self, n_folds: int) -> str:
        """Explain which candidate was chosen, and why."""
        chosen, best, none = (self.trials[k] for k in (self.chosen, self.best, 0))
        name = WORDS[self.score]
        sentences = [
            f"Compared {len(self.trials)} candidates by out-of-fold {name} "
            f"({len(none.losses):,} rows, {n_folds} folds).",
            f"{best.name} has the lowest {name}, {self.mean(best.losses)[0]:.4f}.",
        ]
        impossible = [trial.name for trial in self.trials if trial.zeros]
        if impossible and self.score == "log_loss":
            sentences.append(
                f"{', '.join(impossible)} assigned probability 0 to the observed class of at least "
                f"one row, whose log loss is clipped at {-math.log(TINY):.0f}."
            )
        if chosen is not best:
            behind, se = self.behind(chosen)
            sentences.append(
                f"{chosen.name} is the simplest candidate within one standard error of the best "
                f"(worse by {behind:.4f} ± {se:.4f}) and is chosen."
            )
        elif chosen is not none:
            sentences.append("No simpler candidate is within one standard error, so it is chosen.")
        if chosen is none:
            sentences.append(f"The debiased calibration error is {_shown(none)}.")
            return " ".join(sentences)
        gain, se = self.mean(none.losses - chosen.losses)
        clipped = self.score == "log_loss" and (none.zeros or chosen.zeros)
        told = f"{gain:.4f} ± {se:.4f}{' (clipped)' if clipped else ''}"
        sentences += [
            f"Compared with no recalibration, it lowers the {name} by {told} and changes the "
            f"debiased calibration error from {_shown(none)} to {_shown(chosen)}.",
            "These numbers are slightly optimistic because they were also used to choose it.",
        ]
        return " ".join(sentences)


def _losses(score: str, probs: Floats, labels: Ints) -> Floats:
    """Return the loss of every row, whose weighted mean is `log_loss` or `brier`."""
    rows = np.arange(len(labels))
    if score == "log_loss":
        return np.asarray(-np.log(np.maximum(probs[rows, labels], TINY)))
    if probs.shape[1] == 2:
        return np.asarray((probs[:, 1] - labels) ** 2)
    away = probs.copy()
    away[rows, labels] -= 1
    return np.asarray(np.einsum("ij,ij->i", away, away))


def _shown(trial: Trial) -> str:
    found = trial.errors["error"]
    if found.estimate == found.low == 0:
        return f"below {found.high:.4f} ({percent(found.confidence_level)} confidence)"
    return f"{found.estimate:.4f} (95% interval {found.low:.4f} to {found.high:.4f})"
