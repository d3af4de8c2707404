"""Inference of columns that were not specified, from their names or else from their values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueup.forecasts.percentages import PERCENT
from trueup.io.column_patterns import ordered
from trueup.io.number_columns import PERCENT_NAME, missing_text

if TYPE_CHECKING:
    from trueup.io.table import Table


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


LABELS = _names(
    "y label labels target targets y_true ytrue true_label truth outcome outcomes correct "
    "is_correct was_right class obs observed actual ground_truth gt"
)
PROBS = _names(
    "p prob probs proba probas probability probabilities y_prob y_proba y_score y_scores score "
    "scores conf confidence confidences p_hat phat pred_prob pred_proba predicted_prob "
    "predicted_probability softmax forecast"
)
RIGHT = _names("correct is_correct was_right")
CONFIDENCES = _names("conf confidence confidences")
LOGITS = _names("logit logits z raw_score raw_scores")
PREDICTIONS = _names(
    "pred preds predicted prediction y_pred y_hat yhat predicted_label pred_label "
    "predicted_class pred_class top_label"
)
BESIDE = _names("weight weights w sample_weight group groups cluster clusters fold resample")
NO_PROBS = _names("p_value p_val p_values")
INDEXES = _names("column_0 unnamed_0 index index_level_0 id row row_id")
OF_HARNESS = _names("arguments resps filtered_resps")
# Words in names of columns that are predictions or outcomes if their values can be.
SCORE_WORDS = _names("prob probs proba probability conf confidence risk")
OUTCOME_WORDS = _names(
    "died dead death deaths deceased mortality event outcome relapse relapsed readmitted "
    "readmission correct right acc default defaulted churn churned fraud clicked converted won win "
    "success happened occurred observed label target truth"
)
# Columns of 0 and 1 that are no outcomes, or may be the opposite of what was predicted.
NO_OUTCOMES = _names(
    "sex male female gender treated treatment arm train test valid holdout split fold smoker "
    "survived survival alive weight group id index prediction predicted pred"
)
# One column a class: these before any name, those before a number only.
BEFORE_NAMES = "p prob probs proba probability y_prob y_proba pred_prob pred_proba softmax pred"
BEFORE_NUMBERS = "class score scores conf"
LOGITS_BEFORE = "logit logits z"
STEM = "__"
LAST_NUMBER = re.compile(r"\d+$")


def plain(name: str) -> str:
    """Return a name in the form used for comparisons: lower case, with underscores.

    >>> plain(" .Pred Class")
    'pred_class'
    """
    return re.sub(r"[^0-9a-z]+", "_", name.strip().lower()).strip("_")


def parted(name: str) -> tuple[str, str]:
    """Return the model and the role in a name such as ``resnet__p``; other names have no model."""
    stem, found, role = name.rpartition(STEM)
    known = LABELS | PROBS | LOGITS | PREDICTIONS
    return (stem, role) if found and plain(role) in known else ("", name)


def named(names: Sequence[str], roles: frozenset[str]) -> list[str]:
    """Return the columns whose name, without its model, is one of ``roles``."""
    return [name for name in names if plain(parted(name)[1]) in roles]


def prob_sets(names: Sequence[str], logits: bool) -> list[tuple[str, ...]]:
    """Return sets of columns that may be predictions; single columns only if no set has several.

    A set with one column per class makes a single column of confidences next to it redundant.
    """
    taken = LABELS | PREDICTIONS | BESIDE | NO_PROBS
    free = [name for name in names if plain(parted(name)[1]) not in taken]
    sets: dict[str, list[str]] = {}
    for name in free:
        prefix = _prefix(name, logits)
        if prefix is not None and not parted(name)[0]:
            sets.setdefault(prefix, []).append(name)
    several = [tuple(ordered(found)) for found in sets.values() if len(found) > 1]
    if several:
        return several
    single = named(free, LOGITS if logits else PROBS)
    alone = [found[0] for found in sets.values() if len(found) == 1 and found[0] not in single]
    return [(name,) for name in [*single, *(name for name in alone if not name.isdecimal())]]


def _prefix(name: str, logits: bool) -> str | None:
    """Return the prefix in the name of a column for one class, or None if there is none."""
    if name.isdecimal():
        return "" if not logits else None
    named_class, numbered = (LOGITS_BEFORE, "") if logits else (BEFORE_NAMES, BEFORE_NUMBERS)
    key = plain(name)
    for word in sorted(named_class.split(), key=len, reverse=True):
        if re.fullmatch(rf"{word}_.+|{word}\d+", key):
            return word
    for word in numbered.split():
        if re.fullmatch(rf"{word}_?\d+", key):
            return word
    return None


def words_of(name: str) -> frozenset[str]:
    """Return the words of a name, in lower case.

    >>> sorted(words_of("stated_confidence")), sorted(words_of("Died.30d"))
    (['confidence', 'stated'], ['30d', 'died'])
    """
    return frozenset(plain(parted(name)[1]).split("_"))


def called_scores(names: Sequence[str], table: Table) -> list[str]:
    """Return columns, such as stated_confidence, whose name and values suggest probabilities."""
    taken = LABELS | PREDICTIONS | BESIDE | NO_PROBS
    free = [name for name in names if plain(parted(name)[1]) not in taken]
    called = [name for name in free if words_of(name) & SCORE_WORDS]
    sample = table.sample(called) if called else {}
    return [name for name, column in sample.items() if _kind(column, name) == "scores"]


def outcomes(names: Sequence[str], table: Table) -> list[str]:
    """Return columns of 0 and 1, such as died_30d, that may label one column of predictions.

    These are the columns with a word for outcomes in their name. If there are none, it is the only
    column with two values.
    """
    free = [name for name in names if not words_of(name) & NO_OUTCOMES]
    sample = table.sample(names)
    found = [name for name in free if name in sample and _kind(sample[name]) == "zeros and ones"]
    called = [name for name in found if words_of(name) & OUTCOME_WORDS]
    if called or len(found) != 1:
        return called
    others = [column for name, column in sample.items() if name != found[0]]
    alone = len(np.unique(sample[found[0]])) == 2 and not any(map(_is_two_valued, others))
    return found if alone else []


def indicators(names: Sequence[str], table: Table) -> list[str]:
    """Return columns of 0 and 1 named as labels of one class each, such as y_0, y_1 and y_2."""
    called = [name for name in names if _of_one_class(name)]
    sample = table.sample(called) if len(called) > 1 else {}
    found = [name for name in called if name in sample and _kind(sample[name]) == "zeros and ones"]
    return ordered(found) if 1 < len(found) == len(called) else []


def _of_one_class(name: str) -> bool:
    word = re.fullmatch(r"(.+?)_?\d+", plain(name))
    return word is not None and word[1] in LABELS


def one_each(names: Sequence[str], table: Table) -> bool:
    """Return whether exactly one of these columns is 1 in every sampled row."""
    return bool(np.all(np.sum(list(table.sample(names).values()), axis=0) == 1))


def _is_two_valued(column: NDArray[Any]) -> bool:
    if column.ndim != 1:
        return False
    return len({item for item in column.tolist() if item is not None and item == item}) == 2


def two_columns(sample: dict[str, NDArray[Any]]) -> tuple[str, str] | None:
    """Return the columns (probabilities, labels) of a two-column table, whatever their names."""
    if len(sample) != 2:
        return None
    (one, a), (other, b) = sample.items()
    kinds = (_kind(a, one), _kind(b, other))
    if kinds == ("scores", "zeros and ones"):
        return one, other
    return (other, one) if kinds == ("zeros and ones", "scores") else None


def columns_of_classes(names: Sequence[str], labels: NDArray[Any]) -> tuple[str, ...]:
    """Return the columns named after the labels, in file order; empty if a label lacks one."""
    if labels.dtype != object:
        return ()
    if not all(label is None or isinstance(label, str) for label in labels):
        return ()
    classes = {label for label in labels if label is not None}
    found = tuple(name for name in names if name in classes)
    return found if len(found) == len(classes) > 1 else ()


def with_scores(sample: dict[str, NDArray[Any]]) -> Iterator[str]:
    """Iterate over the names of columns that hold fractions between 0 and 1."""
    for name, column in sample.items():
        if _kind(column) == "scores" or (
            column.ndim == 2 and column.shape[1] > 1 and _inside(column)
        ):
            yield name


def blocks(sample: dict[str, NDArray[Any]]) -> list[tuple[str, ...]]:
    """Return sets of decimal columns: a matrix, or columns whose names differ in the last number.

    >>> x = np.array([0.5, -2.0])
    >>> blocks({"out_0": x, "out_1": x, "z": np.array([[0.5, 2.0]]), "id": np.arange(2), "y": x})
    [('out_0', 'out_1'), ('z',)]
    """
    taken = LABELS | PREDICTIONS | BESIDE | NO_PROBS
    found: dict[tuple[int, str], list[str]] = {}
    for name, column in sample.items():
        if plain(parted(name)[1]) not in taken and _is_decimal(column):
            stem = name if column.ndim == 2 else LAST_NUMBER.sub("0", name)
            found.setdefault((column.ndim, stem), []).append(name)
    return [tuple(ordered(names)) for names in found.values()]


def logit_blocks(sample: dict[str, NDArray[Any]]) -> list[tuple[str, ...]]:
    """Return the blocks of decimal columns with a value outside 0 to 1, unlike probabilities."""
    return [names for names in blocks(sample) if not all(_inside(sample[name]) for name in names)]


def logits_and_label(sample: dict[str, NDArray[Any]]) -> tuple[tuple[str, ...], str] | None:
    """Return (logits, labels) if the table has no other columns, whatever their names."""
    found = logit_blocks(sample)
    others = [name for name in sample if not found or name not in found[0]]
    if len(found) != 1 or len(others) != 1:
        return None
    label = sample[others[0]]
    return None if label.ndim != 1 or _is_decimal(label) else (found[0], others[0])


def _is_decimal(column: NDArray[Any]) -> bool:
    """Return whether a column is a matrix of floats, or floats that are not all integers."""
    if column.dtype.kind != "f" or column.ndim == 2:
        return column.dtype.kind == "f" and column.shape[1] > 1
    present = column[np.isfinite(column)]
    return bool(np.any(present != np.floor(present)))


def _kind(column: NDArray[Any], name: str = "") -> str:
    if column.dtype == object and column.ndim == 1:
        return "scores" if _are_percentages(column) else ""
    if column.ndim != 1 or column.dtype.kind not in "fiub" or len(column) == 0:
        return ""
    present = column[~np.isnan(column)] if column.dtype.kind == "f" else column
    if bool(np.all((present == 0) | (present == 1))):
        return "zeros and ones"
    if PERCENT_NAME.search(name) and bool(np.all((present >= 0) & (present <= 100))):
        return "scores"
    return "scores" if column.dtype.kind == "f" and _inside(present) else ""


def _are_percentages(column: NDArray[Any]) -> bool:
    present = [item for item in column if isinstance(item, str) and not missing_text(item)]
    return bool(present) and all(PERCENT.fullmatch(item) for item in present)


def _inside(column: NDArray[Any]) -> bool:
    if column.dtype.kind != "f":
        return False
    present = column[~np.isnan(column)]
    return bool(np.all((present >= 0) & (present <= 1)))


def two_valued(labels: NDArray[Any]) -> bool:
    """Return whether labels are booleans, 0 and 1, −1 and 1, or at most two texts."""
    if labels.dtype.kind == "b" or labels.ndim != 1:
        return True
    if labels.dtype.kind in "iuf":
        return _kind(labels) == "zeros and ones" or bool(np.all(np.abs(labels) == 1))
    return len({label for label in labels if label is not None}) <= 2
