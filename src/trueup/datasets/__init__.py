"""Small datasets to start with: simulated, always the same, and with known true probabilities.

Each function returns a `Dataset`, which goes into `trueup.evaluate` and every other function in
place of ``(probs, labels)``. ``description`` says what it is like, ``known`` what is true of it.
"""

from trueup.datasets.clinic import clinic
from trueup.datasets.dataset import Dataset
from trueup.datasets.language_models import language_models
from trueup.datasets.network import network
from trueup.datasets.tumors import tumors

LOADERS = {each.__name__: each for each in (clinic, tumors, network, language_models)}
"""Every dataset by its name, in the order in which they are listed."""

__all__ = ["LOADERS", "Dataset", "clinic", "language_models", "network", "tumors"]
