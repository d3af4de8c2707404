"""Run `python -m benchmarks` for all rows, `python -m benchmarks sweep` for those with a word."""

from __future__ import annotations

import sys

from benchmarks import (
    bin_free,
    evaluation,
    inference,
    local,
    recalibration,
    simulation,
    spine,
)
from benchmarks.memory import report_import, report_memory
from benchmarks.timing import report
from trueup.engines import in_use, set_threads

THREADS = 2  # the limits in the table are for two

word = sys.argv[1] if len(sys.argv) > 1 else ""
set_threads(THREADS)
print(f"engine {in_use()}, {THREADS} threads, medians of interleaved runs\n")
groups = (spine, bin_free, simulation, inference, recalibration, local, evaluation)
tasks = [task for group in groups for task in group.tasks()]
report([task for task in tasks if word in task.name])
if word in "skce mmce":
    bin_free.report_growth()
if word in "local":
    local.report_growth()
if word in "study":
    simulation.report_study()
if word in "evaluate":
    evaluation.report_costs()
if not word:
    report_memory()
    report_import()
