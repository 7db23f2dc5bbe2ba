PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup run test slow check docs wheel dist oldest lowest bench attack clean

run: .venv/run  ## reproduce the paper's first table
	$(BIN)/adeu run frozen-lake $(if $(SEEDS),--seeds $(SEEDS))

# Most of the tests' time is compilation and import: reduce XLA's optimisations, and cache compiled code of XLA and Python.
test docs oldest lowest: export JAX_DISABLE_MOST_OPTIMIZATIONS = 1
test docs oldest lowest: export XLA_FLAGS = --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1
test docs oldest lowest: export PYTHONDONTWRITEBYTECODE =
test docs oldest lowest: export PYTHONPYCACHEPREFIX = $(CURDIR)/.venv/pycache
# Two workers share two cores. With more threads, PyTorch is ten times slower beside another process.
test slow docs oldest lowest: export OMP_NUM_THREADS = 1
test docs oldest lowest: export JAX_COMPILATION_CACHE_DIR = $(CURDIR)/.venv/xla
test docs oldest lowest: export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS = 0
test docs oldest lowest: export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES = -1
test: .venv/setup  ## run all tests except the slow ones and the docs' code
	$(BIN)/pytest -m "not slow and not docs"

slow: .venv/setup  ## run the slow tests: long training
	$(BIN)/pytest -m slow

check: .venv/setup docs wheel  ## check format, lint, types, docs and wheel
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: .venv/setup  ## build the documentation in site/, and run its code: notebooks, snippets and examples
	$(BIN)/python .ci/site.py
	$(BIN)/pytest -q -m "docs and not slow" tests/test_docs.py tests/test_notebooks.py

wheel: .venv/setup  ## build the wheel, and test it in an empty environment
	rm -rf build/wheel && $(BIN)/python -m build --wheel --outdir build/wheel . > build-wheel.log || (cat build-wheel.log; false)
	rm -f build-wheel.log
	$(PYTHON) -m venv --clear build/empty
	build/empty/bin/pip install --quiet --no-compile build/wheel/*.whl
	cd build && empty/bin/python ../.ci/wheel.py

PYTHONS ?= python3.11 python3.12 python3.13
dist: .venv/setup  ## for a release: build sdist and wheel in dist/, run some tests from the sdist, test the wheel with each Python
	rm -rf dist build/dist && mkdir -p build/dist
	$(BIN)/python -m build . > build/dist/log
	$(BIN)/python -m build --wheel --outdir build/dist . > build/dist/log
	cmp dist/*.whl build/dist/*.whl
	tar xzf dist/*.tar.gz -C build/dist --strip-components 1
	cd build/dist && PYTHONPATH=src $(CURDIR)/$(BIN)/pytest -n 0 -q -m "not slow" tests/test_docs.py tests/test_house.py tests/test_numbers.py tests/adapters/test_versions.py
	for each in $(PYTHONS); do \
		$$each -m venv --clear build/empty && build/empty/bin/pip install --quiet --no-compile dist/*.whl && \
		(cd build && empty/bin/python ../.ci/wheel.py && empty/bin/adeu run switching --out runs --quiet) || exit 1; \
	done

oldest: .venv/setup  ## test the callback with the oldest supported Stable-Baselines3 and Gymnasium
	rm -rf build/oldest
	$(BIN)/pip install --quiet --no-compile --no-deps --target build/oldest stable-baselines3==2.6.0 gymnasium==1.1.1
	PYTHONPATH=build/oldest $(BIN)/python -c "import stable_baselines3; assert stable_baselines3.__version__ == '2.6.0'"
	PYTHONPATH=build/oldest $(BIN)/pytest tests/adapters/test_sb3.py tests/adapters/test_sb3_models.py -n 0 -q

LOWEST = import tomllib; print(*[each.replace(">=", "==") for each in tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]])
lowest: .venv/setup  ## test the other lower bounds, when one changes; takes long, so not part of .ci/run
	$(PYTHON) -m venv --clear build/lowest-core
	build/lowest-core/bin/pip install --quiet --no-compile $$($(PYTHON) -c '$(LOWEST)') pytest pytest-xdist hypothesis equinox optax
	PYTHONPATH=src build/lowest-core/bin/pytest -n 0 -q tests/contract tests/core tests/mechanisms tests/test_normalizers.py \
		tests/test_registry.py tests/test_bad_parts.py tests/tabular/test_engine.py \
		--deselect tests/tabular/test_engine.py::test_a_users_part_can_be_registered  # numpy 1.26 and numba 0.60 round exp differently
	$(PYTHON) -m venv --clear build/lowest-ray
	build/lowest-ray/bin/pip install --quiet --no-compile . "ray[client]==2.40.0" pytest pytest-xdist hypothesis
	build/lowest-ray/bin/pytest -n 0 -q tests/runs/test_ray.py
	for each in pettingzoo==1.25.0 sbx-rl==0.28.0 tianshou==2.0.0 torchrl==0.14.0; do \
		rm -rf build/lowest && $(BIN)/pip install --quiet --no-compile --no-deps --target build/lowest $$each && \
		name=$${each%%[-=]*} && PYTHONPATH=build/lowest $(BIN)/pytest tests/adapters/test_$$name.py -n 0 -q || exit 1; \
	done

bench: .venv/setup  ## run all benchmarks
	for file in benchmarks/*.py; do $(BIN)/python $$file || exit 1; done

attack: .venv/setup  ## attack run folders, saved behaviours, the working folder and training loops; takes ten minutes
	$(BIN)/python -m tests.attack

setup: .venv/setup  ## install all dependencies of tests and benchmarks in .venv

.venv/run: pyproject.toml
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --no-compile --editable .
	touch $@

.venv/setup: pyproject.toml
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --no-compile --editable ".[dev]"
	touch .venv/run $@

clean:
	rm -rf .venv build dist site
