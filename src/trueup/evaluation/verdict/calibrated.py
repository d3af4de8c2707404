"""The first sentence, which states the status of the model and nothing else."""

from __future__ import annotations

from trueup.evaluation.verdict.evidence import (
    MISCALIBRATED,
    NOT_TESTED,
    TESTS_DISAGREE,
    Evidence,
)
from trueup.evaluation.verdict.wording import (
    amount,
    estimate_of,
    listed,
    named,
    pvalue_of,
    rows_of,
)

NAMED = 3
PLURALS = {"class": "classes", "group": "groups"}


def calibrated(evidence: Evidence) -> str:
    """Return the sentences about the tests."""
    many = evidence.overview.n_zero_prob_outcomes
    if not many:
        return _TEXTS.get(evidence.status, _no_evidence)(evidence)
    outcomes = "1 observed outcome" if many == 1 else f"{many:,} observed outcomes"
    text = f"{outcomes} had a predicted probability of 0, so the probabilities cannot all be right."
    test = evidence.test_of_rest
    if test is None:
        return text
    rest = f"{evidence.p(test)}, {rows_of(evidence.overview.n - many)}"
    found = "they are miscalibrated"
    if test.pvalue > evidence.alpha:
        found = "there is no evidence of miscalibration"
    return f"{text} Apart from {'this row' if many == 1 else 'these rows'}, {found} ({rest})."


def _miscalibrated(evidence: Evidence) -> str:
    slightly = "slightly " if evidence.small else ""
    return f"The probabilities are {slightly}miscalibrated ({_tested(evidence)})."


def _tests_disagree(evidence: Evidence) -> str:
    first, *more = [*_other_tests(evidence), *_parts(evidence)]
    text = (
        "The tests disagree: the omnibus test shows no evidence of miscalibration "
        f"({_tested(evidence)}), but {first}."
    )
    return " ".join([text, *(f"In addition, {found}." for found in more)])


def _other_tests(evidence: Evidence) -> list[str]:
    names = evidence.rejecting
    if not names:
        return []
    shown = [f"{name} {_adjusted(evidence, name)}" for name in names[:NAMED]]
    verb = "rejects" if len(names) == 1 else "reject"
    smallest = "smallest " if len(names) > NAMED else ""
    p = f"{smallest}Holm-adjusted p: {', '.join(shown)}"
    return [f"{len(names)} of {_others(evidence)} {verb} calibration ({p})"]


def _parts(evidence: Evidence) -> list[str]:
    found = []
    for kind, table in evidence.parts.items():
        bad = evidence.bad_parts(table)
        if len(bad):
            names = listed([named(table[kind][k]) for k in bad[:NAMED]])
            least = pvalue_of(float(table["adjusted_pvalue"][bad].min()), evidence.alpha)
            several = PLURALS[kind]
            if len(bad) == 1:
                found.append(
                    f"{kind} {names} is shown to be miscalibrated (Holm-adjusted p = {least})"
                )
            elif len(bad) <= NAMED:
                found.append(
                    f"{several} {names} are shown to be miscalibrated "
                    f"(smallest Holm-adjusted p = {least})"
                )
            else:
                found.append(
                    f"{len(bad)} of {len(table)} {several} are shown to be miscalibrated, among "
                    f"them {names} (smallest Holm-adjusted p = {least})"
                )
    return found


def _no_evidence(evidence: Evidence) -> str:
    text = f"There is no evidence of miscalibration at this sample size ({_tested(evidence)})"
    if evidence.detectable_error is not None:
        text = f"{text}; {evidence.detectable_error.text}."
    else:
        high = amount(evidence.headline.interval.high)
        text = f"{text}; the interval is compatible with an error of up to {high}."
    doubting = sorted(
        (name for name, p in evidence.others.items() if p <= evidence.alpha),
        key=evidence.others.__getitem__,
    )
    if not doubting:
        return text
    few = ", ".join(f"{name} {evidence.others[name]:.2g}" for name in doubting[:NAMED])
    few = f"{'smallest: ' if len(doubting) > NAMED else ''}{few}"
    least = pvalue_of(min(evidence.adjusted.values()), evidence.alpha)
    verb = "has" if len(doubting) == 1 else "have"
    return (
        f"{text} However, {len(doubting)} of {_others(evidence)} {verb} p ≤ {evidence.alpha:.2g} "
        f"({few}), which multiple testing may explain (smallest Holm-adjusted p = {least})."
    )


def _not_tested(evidence: Evidence) -> str:
    shown = "excludes 0" if evidence.headline.interval.low > 0 else "includes 0"
    what = "top-label error" if evidence.multiclass else "error"
    text = f"No test was run ({evidence.not_tested}). The interval for the {what} {shown}"
    every = evidence.all_classes
    if every is not None and every.interval.low > 0:
        text += f"; the interval for the class-wise error excludes 0: {estimate_of(every.interval)}"
    return f"{text}."


def _tested(evidence: Evidence) -> str:
    assert evidence.test is not None
    return f"{evidence.p(evidence.test)}, {evidence.rows}"


def _adjusted(evidence: Evidence, name: str) -> str:
    return pvalue_of(evidence.adjusted[name], evidence.alpha)


def _others(evidence: Evidence) -> str:
    many = len(evidence.others)
    return f"{many} other test{'s' * (many != 1)}"


_TEXTS = {
    MISCALIBRATED: _miscalibrated,
    TESTS_DISAGREE: _tests_disagree,
    NOT_TESTED: _not_tested,
}
