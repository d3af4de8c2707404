"""What matrix scaling and Dirichlet calibration share: softmax(Wx + b) with a penalty."""

from __future__ import annotations

import numpy as np

from trueup._typing import Floats
from trueup.checks import check_choice, check_whole, is_number
from trueup.engines.select import engine
from trueup.errors import Verbatim, must_be
from trueup.recalibrate.base import Recalibrator, with_parameters
from trueup.recalibrate.blas import one_blas_thread
from trueup.recalibrate.scaling.affine.fit import AffineData, fit_affine
from trueup.recalibrate.scaling.affine.penalty_search import (
    Strengths,
    folds_of,
    search_strengths,
    strongest,
)
from trueup.recalibrate.score_forms import FitData, Scores

MOST_TO_SEARCH = 1e9  # (n + K) K²: with more, cross-validation takes longer than minutes


@with_parameters
class AffineRecalibrator(Recalibrator):
    """A matrix and intercepts on K features of a row, fitted to penalised log loss."""

    penalty: str | None = None
    strength: float | str = "auto"
    intercept_strength: float | str = "auto"
    n_folds: int = 5

    def _features(self, scores: Scores) -> Floats:
        """(n, K) features, in float64."""
        raise NotImplementedError

    def _check(self) -> None:
        if self.penalty is not None:
            check_choice("penalty", self.penalty, "l2", "odir")
        for name in ("strength", "intercept_strength"):
            value = getattr(self, name)
            if isinstance(value, str) and value == "auto":
                continue
            if not is_number(value) or not 0 <= value < np.inf:
                raise must_be(name, '"auto" or a finite number of at least 0', value)
            if self.penalty is None or (name == "intercept_strength" and self.penalty == "l2"):
                raise must_be(name, f'left at "auto" with penalty={self.penalty!r}', value)
        check_whole("n_folds", self.n_folds, 2)

    def _fit(self, data: FitData) -> None:
        with one_blas_thread():
            features = self._features(data.scores)
            affine = AffineData.of(features, data)
            chosen = self._strengths(features, data, affine)
            found = fit_affine(affine, self.penalty, chosen.strength, chosen.mu)
        self.coefficients_ = found.coefficients
        self.intercept_ = found.intercept
        self.lambda_ = None if self.penalty is None else chosen.strength
        self.mu_ = chosen.mu if self.penalty == "odir" else None
        self.cross_validation_ = chosen.tried
        self.gradient_norm_ = found.gradient_norm
        self.converged_ = found.converged
        self.notes_ += found.notes
        if not found.converged:
            self._stopped_early(
                f"the fit stopped early, with a gradient of {found.gradient_norm:.1e} for each "
                "row: log loss has not risen, but is not the lowest; VectorScaling needs far "
                "fewer numbers"
            )

    def _strengths(self, features: Floats, data: FitData, affine: AffineData) -> Strengths:
        if self.penalty is None:
            return Strengths(0.0, 0.0, [])
        strength = None if isinstance(self.strength, str) else float(self.strength)
        mu = None if isinstance(self.intercept_strength, str) else float(self.intercept_strength)
        if self.penalty == "l2":
            mu = 0.0
        if strength is not None and mu is not None:
            return Strengths(strength, mu, [])
        if (data.n + data.n_classes) * data.n_classes**2 > MOST_TO_SEARCH:
            raise must_be(
                "strength" if strength is None else "intercept_strength",
                f"a number for {data.n:,} rows of {data.n_classes:,} classes",
                Verbatim('"auto", whose cross-validation would take too long'),
                hint="VectorScaling takes seconds",
            )
        fold = folds_of(features, data.labels, self.n_folds)
        if fold.max() == 0:
            self.notes_.append(
                "all rows are the same, so that cross-validation cannot choose a penalty: the "
                "strongest was taken"
            )
            return strongest(affine, self.penalty, strength, mu)
        return search_strengths(affine, fold, self.penalty, strength, mu)

    def _probs_of(self, scores: Scores) -> Floats:
        logits = self._features(scores) @ self.coefficients_.T + self.intercept_
        return engine.softmax.tempered_probs(logits, 1.0)
