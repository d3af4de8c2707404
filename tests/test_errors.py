"""Errors keep what is wrong in fields; every caller is told in words of its own."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import trueup as tu
from trueup.cli.messages import typed
from trueup.errors import (
    RAISE,
    Argument,
    InputError,
    Verbatim,
    called,
    conflict,
    internal_error,
    must_be,
    required,
)

SOURCE = Path(tu.__file__).parent
NORMALIZE = ("pass ", Argument("normalize", True, to="Forecasts.from_arrays"))
LONG = must_be(
    "labels",
    ("as long as ", Argument("probs"), ", which has 3 rows"),
    Verbatim("2 rows"),
    row=4,
    hint=NORMALIZE,
)
# What must not follow "must be".
FRAGMENTS = re.compile(
    r"(given|left out|made|named|known|splits|of|ones|one of (a|pairs|one|single)"
    r"|one (that|with|without)|above 0 in|positive in|different|something|the only)\b"
)


def test_fields_and_words() -> None:
    assert (LONG.argument, LONG.row, LONG.column, LONG.file) == ("labels", 4, None, None)
    assert isinstance(LONG, ValueError)
    assert str(LONG) == (
        "`labels` must be as long as `probs`, which has 3 rows; got 2 rows in row 4. "
        "Hint: pass normalize=True to Forecasts.from_arrays."
    )
    assert repr(LONG) == f"InputError({str(LONG)!r})"


def test_a_missing_argument_and_two_that_exclude_each_other() -> None:
    assert str(required("labels", "call f(probs, labels)")) == (
        "`labels` is required. Hint: call f(probs, labels)."
    )
    assert str(conflict("probs", "models")) == "Pass either `probs` or `models`, not both."


def test_the_same_error_about_another_name() -> None:
    assert str(LONG.about("y")).startswith("`y` must be as long as `probs`, which")
    assert str(LONG.about("X", instead_of="probs")).startswith("`labels` must be as long as `X`")
    assert LONG.about("X", instead_of="weights") is LONG
    assert str(conflict("a", "b").about("c")) == "Pass either `c` or `b`, not both."
    with pytest.raises(InputError, match="`b` must be 1; got 2"), called({"a": "b"}):
        raise must_be("a", "1", 2)


def test_in_a_file_columns_take_the_place_of_arguments() -> None:
    told = LONG.replace(file="p.csv", column="y", row="row 4 (line 6)")
    assert str(told).startswith("p.csv: column 'y' must be as long as")
    assert "in row 4 (line 6)." in str(told)
    assert str(InputError(None, "is empty", file="a\nb.csv")) == "a?b.csv: is empty."


def test_the_command_line_says_options() -> None:
    options = ["--labels", "--probs", "--normalize", "--classes", "--bins"]
    assert typed(LONG, options) == (
        "--labels must be as long as --probs, which has 3 rows; got 2 rows in row 4. "
        "Hint: pass --normalize."
    )
    assert "Hint" not in typed(LONG, ["--labels"])
    names = must_be("n_bins", "1", 2, hint=("pass ", Argument("classes", ["no", "yes"])))
    assert typed(names, options) == "--bins must be 1; got 2. Hint: pass --classes no,yes."
    assert typed(must_be("--param x", "1", 2), options) == "--param x must be 1; got 2."
    assert typed(must_be("models", "1", 2), options) == "`models` must be 1; got 2."


@pytest.mark.parametrize(
    "error",
    [
        LONG,
        must_be("f", "a function", lambda: None),
        must_be("x", "something else", None),
        required("labels"),
        conflict("a", "b"),
        InputError(None, "is empty", file="p.csv"),
    ],
)
def test_errors_can_be_pickled_and_copied(error: InputError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is InputError
        assert str(again) == str(error)
        assert vars(again) == vars(error)


def test_a_bug_is_reported_in_its_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from trueup.evaluation import findings

    def broken(*_: object, **__: object) -> None:
        raise ValueError("shapes cannot be broadcast")

    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = rng.random(200) < p

    def evaluated() -> tu.Evaluation:
        settings = {"metrics": ["ece"], "n_resamples": 39, "recalibrate": False, "advice": False}
        return tu.evaluate(p, y, **settings)

    whole = evaluated()
    monkeypatch.setattr(findings, "calibration_test", broken)
    with pytest.raises(ValueError, match="broadcast"):
        evaluated()
    monkeypatch.delenv(RAISE)
    found = evaluated()
    assert (
        "internal error in the test 'ks', please report"
        in found.tests["ks"].notes["internal_error"]
    )
    assert found.estimates[0].pvalue == whole.estimates[0].pvalue
    assert found.verdict == whole.verdict
    monkeypatch.setattr(findings, "estimate_many", broken)
    monkeypatch.setattr(findings, "calibration_test", tu.calibration_test)
    assert [each.value for each in evaluated().estimates] == [
        each.value for each in whole.estimates
    ]
    intervals = tu.interval

    def broken_for_ece(estimator: object, *args: object, **options: object) -> tu.results.Interval:
        if estimator != tu.BinnedError():
            return intervals(estimator, *args, **options)  # type: ignore[arg-type]
        raise IndexError("out of range")

    monkeypatch.setattr(findings, "interval", broken_for_ece)
    rows = evaluated().estimates
    assert np.isnan(rows[1].value)
    assert "internal error in ece, please report" in rows[1].notes["internal_error"]
    assert "internal error in ece, please report" in str(evaluated())
    assert rows[0].value == whole.estimates[0].value


def test_a_bug_in_any_part_is_reported_and_leaves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    from trueup.evaluation import findings, on_demand

    rng = np.random.default_rng(0)
    probs = rng.dirichlet([1, 1, 1], 150)
    labels = [rng.choice(3, p=row) for row in probs]

    def evaluated() -> tu.Evaluation:
        settings = {"metrics": ["ece"], "n_resamples": 39, "recalibrate": False, "advice": False}
        return tu.evaluate(probs, labels, groups=np.arange(150) % 2, **settings)

    def broken(*_: object, **__: object) -> None:
        raise ValueError("shapes cannot be broadcast")

    whole = evaluated()
    assert whole.internal_errors == {}
    broken_parts = {
        "classes": "class_findings",
        "groups": "group_errors",
        "detectable_error": "sensitivity",
        "null": "sensitivity",
        "psce": "PointwiseError",
        "bins": "error_by_bins",
    }
    for function in broken_parts.values():
        monkeypatch.setattr(on_demand, function, broken)
    with pytest.raises(ValueError, match="broadcast"):
        evaluated()
    monkeypatch.delenv(RAISE)
    found = evaluated()
    assert set(found.internal_errors) == set(broken_parts)
    assert found.estimates[0].pvalue == whole.estimates[0].pvalue
    assert {"classes", "psce"}.isdisjoint(found.tables)
    assert "Internal error in the part 'groups', please report" in " ".join(str(found).split())
    assert "please report" in found._repr_html_()
    assert tu.Evaluation.from_dict(found.to_dict()).internal_errors == found.internal_errors
    monkeypatch.setattr(findings, "estimate_many", broken)
    assert "the joint resampling" in evaluated().internal_errors["ece"]


def test_a_bug_of_an_estimator_does_not_blame_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise TypeError("a bug")

    monkeypatch.setattr(tu.CumulativeError, "measure_pairs", broken)
    with pytest.raises(TypeError, match="a bug"):
        tu.interval(tu.ks_error, [0.2, 0.7], [0, 1], n_resamples=39)


def test_what_is_no_bug_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RAISE)
    for error in (MemoryError(), tu.CapabilityError("no compiler")):
        with pytest.raises(type(error)):
            internal_error("ece", error)


def _rules() -> list[tuple[str, str]]:
    """The beginnings of all rules that are given to `must_be` as literals, with their places."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(getattr(node, "func", None), "id", "")
            if name in ("must_be", "refuse") and len(node.args) > 1:
                rule = node.args[1]
                while isinstance(rule, ast.Tuple | ast.JoinedStr):
                    rule = rule.elts[0] if isinstance(rule, ast.Tuple) else rule.values[0]
                if isinstance(rule, ast.Constant):
                    found.append((f"{path.name}:{node.lineno}", str(rule.value)))
    return found


def test_rules_follow_must_be() -> None:
    rules = _rules()
    assert len(rules) > 200
    assert [each for each in rules if FRAGMENTS.match(each[1])] == []


def test_no_message_is_rewritten() -> None:
    """Errors are rendered from their fields: nothing edits the text of one."""
    pattern = re.compile(r"str\((error|problem|caught)\)\s*\.\s*(replace|partition)\(")
    assert [path.name for path in SOURCE.rglob("*.py") if pattern.search(path.read_text())] == []
    assert "import re" not in (SOURCE / "cli" / "messages.py").read_text()


def test_no_message_steers_a_terminal_or_fills_it() -> None:
    for file in (None, "p\x1b[2J.csv"):
        problem = InputError("probs", "come from p\x1b[31m", Verbatim("two\nlines"), file=file)
        assert str(problem).isprintable()
        assert "p?[31m" in str(problem)
    assert len(str(InputError("probs", f"has no column {'x' * 10**6!r}"))) == 1000
