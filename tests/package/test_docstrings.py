"""What the check of docstrings takes for public, and what it finds."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

import trueup

pytest.importorskip("numpydoc")  # the oldest supported packages come without tools of lint

from tools.docstrings import NOT_OF_METHODS, Documented, broken_rules, documented, public_modules

PATHS = {one.path: one.exempt for one in documented(trueup)}


def add(a: int, b: int) -> int:
    """Adds numbers

    Parameters
    ----------
    a
        A number.
    c : int
        No parameter.
    """
    return a + b


class Good:
    """Something good."""

    def add(self, a: int) -> int:
        """Add a number.

        Parameters
        ----------
        a : int
            A number.

        Returns
        -------
        int
            The sum.
        """
        return a


class Better(Good):
    """Something better."""

    def add(self, a: int) -> int:
        """Add a number twice."""
        return 2 * a

    def _hidden(self) -> None:
        pass


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("outsider")
    module.__dict__.update(add=add, Better=Better, number=1, __all__=["add", "Better", "number"])
    monkeypatch.setitem(sys.modules, "outsider", module)
    for each in (Good, Better):
        monkeypatch.setattr(each, "__module__", "outsider")
    return module


def test_names_of_the_package_and_of_its_modules_are_public() -> None:
    assert {"trueup.ece", "trueup.Forecasts.from_arrays", "trueup.io.read_scores"} <= set(PATHS)
    assert {"trueup.lens.Canonical", "trueup.decisions.abstention_rewards"} <= set(PATHS)
    assert trueup.recalibrate in public_modules(trueup)
    assert not [path for path in PATHS if "._" in path]
    assert not PATHS["trueup.ece"]
    assert PATHS["trueup.Forecasts.from_arrays"] == NOT_OF_METHODS


def test_every_broken_rule_is_found(package: ModuleType) -> None:
    found = broken_rules(Documented("outsider.add"))
    codes = [line.split(": ")[1] for line in found]
    assert codes == ["SS03", "SS05", "PR01", "PR02", "PR04", "RT01", "EX01"]


def test_an_override_is_documented_by_its_base_class(package: ModuleType) -> None:
    public = list(documented(package))
    assert [one.path for one in public] == [
        "outsider.add",
        "outsider.Better",
        "outsider.Better.add",
    ]
    assert broken_rules(public[1]) == ["outsider.Better: EX01: No examples section found"]
    assert broken_rules(public[2]) == []
