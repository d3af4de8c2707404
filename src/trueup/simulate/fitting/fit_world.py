"""A world like your data: Beta scores and the calibration curve with the best AIC."""

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
    """The fitted Beta distribution of the scores.

    Parameters
    ----------
    alpha : float
        First shape parameter.
    beta : float
        Second shape parameter.
    alpha_error : float
        Standard error of alpha.
    beta_error : float
        Standard error of beta.
    converged : bool
        Whether the fit converged.
    n : int
        Number of scores.
    n_at_0 : int
        Number of scores that equal exactly 0.
    n_at_1 : int
        Number of scores that equal exactly 1.
    rounding : str
        Coarsest type or number of decimals that holds all scores.
    log_likelihood : float
        Log-likelihood of the fit.

    Examples
    --------
    >>> from trueup.simulate import Beta, Power, World
    >>> data = World(Beta(2.0, 1.0), Power(1.5)).sample(5000, rng=0)
    >>> result = fit(data).scores_fit
    >>> round(result.alpha, 1), result.rounding
    (2.0, 'float64')
    """

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
    """Result of `fit`: a simulated model fitted to data, and how well it fits.

    Parameters
    ----------
    world : World
        Beta scores with the curve of the smallest AIC.
    aic : tuple of FamilyFit
        All twelve families of curves, best first: family, aic, b0, b1, n_parameters, converged, and
        the standard errors b0_error and b1_error.
    scores_fit : ScoresFit
        The Beta distribution with its standard errors, and how many scores equal exactly 0 or 1.
    scores_quality : Quality
        Distance between the scores and their fit, the distance expected from sampling noise, and a
        grade: well, fairly or poorly.
    curve_quality : Quality
        The same for the curve.
    text : str
        The result in a few sentences.

    Examples
    --------
    >>> from trueup.simulate import Beta, Power, World
    >>> result = fit(World(Beta(2.0, 1.0), Power(1.5)).sample(5000, rng=0))
    >>> result.poor, len(result.table())
    (False, 12)
    """

    world: World
    aic: tuple[FamilyFit, ...]
    scores_fit: ScoresFit
    scores_quality: Quality
    curve_quality: Quality
    text: str

    @property
    def poor(self) -> bool:
        """Whether the scores or the curve fit poorly, so that the simulated model is misleading."""
        return "poorly" in (self.scores_quality.grade, self.curve_quality.grade)

    def table(self) -> list[dict[str, Any]]:
        """Return the AIC table as records, best first.

        Returns
        -------
        list of dict
            One record per family.
        """
        return [row._asdict() for row in self.aic]

    def to_frame(self, library: Library | None = None) -> Any:
        """Return the AIC table as a data frame, best first.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Library to use (default: the first that is installed).

        Returns
        -------
        DataFrame
            The data frame, or a pyarrow table.
        """
        rows = self.table()
        return frame_of({name: [row[name] for row in rows] for name in rows[0]}, library)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON; a missing standard error is None."""
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
    """Fit a simulated model to scores and their correctness.

    Use it to ask what estimators and tests would do on data like yours. It fits a Beta distribution
    to the scores and a smooth curve to the labels. The text of the result says how well they fit.

    Parameters
    ----------
    scores : array_like or Forecasts
        A `Forecasts`, (n,) scores, or an (n, K) matrix, of which the top label is used.
    correct : array_like, optional
        Labels: 0 or 1 for (n,) scores, class numbers for a matrix.
    logits : bool, default False
        Whether ``scores`` are logits.

    Returns
    -------
    Fitted
        The simulated model and the quality of the fit.

    Raises
    ------
    InputError
        If no Beta fits (all scores equal, or all exactly 0 or 1), or if all outcomes are equal, so
        that no curve fits.

    Notes
    -----
    Both fits use maximum likelihood. A score of exactly 0 or 1 is treated as lying within half a
    rounding step of that end. The step is that of the coarsest of 1 to 6 decimals, bfloat16,
    float16, float32 and float64 that holds all scores. Weights count as numbers of rows, scaled to
    a mean of 1.

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
        raise must_be("correct", "contain both right and wrong outcomes, to fit a curve", got)
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
    how_well = {"well": "well", "fairly": "fairly well", "poorly": "poorly"}
    said = [
        f"A Beta({alpha}, {beta}) distribution fits the {found.n:,} scores "
        f"{how_well[scores.grade]} (maximum CDF difference {scores.distance:.3f})."
    ]
    for end, count in ((0, found.n_at_0), (1, found.n_at_1)):
        if count:
            verb = "score equals" if count == 1 else "scores equal"
            said.append(
                f"{count:,} {verb} exactly {end} {rounding.words}; each is treated as lying within "
                "half a rounding step of it."
            )
    said.append(
        f"The curve {best.family} (b0 = {best.b0:.3g}, b1 = {best.b1:.3g}) has the smallest AIC "
        f"and fits the outcomes {how_well[curve.grade]} (mean difference {curve.distance:.3f}; "
        f"{curve.chance:.3f} is expected by chance)."
    )
    if not best.converged:
        said.append(
            "Its parameters have no finite optimum, because the scores separate right from wrong."
        )
    if not found.converged:
        said.append("The fit of the Beta distribution did not converge.")
    return " ".join(said)
