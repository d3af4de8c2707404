"""The choice of columns for predictions, labels and the rest: as requested, or inferred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from trueup.errors import Argument, InputError, Text, Verbatim, must_be, printable
from trueup.io import column_guesses
from trueup.io.column_patterns import ColumnNames, pick, pick_one, twice
from trueup.io.file_errors import listed, refusal, spanned
from trueup.io.number_columns import holds_numbers
from trueup.io.table import Table


@dataclass(frozen=True)
class Chosen:
    """Names of the columns to use.

    Parameters
    ----------
    probs : tuple of str
        Columns of the predictions, one per class, or a single one.
    labels : str or None
        Label column.
    prediction : str or None
        Column of predicted classes.
    weights : str or None
        Weight column.
    groups : tuple of str
        Columns that define the groups together; empty if there are none.
    features : tuple of str
        Feature columns; empty if there are none.
    clusters : str or None
        Cluster column.
    guessed : frozenset of str
        The options among probs, labels and prediction that were inferred.
    text : str
        The choice in words, such as "using columns p_0 … p_9, label y".

    Examples
    --------
    >>> choose(["id", "p", "y"]).probs
    ('p',)
    """

    probs: tuple[str, ...]
    labels: str | None
    prediction: str | None
    weights: str | None
    groups: tuple[str, ...]
    features: tuple[str, ...]
    clusters: str | None
    guessed: frozenset[str]
    text: str


def choose(
    table_names: Sequence[str],
    *,
    probs: ColumnNames = None,
    labels: ColumnNames = None,
    weights: ColumnNames = None,
    groups: ColumnNames = None,
    features: ColumnNames = None,
    clusters: ColumnNames = None,
    prediction: ColumnNames = None,
    logits: bool = False,
    need_labels: bool = True,
    table: Table | None = None,
) -> Chosen:
    """Find the requested columns, and infer those of predictions and labels if they are not named.

    Use it before reading a file. If more than one choice is plausible, it raises an error that
    lists the candidates.

    Parameters
    ----------
    table_names : sequence of str
        Names of all columns.
    probs : str or sequence of str, optional
        Prediction columns: a name, a pattern such as ``'p_*'``, or several of these in a list or a
        comma-separated text.
    labels : str, optional
        Label column.
    weights : str, optional
        Weight column; never inferred.
    groups : str or sequence of str, optional
        Group columns, as for ``probs``; never inferred.
    features : str or sequence of str, optional
        Feature columns, as for ``probs``; never inferred.
    clusters : str, optional
        Cluster column; never inferred.
    prediction : str, optional
        Column of predicted classes.
    logits : bool, default False
        Whether predictions are logits; their columns are then inferred from names for logits.
    need_labels : bool, default True
        Whether labels are required; if not, none are inferred.
    table : Table, optional
        The table with these names; its values are inspected if names are ambiguous.

    Returns
    -------
    Chosen
        The columns.

    Raises
    ------
    InputError
        If a column does not exist, or if there is no plausible choice or more than one.

    Examples
    --------
    >>> choose(["id", "p_0", "p_1", "p_2", "y"]).text
    'using columns p_0, p_1, p_2, label y'
    """
    shown = "the table" if table is None else table.shown
    names = tuple(table_names)

    def one(option: str, asked: ColumnNames) -> str | None:
        return None if asked is None else pick_one(option, asked, names, shown)

    asked = {"weights": weights, "clusters": clusters, "prediction": prediction}
    beside = {option: one(option, columns) for option, columns in asked.items()}
    by = () if groups is None else tuple(pick("groups", groups, names, shown))
    of_features = () if features is None else tuple(pick("features", features, names, shown))
    given = () if probs is None else tuple(pick("probs", probs, names, shown))
    label = None if labels is None else _label(labels, names, shown)
    indexes = column_guesses.named(names, column_guesses.INDEXES)
    added = () if table is None else table.added
    used = {*beside.values(), *by, *of_features, *indexes, *added}
    free = tuple(dict.fromkeys(name for name in names if name not in used))
    guess = _Guess(shown, free, logits, table)
    found, label = guess.complete(given, label, need_labels)
    guessed = {"probs"} if probs is None else set[str]()
    if labels is None and label:
        guessed.add("labels")
    times = Counter(names)
    for name in (*found, label):
        if times[name or ""] > 1:
            raise twice(str(name), names, shown)
    if label is not None and label in found:
        raise refusal(shown, f"column {label!r} cannot be both predictions and labels")
    return Chosen(
        probs=found,
        labels=label,
        groups=by,
        features=of_features,
        guessed=frozenset(guessed),
        text=_sentence(names, found, label, beside, by, of_features, logits),
        **beside,
    )


def _label(labels: str | Sequence[str], names: tuple[str, ...], shown: str) -> str:
    """Return the only label column; raise an error if there are several, such as one-hot labels."""
    picked = pick("labels", labels, names, shown)
    if len(picked) > 1:
        hint = "if labels are one-hot, write the number or name of the class into one column"
        error = must_be("labels", "one column", Verbatim(listed(picked)), hint=hint)
        raise error.replace(file=shown)
    return picked[0]


@dataclass(frozen=True)
class _Guess:
    """Inference of predictions and labels from the columns that no option names."""

    shown: str
    names: tuple[str, ...]
    logits: bool
    table: Table | None

    def complete(
        self, probs: tuple[str, ...], label: str | None, need_labels: bool
    ) -> tuple[tuple[str, ...], str | None]:
        """Return the given columns, with predictions and labels inferred if they are missing."""
        if probs and (label is not None or not need_labels):
            return probs, label
        if not probs and label is None and need_labels:
            pair = self._whatever_the_names()
            if pair is not None:
                return pair
        stem = self._stem(probs, label, need_labels)
        here = [name for name in self.names if column_guesses.parted(name)[0] == stem]
        if label is None and need_labels:
            taken = set(probs)
            label = self._label([name for name in here if name not in taken])
        return probs or self._probs([name for name in here if name != label], label), label

    def _stem(self, probs: tuple[str, ...], label: str | None, need_labels: bool) -> str:
        """Return the model whose columns to use, if names contain one, as in ``resnet__p``."""
        given = [*probs, *([label] if label is not None else [])]
        if given:
            return column_guesses.parted(given[0])[0]
        stems: dict[str, list[str]] = {}
        for name in self.names:
            stems.setdefault(column_guesses.parted(name)[0], []).append(name)
        pairs = {}
        for stem, names in stems.items():
            sets = column_guesses.prob_sets(names, self.logits)
            labels = column_guesses.named(names, column_guesses.LABELS)
            if stem and sets and (labels or not need_labels):
                pairs[stem] = f"{sets[0][0]} with {labels[0]}" if need_labels else sets[0][0]
        if not pairs or column_guesses.prob_sets(stems.get("", []), self.logits):
            return ""
        if len(pairs) == 1:
            return next(iter(pairs))
        first = next(name for name in self.names if column_guesses.parted(name)[0] in pairs)
        model = column_guesses.parted(first)[0]
        example = column_guesses.prob_sets(stems[model], self.logits)[0][0]
        raise refusal(
            self.shown,
            f"holds {len(pairs)} sets of predictions: {listed(list(pairs.values()), 6)}",
            hint=("choose one, for example ", Argument("probs", example)),
        )

    def _whatever_the_names(self) -> tuple[tuple[str, ...], str] | None:
        if self.table is None or len(self.names) < 2:
            return None
        by_name = column_guesses.named(self.names, column_guesses.LABELS)
        sets = column_guesses.prob_sets(self.names, self.logits)
        if self.logits:
            found = not by_name and not sets
            return column_guesses.logits_and_label(self._sample(self.names)) if found else None
        if len(self.names) != 2 or (len(by_name) == 1 and sets):
            return None
        pair = column_guesses.two_columns(self.table.sample(self.names))
        return None if pair is None else ((pair[0],), pair[1])

    def _sample(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        return self.table.sample(names) if self.table is not None and names else {}

    def _label(self, names: list[str]) -> str:
        found = column_guesses.named(names, column_guesses.LABELS) or self._outcomes(names)
        if not found and len(self.names) == 2:
            sets = column_guesses.prob_sets(names, self.logits) if len(names) == 2 else []
            found = [name for name in names if not sets or (name,) not in sets]
            found = found if len(found) == 1 else []
        if len(found) == 1:
            return found[0]
        if found:
            told = f"labels may be in any of the columns {listed(found)}"
            hint: Text = ("choose one, for example ", Argument("labels", found[0]))
        else:
            told = f"no column name looks like labels; columns: {listed(self.names)}"
            hint = self._about_indicators(names)
            hint = hint or ("name the column of the labels with ", Argument("labels"))
        raise refusal(self.shown, told, hint=hint)

    def _about_indicators(self, names: list[str]) -> Text:
        """Return a hint for labels with one column per class; empty if there are none."""
        if self.table is None:
            return ""
        found = column_guesses.indicators(names, self.table)
        if not found:
            return ""
        if not column_guesses.one_each(found, self.table):
            sets = column_guesses.prob_sets(names, self.logits)
            example = Argument("probs", sets[0][-1] if sets else "p_1")
            one = ("evaluate each column separately, such as ", example, " ")
            return (f"{spanned(found)} look multilabel: ", *one, Argument("labels", found[-1]))
        return (
            f"{spanned(found)} look like one-hot labels: write the number or name of the class "
            "into one column"
        )

    def _outcomes(self, names: list[str]) -> list[str]:
        """Return columns of 0 and 1 that may be labels, if the predictions are in one column."""
        if self.table is None or self.logits:
            return []
        sets = self._sets(names)
        if not sets or any(len(columns) > 1 for columns in sets):
            return []
        likely = {name for columns in sets for name in columns}
        return column_guesses.outcomes([x for x in names if x not in likely], self.table)

    def _sets(self, names: list[str]) -> list[tuple[str, ...]]:
        """Return sets of columns that may be the predictions, without columns of text."""
        sets = column_guesses.prob_sets(names, self.logits)
        if self.table is None:
            return sets
        called = [name for columns in sets for name in columns]
        numeric = self.table.numeric_among(called) if called else set()
        if len(numeric) < len(called):
            sets = column_guesses.prob_sets([x for x in names if x in numeric], self.logits)
        if not sets and not self.logits:
            return [(name,) for name in column_guesses.called_scores(names, self.table)]
        return sets

    def _probs(self, names: list[str], label: str | None) -> tuple[str, ...]:
        sets = self._sets(names)
        if len(sets) == 1:
            return sets[0]
        if len(sets) > 1:
            raise self._any_of(sets)
        if not self.logits:
            raw = column_guesses.prob_sets(names, logits=True)
            if raw:
                told = f"no column name looks like probabilities, but {spanned(raw[0])}"
                if_logits = ("pass ", Argument("logits", True), " if these are logits")
                raise refusal(self.shown, told, hint=if_logits)
        return self._by_values(names, label)

    def _any_of(self, sets: list[tuple[str, ...]]) -> InputError:
        told = "; ".join(spanned(columns) for columns in sets[:6])
        hint = ("choose one, for example ", _example(sets[0]))
        return refusal(self.shown, f"predictions may be in any of: {told}", hint=hint)

    def _by_values(self, names: list[str], label: str | None) -> tuple[str, ...]:
        told = f"no column name looks like a prediction; columns: {listed(self.names)}"
        if self.table is not None and label is not None:
            classes = column_guesses.columns_of_classes(names, self.table.column(label))
            if classes:
                return classes
            if len(names) == 1 and len(self.names) == 2 and not self.logits:
                return (names[0],)
        sample = self._sample(names)
        likely: list[str] = []
        if self.logits:
            found = column_guesses.logit_blocks(sample)
            if len(found) > 1:
                raise self._any_of(found)
            # One column of numbers among others may be anything.
            several = found and (len(found[0]) > 1 or sample[found[0][0]].ndim == 2)
            if several or (found and len(self.names) <= 2):
                return found[0]
        else:
            likely = list(column_guesses.with_scores(sample))
        if likely:
            told = (
                "no column name looks like a prediction; columns with values between 0 and 1: "
                f"{listed(likely)}"
            )
        candidate = self._candidate(names, sample, likely)
        hint: Text = ("name the columns of the predictions with ", Argument("probs"))
        if candidate:
            hint = ("choose them, for example ", _example(candidate))
        if set(self.names) >= column_guesses.OF_HARNESS and not likely:
            hint = (
                "samples of lm-eval hold log-likelihoods: write the probability of the answer, and "
                "whether it is right, into two columns"
            )
        raise refusal(self.shown, told, hint=hint)

    def _candidate(
        self, names: list[str], sample: dict[str, NDArray[Any]], likely: list[str]
    ) -> tuple[str, ...]:
        """Return columns that may hold predictions; columns of numbers if there are any."""
        if likely:
            return (likely[0],)
        decimals = column_guesses.blocks(sample)
        if decimals:
            return decimals[0]
        free = [x for x in names if x not in column_guesses.named(names, column_guesses.LABELS)]
        numbers = [name for name in free if name in sample and holds_numbers(sample[name])]
        return tuple([*numbers, *free][:1])


def _example(columns: Sequence[str]) -> Argument:
    """Return an option that chooses these columns: it names all of up to three, else two."""
    few = ",".join(columns) if len(columns) <= 3 else f"{columns[0]},{columns[1]},…"
    return Argument("probs", few)


def _sentence(
    names: tuple[str, ...],
    probs: tuple[str, ...],
    label: str | None,
    beside: dict[str, str | None],
    groups: tuple[str, ...],
    features: tuple[str, ...],
    logits: bool,
) -> str:
    text = f"using column{'s' if len(probs) > 1 else ''} {spanned(probs)}"
    text += " as logits" if logits else ""
    text += "" if label is None else f", label {label}"
    weights, *others = beside.items()
    text += "".join(f", {option} {name}" for option, name in [weights] if name is not None)
    text += f", groups {spanned(groups)}" if groups else ""
    text += "".join(f", {option} {name}" for option, name in others if name is not None)
    text += f", features {spanned(features)}" if features else ""
    used = {*probs, label, *beside.values(), *groups, *features}
    idle = [name for name in column_guesses.named(names, column_guesses.BESIDE) if name not in used]
    return printable(text + (f" ({listed(idle, 4)} not used)" if idle else ""))
