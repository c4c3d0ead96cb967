# Chores. `make help` lists them. They need Python 3.11, 3.12 or 3.13 and PyPI, and make .venv themselves.

.DEFAULT_GOAL := help

BIN := .venv/bin

# make run: the documents, one question instead of those about the handbook, and where to keep the result.
DOCS ?= eval/corpora/handbook
Q ?=
KB ?=
ABOUT_HANDBOOK := \
    -q "How often does a freshly built data logger fail its cold test?" \
    -q "What do I type to put Choirboy back on its previous firmware?" \
    -q "How far away is the closest other buoy to the only station of the Outer Hestra?"

# Arguments for pytest: make test T="tests/text -k spans".
T ?=

# Arguments for the benchmark of ingests: make bench-ingest N="--words 20000 --folder docs".
N ?=

# Arguments for the benchmark of questions: make bench-query B="--sizes 10000".
B ?=

# Arguments for the benchmark of the web page: make bench-page P="--seconds 10".
P ?=

# Arguments for the benchmark of several machines: make bench-scale S="--words 50000".
S ?=

# Arguments for the benchmark of questions about the whole: make bench-global G="--sizes 1000,10000 --clock cpu".
G ?=

# Arguments for the development sets: make eval-dev E="--only hotpot_train100 --no-baselines".
E ?=

# Arguments for the A/B benchmark of iterations: make eval-iterations I="--runs 3 -- my-orchestrator --once".
I ?=

# Arguments for the answers about documentation sites: make eval-answers A="--site helm_docs --examples".
A ?=

# Arguments for composed contexts: make eval-context X="--only handbook".
X ?=

# Arguments for the conversations: make eval-memory M="--only beam_dev".
M ?=

# Arguments for the proof of determinism: make determinism D="my-suite --questions 20".
D ?= eval/golden/handbook.jsonl

.PHONY: help run test test-all check lint types imports generated generate eval eval-dev eval-ablation eval-answers eval-context eval-iterations eval-memory bench bench-memory bench-page bench-query bench-global bench-ingest bench-layers bench-scale determinism transcript clean

help: ## List the chores
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

run: .venv/.installed ## Ingest the sample handbook and ask three questions over MCP (DOCS=folder Q="question")
	@$(BIN)/graphctx demo "$$DOCUMENTS" $(if $(value KB),--kb "$$KNOWLEDGE_BASE") \
	    $(if $(value Q),-q "$$QUESTION",$(if $(filter eval/corpora/handbook,$(value DOCS)),$(ABOUT_HANDBOOK)))

# Through the environment, so that a question may hold quotes and dollar signs.
run: export QUESTION := $(value Q)
run: export DOCUMENTS := $(value DOCS)
run: export KNOWLEDGE_BASE := $(value KB)

# A tenth of the effort: every property is tried, on fewer examples than in test-all.
test: export GRAPHCTX_TEST_EFFORT ?= 0.1
test: .venv/.installed-dev ## Run the tests, without the long suites (T="arguments for pytest")
	$(BIN)/python -m pytest -n $$($(BIN)/python -c "import os; print((os.cpu_count() or 1) + 1)") -m "not slow" $(T)

test-all: .venv/.installed-dev ## Run the whole test suite: crashes, fuzzing and properties at full length too
	$(BIN)/python -m pytest -n auto $(T)

check: lint types imports generated test-all ## Everything that CI checks, then the whole test suite

lint: .venv/.installed-dev ## Lint, and check the format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.installed-dev ## Check types
	$(BIN)/mypy

imports: .venv/.installed-dev ## Check that imports go one way
	$(BIN)/lint-imports

generated: .venv/.installed-dev ## Check that generated files are up to date
	$(BIN)/python -m graphctx.cli.reference --check

generate: .venv/.installed-dev ## Write schemas/ and docs/reference/ from the code
	$(BIN)/python -m graphctx.cli.reference

eval: .venv/.installed-dev ## Ask the handbook's golden questions, and fail if something is worse than the baseline
	$(BIN)/graphctx eval eval/golden/handbook.jsonl --baseline eval/baselines/handbook.json
	$(BIN)/graphctx eval eval/golden/handbook_global.jsonl --baseline eval/baselines/handbook_global.json

eval-dev: .venv/.installed-dev ## Ask the development sets, and print what they show beside what they must
	$(BIN)/python -m eval.dev $(E)

eval-ablation: .venv/.installed-dev ## Ask the development sets with one part of the recipe left out at a time
	$(BIN)/python -m eval.ablation $(E)

eval-answers: .venv/.installed-dev ## Ask about documentation sites: complete answers, faults of quotes, questions about the whole (A="arguments")
	$(BIN)/python -m eval.answers $(A)

eval-context: .venv/.installed-dev ## Compose contexts beside the best chunks at equal tokens, and shorten them (X="--only handbook")
	$(BIN)/python -m eval.context $(X)

eval-iterations: .venv/.installed-dev ## Measure what context saves an orchestrator (I="arguments -- command")
	$(BIN)/python -m eval.iteration_ab $(I)

eval-memory: .venv/.installed-dev ## Ask long conversations of the memory and of baselines over the same turns (M="--only beam_dev")
	$(BIN)/python -m eval.memory $(M)

bench-memory: .venv/.installed-dev ## Measure the memory's search and store at 10,000, 100,000 and 300,000 items
	$(BIN)/python -m eval.memory.bench

bench: .venv/.installed-dev ## Measure ingest, queries, memory and size, and print a table
	$(BIN)/python -m eval.bench

bench-page: .venv/.installed-dev ## Measure the web page in Chromium: first view, frames of a 5,000-name graph, lists (P="arguments")
	$(BIN)/python -m eval.bench_page $(P)

bench-query: .venv/.installed-dev ## Measure questions by stage, and memory, of the handbook and at 10k, 100k and 200k units (B="arguments")
	$(BIN)/python -m eval.bench_query $(B)

bench-global: .venv/.installed-dev ## Measure questions about the whole at 1k, 10k and 100k communities (G="arguments")
	$(BIN)/python -m eval.bench_global $(G)

bench-ingest: .venv/.installed-dev ## Measure an ingest, a small change, tiny files, memory and bytes (N="arguments")
	$(BIN)/python -m eval.bench_ingest $(N)

bench-scale: .venv/.installed-dev ## Measure a Dask cluster and replicas, with the arithmetic to 100 million units (S="--words 50000")
	$(BIN)/python -m eval.bench_scale $(S)

bench-layers: .venv/.installed-dev ## Measure opening and searching layers of 10,000 and 100,000 chunks
	$(BIN)/python -m eval.bench_layers

determinism: .venv/.installed-dev ## Prove that equal documents and questions give equal bytes (D="suites and arguments")
	$(BIN)/python -m eval.determinism $(D)

transcript: .venv/.installed-dev ## Write docs/transcript.md from a session of a real client and server
	$(BIN)/python -m eval.transcript

clean: ## Remove what the chores made: .venv, caches, sample knowledge bases
	rm -rf .venv .venv-st .kb build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

SUPPORTED := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))

# The first interpreter of a supported version that can make a virtual environment; PYTHON=… decides otherwise.
.venv/bin/python:
	@for python in $(or $(PYTHON),python3 python3.12 python3.13 python3.11); do \
	    if "$$python" -c '$(SUPPORTED)' 2>/dev/null; then \
	        echo "Making .venv with $$("$$python" --version)"; \
	        exec "$$python" -m venv .venv; \
	    fi; \
	done; \
	echo "graphctx needs Python 3.11, 3.12 or 3.13 with the module venv (on Debian: apt install python3-venv)." >&2; \
	echo "None was found; name one: make PYTHON=/path/to/python3.12 ..." >&2; \
	exit 1

.venv/.installed: pyproject.toml | .venv/bin/python
	@echo "Installing graphctx and its dependencies (about a minute, about 1 GB on disk)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/.installed-dev: pyproject.toml | .venv/bin/python
	@echo "Installing graphctx, its dependencies and the tools of development"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch .venv/.installed $@
