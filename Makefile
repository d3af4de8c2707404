# Needs python3 (3.11 or later) and make; a C compiler makes it fast.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
MIN_VENV := .venv-min
# What `make fuzz` runs.
SECONDS := 60
SEED := 0
MIN_PY := $(MIN_VENV)/bin/python
PIP := -m pip install -q --disable-pip-version-check
BUILD_TOOLS := "setuptools>=77" "cython>=3.1"
# Python and its packages only: the kernels have their own rule, which needs no network.
EDITABLE := TRUEUP_NO_NATIVE=1
KERNELS := src/trueup/engines/kernels
KERNEL_SOURCES := $(wildcard $(KERNELS)/*.pyx $(KERNELS)/*.pxd $(KERNELS)/*.h)
# Follows a command of a rule for VENV/x.done: its output is shown only if it fails.
QUIETLY = > $(@:.done=.log) 2>&1 || { cat $(@:.done=.log) >&2; exit 1; }

# All rules share one environment, so they run one after another even under `make -j`.
.NOTPARALLEL:
.PHONY: help demo test test-slow test-min fuzz lint bench coverage figures studies papers conformance docs clean

help:
	@echo "make demo       train, evaluate and recalibrate example classifiers"
	@echo "make test       run linters, type checks and tests"
	@echo "make test-slow  run the thorough tests"
	@echo "make test-min   run the tests with the oldest supported packages"
	@echo "make fuzz       read damaged files for SECONDS=60 seconds"
	@echo "make lint       run ruff, mypy and the rules of prose and docstrings"
	@echo "make bench      benchmark against other libraries"
	@echo "make coverage   measure the coverage of the intervals: writes docs/coverage.md"
	@echo "make figures    plot the figures of README.md and docs/plotting.md"
	@echo "make studies    run the other studies, which write pages in docs/; two need real predictions"
	@echo "make clean      remove everything that was built, including the environments"

demo: $(VENV)/base.done $(VENV)/native.done
	@$(PY) -m trueup demo

test: lint $(VENV)/native.done
	$(PY) -m pytest -n 2 -m "not slow"

test-slow: $(VENV)/dev.done $(VENV)/native.done
	$(PY) -m pytest -n 2 -m slow --hypothesis-profile=thorough

# The kernels use no NumPy headers: those built in place serve every NumPy.
test-min: $(MIN_VENV)/min.done $(VENV)/native.done
	$(MIN_PY) -m pytest -n 2 -m "not slow"

# Seeded: a case that breaks is printed with the arguments that run it again.
fuzz: $(VENV)/dev.done $(VENV)/native.done
	$(PY) -m tools.fuzz --seconds $(SECONDS) --seed $(SEED)

lint: $(VENV)/dev.done
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m tools.prose
	$(PY) -m tools.docstrings

bench: $(VENV)/bench.done $(VENV)/native.done
	$(PY) -m benchmarks

coverage: $(VENV)/base.done $(VENV)/native.done
	$(PY) -m studies.coverage

studies: $(VENV)/base.done $(VENV)/native.done
	$(PY) -m studies.bin_free_coverage
	$(PY) -m studies.widths
	$(PY) -m studies.verdict
	$(PY) -m studies.omnibus
	$(PY) -m studies.clinical
	$(PY) -m studies.curve_coverage
	$(PY) -m studies.power
	$(PY) -m studies.tails
	$(PY) -m studies.cluster_tests
	$(PY) -m studies.kumar 4000 100
	$(PY) -m studies.nixon 5

figures: $(VENV)/base.done $(VENV)/native.done
	$(PY) examples/gallery.py

papers:
	@echo "The tables and figures of the papers come with a later issue."

conformance:
	@echo "The conformance suite for calibration libraries comes with a later issue."

docs:
	@echo "The documentation site comes with a later issue."

clean:
	rm -rf $(VENV) $(MIN_VENV) build dist out src/trueup.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f $(KERNELS)/*.c $(KERNELS)/*.so

$(VENV)/base.done: pyproject.toml setup.py
	@echo "Installing what trueup needs into $(VENV)."
	@$(PYTHON) -m venv $(VENV)
	@$(PY) $(PIP) $(BUILD_TOOLS) $(QUIETLY)
	@$(EDITABLE) $(PY) $(PIP) --no-build-isolation -e ".[plot]" $(QUIETLY)
	@touch $@

# Remove old kernels first, in build/ too: they must not remain if new ones cannot be built.
$(VENV)/native.done: $(VENV)/base.done $(KERNEL_SOURCES)
	@echo "Compiling the kernels, which takes minutes."
	@rm -rf build $(KERNELS)/*.so
	@$(PY) setup.py -q build_ext --inplace $(QUIETLY)
	@if grep -q 'building extension .* failed' $(@:.done=.log); then \
		echo "Some kernels cannot be compiled, so NumPy replaces them; see $(@:.done=.log)."; fi
	@touch $@

$(VENV)/dev.done: $(VENV)/base.done
	@echo "Installing what tests and lint need into $(VENV)."
	@$(EDITABLE) $(PY) $(PIP) --no-build-isolation -e ".[dev]" $(QUIETLY)
	@touch $@

$(VENV)/bench.done: $(VENV)/base.done
	@echo "Installing the libraries to compare with into $(VENV)."
	@$(EDITABLE) $(PY) $(PIP) --no-build-isolation -e ".[bench]" $(QUIETLY)
	@touch $@

$(MIN_VENV)/min.done: pyproject.toml setup.py requirements-min.txt
	@echo "Installing the oldest supported packages into $(MIN_VENV)."
	@$(PYTHON) -m venv $(MIN_VENV)
	@$(MIN_PY) $(PIP) $(BUILD_TOOLS) $(QUIETLY)
	@$(EDITABLE) $(MIN_PY) $(PIP) --no-build-isolation -c requirements-min.txt -e ".[test]" $(QUIETLY)
	@touch $@
