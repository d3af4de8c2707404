"""The answers in words: never more than the numbers carry."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from trueup._typing import Floats
from trueup.evaluation.evidence import Evidence, amount
from trueup.evaluation.locations import NAMED, standing_out, where
from trueup.evaluation.sections import Finding, Recalibration
from trueup.results import Interval
from trueup.tables import ResultTable

LARGE = 0.1
"""Where such an error, or one as large as the rarer outcome, would go unnoticed, nobody is sure."""
FEW_CLUSTERS = 50


def verdict_of(answers: dict[str, str]) -> str:
    """One paragraph: the answers one after the other."""
    return " ".join(text for text in answers.values() if text)


def verdict_of_models(verdicts: Mapping[str, str], comparison: ResultTable) -> str:
    """Return the verdict of the first model, and who of all is best as far as rows can tell."""
    rank: dict[str, int] = {}
    for which in ("first", "second"):
        for name, place in zip(comparison[which], comparison[f"{which}_rank"], strict=True):
            rank[str(name)] = int(place)
    best = [name for name in verdicts if rank[name] == 1]
    name, verdict = next(iter(verdicts.items()))
    than = "another" if len(best) == len(verdicts) else " or ".join(best)
    which = f"none is shown to be better calibrated than {than}"
    return f"Of {len(verdicts)} models, {which}. Of {name}, the first: {verdict}"


def answers_of(evidence: Evidence) -> dict[str, str]:
    """Is it calibrated, how far off, where, how sure, what to do, what would be gained?"""
    return {
        "calibrated": _calibrated(evidence),
        "magnitude": _how_far(evidence),
        "location": where(evidence),
        "precision": _how_sure(evidence),
        "recommendation": _what_to_do(evidence),
        "expected_gain": _gain(evidence),
    }


def _calibrated(evidence: Evidence) -> str:
    many = evidence.overview.n_zero_prob_outcomes
    if not many:
        return _tested(evidence)
    what = "1 outcome that was" if many == 1 else f"{many:,} outcomes that were"
    rest = _tested(evidence)
    return (
        f"The probabilities cannot all be true: {what} given probability 0 came true. Apart from "
        f"that, {rest[0].lower()}{rest[1:]}"
    )


def _tested(evidence: Evidence) -> str:
    """What the tests say, or where there is none, the intervals."""
    finding, every = evidence.headline, evidence.all_classes
    if finding.test is None:
        reason = finding.notes.get("no_test", "there was no test")
        shown = "is above 0" if finding.interval.low > 0 else "may be 0"
        text = f"Not tested ({reason}); by its interval the error {shown}"
        if every is not None and evidence.classes_above:
            text += f", and that of all classes is above 0 ({_ends(every)})"
        return f"{text}."
    what = "The probabilities"
    if evidence.overview.kind == "multiclass":
        what = "The confidences of the most probable class"
    slightly = "slightly " if evidence.small else ""
    tested = f"{evidence.p(finding)}, {evidence.rows}"
    if evidence.rejects(finding):
        return f"{what} are {slightly}miscalibrated ({tested})."
    if every is not None and evidence.rejects(every):
        return (
            f"{what} show no evidence of miscalibration ({tested}), but the probabilities of all "
            f"classes are {slightly}miscalibrated ({evidence.p(every)})."
        )
    if evidence.classes_above:
        assert every is not None
        return (
            f"{what} show no evidence of miscalibration ({tested}), but the probabilities of all "
            f"classes are {slightly}miscalibrated by their interval ({_ends(every)}); they were "
            f"not tested together: {every.notes.get('no_test', 'there was no test')}."
        )
    text = f"There is no evidence of miscalibration at this sample size ({tested})"
    if every is not None and every.test is None:
        text += f"; all classes were not tested together: {every.notes.get('no_test', 'no test')}"
    if evidence.detectable_error is not None:
        return f"{text}; {evidence.detectable_error.text}.{_other_tests(evidence)}"
    high = amount(finding.interval.high)
    return f"{text}; by its interval, an error of up to {high} is possible.{_other_tests(evidence)}"


def _other_tests(evidence: Evidence) -> str:
    """Say so where tests that do not decide see more."""
    others = evidence.others
    doubting = sorted(
        (name for name, p in others.items() if p <= evidence.alpha), key=others.__getitem__
    )
    if not doubting:
        return ""
    few = ", ".join(f"{name} {others[name]:.2g}" for name in doubting[:NAMED])
    adjusted = min(1.0, len(others) * others[doubting[0]])  # Holm, of the smallest
    text = (
        f" But {len(doubting)} of {len(others)} other tests have p ≤ {evidence.alpha:.2g} ({few})"
    )
    if adjusted <= evidence.alpha:
        return f"{text}, more than looking at so many explains (p = {adjusted:.2g} adjusted)."
    return f"{text}, which looking at so many may explain (p = {adjusted:.2g} adjusted)."


def _how_far(evidence: Evidence) -> str:
    ends = evidence.headline.interval
    level = f"{100 * ends.confidence_level:g} % interval"
    what = "The error"
    if evidence.overview.kind == "multiclass":
        what = "The error of the most probable class"
    size = (
        f"{what} is estimated at {amount(ends.estimate)} (root mean square, debiased; "
        f"{level} {_span(ends)})"
    )
    said, true = amount(evidence.overview.mean_score), amount(evidence.overview.mean_label)
    mean = f"{said} predicted on average, {true} came true"
    text = f"{size}{_direction(evidence)}: {mean}."
    if evidence.only_classes and evidence.all_classes is not None:
        text += f" That of all classes is {_ends(evidence.all_classes)}."
    return text


def _ends(finding: Finding) -> str:
    return f"{amount(finding.interval.estimate)}, {_span(finding.interval)}"


def _span(ends: Interval) -> str:
    return f"{amount(ends.low)} to {amount(ends.high)}"


def _direction(evidence: Evidence) -> str:
    """Say "too high", "too extreme" … where the lower and the upper half of scores agree on it."""
    if not evidence.miscalibrated:
        return ""
    table = evidence.table.nonempty()
    gap, share = table.gap, table.share
    error = np.sqrt(np.maximum(table.mean_score * (1 - table.mean_score), 0) * table.concentration)
    if evidence.overview.clusters is not None:  # as if all rows of a cluster were the same
        error = error * math.sqrt(evidence.overview.n / evidence.overview.clusters)
    whole = _sign(gap, share, error)
    if evidence.overview.kind == "multiclass":
        words = {-1: "the model is over-confident", 1: "the model is under-confident"}
        return f"; {words[whole]}" if whole else ""
    upper = np.cumsum(share) - share / 2 > 0.5
    low, high = (_sign(gap[half], share[half], error[half]) for half in (~upper, upper))
    if upper.all() or not upper.any():
        low = high = whole
    words_of = {
        (-1, -1): "probabilities are too high",
        (1, 1): "probabilities are too low",
        (1, -1): "probabilities are too extreme",
        (-1, 1): "probabilities are too timid",
        (-1, 0): "the lower half of the scores is too high",
        (1, 0): "the lower half of the scores is too low",
        (0, -1): "the upper half of the scores is too high",
        (0, 1): "the upper half of the scores is too low",
    }
    return f"; {words_of[low, high]}" if (low, high) in words_of else ""


def _sign(gap: Floats, share: Floats, error: Floats) -> int:
    """+1, −1, or 0 where the mean gap is within two standard errors of 0."""
    mean, noise = float(gap @ share), math.sqrt(float((share * error) @ (share * error)))
    return 0 if abs(mean) <= 2 * noise else int(math.copysign(1, mean))


def _how_sure(evidence: Evidence) -> str:
    ends, many = evidence.headline.interval, evidence.overview.clusters
    width = max(ends.high - ends.estimate, ends.estimate - ends.low)
    text = f"With {evidence.rows} the error is known to within {amount(width)}"
    found = evidence.detectable_error
    if evidence.miscalibrated and found is not None and found.error is not None:
        text += f"; one of {amount(found.error)} would be found with probability {found.power:g}"
    if many is not None and many < FEW_CLUSTERS:
        text += "; with so few clusters p-values and intervals are rough"
    if evidence.rejects(evidence.headline) and ends.low <= 0:
        text += ". The test rules out an error of 0; the interval, more cautious there, does not"
    return f"{text}."


def _what_to_do(evidence: Evidence) -> str:
    if not evidence.miscalibrated:
        return _nothing_shown(evidence)
    if evidence.overview.n_zero_prob_outcomes:
        inside = "Give no outcome probability 0: write more digits, or move such scores inside."
        return f"{inside} {_recalibration(evidence)}"
    return _recalibration(evidence)


def _recalibration(evidence: Evidence) -> str:
    found = evidence.recalibration
    if evidence.one_outcome:
        return "Only one outcome occurs in these rows: recalibrate with rows in which both do."
    if found is None:
        return "Recalibrate on data that the model was not trained on, and evaluate again."
    if found.recommended != "IdentityCalibration":
        apart = "fitted on data kept apart from training and test"
        return f"Recalibrate with {found.recommended}, {apart}."
    if evidence.small:
        return "So small an error needs no fixing: no recalibrator predicted better out of fold."
    return "No recalibrator that was tried predicts better out of fold than these probabilities."


def _nothing_shown(evidence: Evidence) -> str:
    """What to do where no test speaks against calibration."""
    found, named = evidence.detectable_error, standing_out(evidence)
    if named:
        return f"Look at {' and '.join(named)} again with more rows."
    if _other_tests(evidence):
        return f"Look again with more rows: the tests do not agree.{_more_rows(evidence)}"
    unseen = found.error if found is not None else evidence.headline.interval.high
    if unseen is None or unseen > min(LARGE, evidence.rarer):
        return f"So few rows neither clear nor refute the model.{_more_rows(evidence)}"
    return f"Nothing needs fixing by this evidence.{_more_rows(evidence)}"


def _more_rows(evidence: Evidence) -> str:
    found = evidence.detectable_error
    if found is None or not len(found.table):
        return ""
    more = np.flatnonzero(found.table["rows"] > evidence.overview.n)
    if not len(more):
        return ""
    k = int(more[np.argmax(found.table["error"][more])])
    error, rows = float(found.table["error"][k]), int(found.table["rows"][k])
    return f" To find an error of {error:g}, about {_rounded(rows):,} rows are needed."


def _rounded(rows: int) -> int:
    """Two digits: the rest is not known."""
    size = int(10 ** max(0, len(str(rows)) - 2))
    return -(-rows // size) * size


def _gain(evidence: Evidence) -> str:
    found = evidence.recalibration
    if found is None or found.recommended == "IdentityCalibration" or not evidence.miscalibrated:
        return ""
    if evidence.one_outcome:
        return ""
    before, after = found.before, found.after
    first = f"{before['log_loss']:.4f}"
    names = found.table["candidate"].tolist()
    if found.table["zeros"][names.index("IdentityCalibration")] > 0:
        first = "infinity (some outcomes had probability 0)"
    return (
        f"Out of fold, that changes the log loss from {first} to {after['log_loss']:.4f}, and the "
        f"{_changed_error(evidence, found)}."
    )


def _changed_error(evidence: Evidence, found: Recalibration) -> str:
    """From what to what the error goes: that of all classes, where they alone are wrong."""
    names = found.table["candidate"].tolist()
    rows = names.index("IdentityCalibration"), names.index(found.recommended)
    kind = (
        "marginal_error" if evidence.only_classes and "marginal_error" in found.table else "error"
    )
    before, after = (found.table[kind][row] for row in rows)
    low, high = (found.table[f"{kind}_{end}"][rows[1]] for end in ("low", "high"))
    what = "error of all classes" if kind == "marginal_error" else "error"
    return f"{what} from {amount(before)} to {amount(after)} ({amount(low)} to {amount(high)})"
