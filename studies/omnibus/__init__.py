"""Power and false-positive rate of the omnibus test: ``python -m studies.omnibus`` writes a page.

``python -m studies.omnibus SETS`` draws SETS datasets per configuration for power (default 2,000),
half as many for matrices, twice as many for false-positive rates, and writes docs/omnibus.md.
"""
