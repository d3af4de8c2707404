"""The text of docs/omnibus.md and its tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

PAGE_TEXT = """# The omnibus test: power and false-positive rate

`python -m studies.omnibus {sets}` writes this page.

## Power for one column

{sets:,} datasets per row, n = {rows:,}, {draws} draws, level 5%. The size of each error is chosen
so that the best of the six statistics detects it in about 90% of separately drawn datasets. The
standard error of each power is at most {error:.3f}. The error "shift" adds its size to
all logits, "temperature" multiplies them by exp(−size), and the others change the probability of an
outcome; `studies/omnibus/columns.py` defines them.

{power}

The power of the omnibus test is {mean:.3f} of that of the best statistic on average (standard error
{mean_error:.4f}), and at least {least:.3f} of it (standard error {least_error:.3f}).

That ratio depends on the power of the best statistic. With other sizes of the same errors,
{other_sets:,} datasets each:

{sizes}

## Power for ten classes

{matrix_sets:,} datasets per row, n = {rows:,}, logits with standard deviation 1.5. A single
statistic is one of the six: for the top label, summed over classes, or at its smallest p-value
over classes. Sizes are chosen as above for the best of these 18. Errors are the functions in
`studies/omnibus/matrices.py`. Ratios are at {ratio_draws:,} draws.

{matrices}

## False-positive rate

Percentage of calibrated models rejected at the 5% level, from {null_sets:,} datasets per number
(standard error {one:.2f} points). Weights are lognormal with σ = 1.

{size}

On average {means} (standard error {pooled:.2f} points, without weights).

Ten classes, n = {rows_of_matrices:,}, {null_sets:,} datasets: {matrix_size}.
"""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
