"""All scenarios by name, and the evaluation of each, made once."""

from __future__ import annotations

from functools import cache

import trueup as tu
from evaluation.verdict import binary_scenarios, class_scenarios, group_scenarios
from evaluation.verdict.given import Given

PARTS = (
    binary_scenarios.directions,
    binary_scenarios.no_evidence,
    binary_scenarios.miscalibrated,
    binary_scenarios.of_many_rows,
    binary_scenarios.impossible,
    binary_scenarios.soft,
    class_scenarios.top_labels,
    class_scenarios.two_columns,
    class_scenarios.classes,
    class_scenarios.soft,
    group_scenarios.groups,
    group_scenarios.disagreeing,
    group_scenarios.recalibrated,
    group_scenarios.models,
    group_scenarios.clustered,
)
SCENARIOS: dict[str, Given] = {name: given for part in PARTS for name, given in part().items()}


@cache
def evaluated(name: str) -> tu.Evaluation:
    """Return the evaluation of a scenario."""
    return SCENARIOS[name].evaluation()
