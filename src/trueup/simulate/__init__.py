"""Simulated models with a known true calibration error, to measure the accuracy of estimators."""

from trueup.simulate.fitting.fit_world import Fitted, ScoresFit, fit
from trueup.simulate.power_analysis import power, sample_size
from trueup.simulate.power_results import Detection, SampleSize
from trueup.simulate.recommendation import Advice, recommend_estimator
from trueup.simulate.studies.run_study import study
from trueup.simulate.studies.study_result import Study, StudyRow
from trueup.simulate.worlds.calibration_curves import (
    Glm,
    Identity,
    Logistic,
    LogOdds,
    Noisy,
    Power,
    Steps,
)
from trueup.simulate.worlds.multiclass import DirichletWorld, TableWorld
from trueup.simulate.worlds.published import PUBLISHED, PublishedWorld
from trueup.simulate.worlds.score_distributions import (
    Beta,
    Empirical,
    LogisticMixture,
    Points,
    Uniform,
)
from trueup.simulate.worlds.world import World

__all__ = [
    "PUBLISHED",
    "Advice",
    "Beta",
    "Detection",
    "DirichletWorld",
    "Empirical",
    "Fitted",
    "Glm",
    "Identity",
    "LogOdds",
    "Logistic",
    "LogisticMixture",
    "Noisy",
    "Points",
    "Power",
    "PublishedWorld",
    "SampleSize",
    "ScoresFit",
    "Steps",
    "Study",
    "StudyRow",
    "TableWorld",
    "Uniform",
    "World",
    "fit",
    "power",
    "recommend_estimator",
    "sample_size",
    "study",
]
