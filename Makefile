PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup run test slow check docs wheel oldest bench attack clean

run: .venv/run  ## the main job, with a result to look at
	$(BIN)/adeu run frozen-lake $(if $(SEEDS),--seeds $(SEEDS))

# Most of the tests' time goes into compiling and importing: XLA does less of it and keeps what it has, as Python does.
test oldest: export JAX_DISABLE_MOST_OPTIMIZATIONS = 1
test oldest: export XLA_FLAGS = --xla_cpu_use_fusion_emitters=false
test oldest: export PYTHONDONTWRITEBYTECODE =
test oldest: export PYTHONPYCACHEPREFIX = $(CURDIR)/.venv/pycache
# Two workers share two cores.
test oldest: export OMP_NUM_THREADS = 1
test oldest: export JAX_COMPILATION_CACHE_DIR = $(CURDIR)/.venv/xla
test oldest: export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS = 0
test oldest: export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES = -1
test: .venv/setup  ## every test but the long ones
	$(BIN)/pytest -m "not slow"

slow: .venv/setup  ## learning at length
	$(BIN)/pytest -m slow

check: .venv/setup docs wheel  ## format, lint, types, docs, wheel
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: .venv/setup  ## the documentation, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

wheel: .venv/setup  ## built, and tried in an environment that has nothing else
	rm -rf build/wheel && $(BIN)/python -m build --wheel --outdir build/wheel . > build-wheel.log || (cat build-wheel.log; false)
	rm -f build-wheel.log
	$(PYTHON) -m venv --clear build/empty
	build/empty/bin/pip install --quiet --no-compile build/wheel/*.whl
	cd build && empty/bin/python ../.ci/wheel.py

oldest: .venv/setup  ## the callback with the oldest Stable-Baselines3 and Gymnasium that it claims
	rm -rf build/oldest
	$(BIN)/pip install --quiet --no-compile --no-deps --target build/oldest stable-baselines3==2.6.0 gymnasium==1.1.1
	PYTHONPATH=build/oldest $(BIN)/python -c "import stable_baselines3; assert stable_baselines3.__version__ == '2.6.0'"
	PYTHONPATH=build/oldest $(BIN)/pytest tests/adapters/test_sb3.py -n 0 -q

bench: .venv/setup  ## every benchmark: ratios against peers, measured side by side
	for file in benchmarks/*.py; do $(BIN)/python $$file || exit 1; done

attack: .venv/setup  ## run folders, saved behaviours, the working folder and training loops under attack: what held, in ten minutes
	$(BIN)/python -m tests.attack

setup: .venv/setup  ## an environment with all that tests and benchmarks need

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
