"""Worlds with known truth, to measure what an estimator really does."""

from trueup.simulate.advice import Advice, which_estimator
from trueup.simulate.curves import Glm, Identity, Logistic, LogOdds, Noisy, Power, Steps
from trueup.simulate.detection import Detection, SampleSize
from trueup.simulate.fit import Fitted, ScoresFit, fit
from trueup.simulate.multiclass import DirichletWorld, TableWorld
from trueup.simulate.power import power, sample_size
from trueup.simulate.published import PUBLISHED, PublishedWorld
from trueup.simulate.scores import Beta, Empirical, LogisticMixture, Points, Uniform
from trueup.simulate.study import study
from trueup.simulate.summary import Study, StudyRow
from trueup.simulate.worlds import World

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
    "sample_size",
    "study",
    "which_estimator",
]
