"""Small simulated datasets for first steps, reproducible and with known true probabilities.

Each function returns a `Dataset`, which goes into `trueup.evaluate` and every other function in
place of ``(probs, labels)``. ``description`` describes it, and ``known`` has its true parameters.
"""

from trueup.datasets.clinic import clinic
from trueup.datasets.dataset import Dataset
from trueup.datasets.language_models import language_models
from trueup.datasets.network import network
from trueup.datasets.tumors import tumors

LOADERS = {each.__name__: each for each in (clinic, tumors, network, language_models)}
"""Every dataset by its name, in the order in which they are listed."""

__all__ = ["LOADERS", "Dataset", "clinic", "language_models", "network", "tumors"]
