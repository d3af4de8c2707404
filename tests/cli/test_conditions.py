from __future__ import annotations

import pytest

from trueup.cli.conditions import Condition, exit_code
from trueup.errors import InputError


@pytest.mark.parametrize(
    ("text", "name", "sign", "limit"),
    [
        ("ece > 0.02", "ece", ">", 0.02),
        ("  ece_debiased.low>=1e-3 ", "ece_debiased.low", ">=", 0.001),
        ("pvalue<0.05", "pvalue", "<", 0.05),
        ("difference <= -0.5", "difference", "<=", -0.5),
    ],
)
def test_conditions_are_read(text: str, name: str, sign: str, limit: float) -> None:
    assert Condition.of(text) == Condition(name, sign, limit)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ece",
        "ece >",
        "> 0.02",
        "ece > high",
        "ece > nan",
        "ece > inf",
        "0.02 < ece",
        "ece == 0.1",
        "ece => 0.1",
        "ece > 0.1 > 0.2",
        "ece > 0.1 and mce > 0.2",
        "__import__('os').getcwd() > 0",
        "ece > 2 %",  # prose: ok
    ],
)
def test_all_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match=r"rmsce_debiased > 0\.02"):
        Condition.of(text)


def test_signs_mean_what_they_say() -> None:
    values = {"x": 0.5}
    held = [Condition.of(f"x {sign} 0.5").holds(values) for sign in ("<", "<=", ">", ">=")]
    assert held == [False, True, False, True]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(
        InputError,
        match=r"no number 'eec' to compare. Hint: did you mean 'ece'\? There are: ece, mce",
    ):
        Condition.of("eec > 0").check(["mce", "ece"])


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_number_that_is_missing_does_not_pass(missing: float | None) -> None:
    with pytest.raises(InputError, match="could not be computed"):
        exit_code([Condition.of("x > 0")], {"x": missing})


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    values: dict[str, float | None] = {"x": 0.5, "y": 0.1}
    assert exit_code([], values) == 0
    assert exit_code([Condition.of("x > 1")], values) == 0
    assert exit_code([Condition.of("x > 1"), Condition.of("y < 1")], values) == 1
    assert "because y < 1 holds: y is 0.1" in capsys.readouterr().err
