"""A world like your data: a Beta for the scores and the calibration curve of the best AIC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup.calls.hints import hinted
from trueup.codec import plain
from trueup.errors import Verbatim, must_be
from trueup.forecasts import Forecasts
from trueup.lens import chosen_lens
from trueup.notebook import FieldsShown
from trueup.simulate.fitting.beta import fit_beta, reads_0, reads_1, sums_of
from trueup.simulate.fitting.curve_families import (
    FAMILIES,
    FamilyFit,
    fit_family,
    outcomes_of,
    rate_of_rows,
)
from trueup.simulate.fitting.quality import Quality, curve_quality, scores_quality
from trueup.simulate.fitting.rounding import FLOAT64, Rounding, rounding_of
from trueup.simulate.worlds.calibration_curves import Glm
from trueup.simulate.worlds.score_distributions import Beta
from trueup.simulate.worlds.world import World
from trueup.tables.base import Library, frame_of


@dataclass(frozen=True)
class ScoresFit(FieldsShown):
    """The fitted Beta: shapes, their standard errors, and what it was fitted to."""

    alpha: float
    beta: float
    alpha_error: float
    beta_error: float
    converged: bool
    n: int
    n_at_0: int
    n_at_1: int
    rounding: str
    log_likelihood: float


@dataclass(frozen=True)
class Fitted(FieldsShown):
    """A world fitted to data.

    Attributes
    ----------
    world
        The Beta scores with the curve of the smallest AIC.
    aic
        All twelve families, best first: family, aic, b0, b1, n_parameters, converged, and the
        standard errors b0_error and b1_error.
    scores_fit
        The Beta with its standard errors, and how many scores read exactly 0 or 1.
    scores_quality, curve_quality
        Distance between fit and data, what chance explains of it, and a grade: well, fairly or
        poorly.
    text
        All of this in a few sentences.
    """

    world: World
    aic: tuple[FamilyFit, ...]
    scores_fit: ScoresFit
    scores_quality: Quality
    curve_quality: Quality
    text: str

    @property
    def poor(self) -> bool:
        """Whether the scores or the curve are fitted poorly, so that the world misleads."""
        return "poorly" in (self.scores_quality.grade, self.curve_quality.grade)

    def table(self) -> list[dict[str, Any]]:
        """Return the AIC table as records, best first."""
        return [row._asdict() for row in self.aic]

    def to_frame(self, library: Library | None = None) -> Any:
        """Return the AIC table as a data frame, best first."""
        rows = self.table()
        return frame_of({name: [row[name] for row in rows] for name in rows[0]}, library)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON; a standard error that is missing is None."""
        return {
            "world": repr(self.world),
            "scores": self.scores_fit.to_dict(),
            "aic": plain(self.table()),
            "scores_quality": self.scores_quality._asdict(),
            "curve_quality": self.curve_quality._asdict(),
            "text": self.text,
        }

    def __str__(self) -> str:
        """Return the text."""
        return self.text


@hinted
def fit(scores: object, correct: object = None, *, logits: bool = False) -> Fitted:
    """Fit a world to scores and whether each was right.

    Parameters
    ----------
    scores
        A `Forecasts`, (n,) scores, or an (n, K) matrix, of which the top label is taken.
    correct
        Labels: 0 or 1 for (n,) scores, class numbers for a matrix.
    logits
        Whether ``scores`` are logits.

    Notes
    -----
    Both fits are by maximum likelihood. A score that reads exactly 0 or 1 counts as lying
    anywhere below half a rounding step of that end; the step is that of the coarsest of 1 to 6
    decimals, bfloat16, float16, float32 and float64 that holds all scores. Weights count as
    numbers of rows, scaled to a mean of 1.

    Raises
    ------
    InputError
        Where no Beta fits (all scores the same, or all exactly 0 or 1), and where all outcomes
        are the same, so that no curve does.

    Examples
    --------
    >>> from trueup.simulate import Beta, Glm, World
    >>> truth = World(Beta(2.0, 0.5), Glm("logit", "logit", b0=0.0, b1=0.5))
    >>> result = fit(truth.sample(20_000, rng=0))
    >>> result.aic[0].family
    'logit_logit_b1'
    >>> round(result.scores_fit.alpha, 1), round(result.aic[0].b1, 1)
    (2.0, 0.5)
    """
    forecasts = Forecasts.from_arrays(scores, correct, logits=logits)
    lens = chosen_lens(None, forecasts)
    pairs = lens.problem(forecasts)
    score, label = pairs.p.astype(np.float64), pairs.y.astype(np.float64)
    weight = np.ones(len(score)) if pairs.w is None else pairs.w / pairs.w.mean()
    if label.min() == label.max() and label[0] in (0, 1):
        got = Verbatim("only right ones" if label[0] else "only wrong ones")
        raise must_be("correct", "hold both right and wrong outcomes, to fit a curve", got)
    exact = forecasts.log_probs_exact
    rounding = FLOAT64 if exact else rounding_of(pairs.p, forecasts.tiny)

    sums = sums_of(score, weight, rounding)
    mean = float(np.average(score, weights=weight))
    variance = float(np.average((score - mean) ** 2, weights=weight))
    beta = fit_beta(sums, mean, variance)
    shapes = (float(beta.point[0]), float(beta.point[1]))
    outcomes = outcomes_of(score, label, weight, rounding, shapes)
    fits = [fit_family(family, outcomes) for family in FAMILIES]
    order = sorted(range(len(fits)), key=lambda i: fits[i].aic)
    rows, best = tuple(fits[i] for i in order), FAMILIES[order[0]]
    curve = Glm(best.link, best.transform, rows[0].b0, rows[0].b1)

    at_0, at_1 = reads_0(score, rounding), reads_1(score, rounding)
    counts = (len(score), int(at_0.sum()), int(at_1.sum()))
    alpha_error, beta_error = beta.errors.tolist()
    value = float(beta.terms.value)
    found = ScoresFit(
        *shapes, alpha_error, beta_error, beta.converged, *counts, rounding.name, value
    )
    of_scores = scores_quality(score, weight, ~(at_0 | at_1), rounding, *shapes)
    truth = rate_of_rows(curve, score, outcomes)
    of_curve = curve_quality(score, label, weight, truth)
    words = _words(found, rounding, rows[0], of_scores, of_curve)
    return Fitted(World(Beta(*shapes), curve), rows, found, of_scores, of_curve, words)


def _words(
    found: ScoresFit, rounding: Rounding, best: FamilyFit, scores: Quality, curve: Quality
) -> str:
    alpha = f"{found.alpha:.4g} ± {found.alpha_error:.2g}"
    beta = f"{found.beta:.4g} ± {found.beta_error:.2g}"
    said = [
        f"Beta({alpha}, {beta}) fits the {found.n:,} scores {scores.grade} (largest difference of "
        f"the distribution functions {scores.distance:.3f})."
    ]
    for end, count in ((0, found.n_at_0), (1, found.n_at_1)):
        if count:
            verb = "score reads" if count == 1 else "scores read"
            said.append(
                f"{count:,} {verb} exactly {end} {rounding.words}: within half a rounding step."
            )
    said.append(
        f"The curve {best.family} (b0 = {best.b0:.3g}, b1 = {best.b1:.3g}) has the smallest AIC "
        f"and fits the outcomes {curve.grade} (mean difference {curve.distance:.3f}; chance alone "
        f"gives {curve.chance:.3f})."
    )
    if not best.converged:
        said.append(
            "Its parameters have no finite best value: the scores separate right from wrong."
        )
    if not found.converged:
        said.append("The search for the Beta did not converge.")
    return " ".join(said)
