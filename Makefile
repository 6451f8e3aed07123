# Berth. Two targets do everything: `make demo` and `make test`. `make help` lists the rest.

SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help

BIN       := $(CURDIR)/bin
STATE     ?= $(CURDIR)/.playground
GO_TOOL   := go tool -modfile=$(CURDIR)/tools/go.mod
LINT_TOOL := go tool -modfile=$(CURDIR)/tools/lint/go.mod golangci-lint

# One Go build at a time and the same flags everywhere, so that the build cache is shared by all targets.
export GOFLAGS ?= -buildvcs=false

PLAYGROUND := $(BIN)/playground --state $(STATE)
INSTALL     = $(PLAYGROUND) install --binary manager=$(BIN)/manager --binary scheduler=$(BIN)/scheduler

.PHONY: help
help: ## Show this list.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Use

.PHONY: demo
demo: build ## Build everything, start a real cluster, and show ten game servers with addresses.
	@STATE=$(STATE) BIN=$(BIN) hack/demo.sh

.PHONY: up
up: build ## Start the playground with Berth on it and leave it running.
	@STATE=$(STATE) BIN=$(BIN) hack/up.sh

.PHONY: down
down: ## Stop the playground; nothing is left behind.
	@if [ -x $(BIN)/playground ]; then $(PLAYGROUND) down; fi

##@ Build

.PHONY: build
build: build-product build-playground ## Build all programs into bin/.

.PHONY: build-product
build-product: | $(BIN)
	@hack/step.sh "manager, scheduler and demo" go build -o $(BIN)/ ./cmd/manager ./cmd/scheduler ./test/demo

.PHONY: build-playground
build-playground: | $(BIN)
	@cd playground && ../hack/step.sh "playground (etcd, API server, controller manager, KWOK)" \
		go build -ldflags "$$(./ldflags.sh)" -o $(BIN)/playground ./cmd/playground
	@cd playground/kruise && ../../hack/step.sh "OpenKruise manager" go build -o $(BIN)/kruise-manager .
	@$(BIN)/playground envtest-assets $(BIN)/envtest >/dev/null

$(BIN):
	@mkdir -p $@

##@ Change

.PHONY: generate
generate: ## Regenerate deepcopy, CRDs and clients.
	@hack/step.sh "generated code" hack/generate.sh

.PHONY: lint
lint: ## Lint all modules; findings fail.
	@hack/step.sh "lint" $(LINT_TOOL) run ./...
	@cd playground && ../hack/step.sh "lint playground" $(LINT_TOOL) run --config ../.golangci.yml ./...

.PHONY: verify
verify: generate ## Regenerate, lint, and fail if generated files were stale.
	@hack/verify-clean.sh
	@$(MAKE) --no-print-directory lint

##@ Test

.PHONY: test
test: build verify test-unit test-e2e ## Run everything: generated code, lint, unit, integration and end-to-end tests.

# Only packages with tests: go test would compile all others, and with them most of Kubernetes, a second time.
WITH_TESTS = go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...

.PHONY: test-unit
test-unit: build-playground ## Unit and integration tests under -race, against a real API server.
	@KUBEBUILDER_ASSETS=$(BIN)/envtest go test -race -count=1 -timeout 30m $$($(WITH_TESTS) | grep -v /test/e2e)
	@go test -count=1 -run TestCycleBudget ./scheduler/indexoffset # says nothing under -race
	@cd playground && BERTH_PLAYGROUND_TEST=1 BERTH_BIN=$(BIN) go test -race -count=1 -timeout 20m $$($(WITH_TESTS))

.PHONY: test-e2e
test-e2e: build ## End-to-end tests: real control plane, real Kruise, our binaries, fake nodes.
	@BERTH_BIN=$(BIN) go test -race -count=1 -timeout 45m -v ./test/e2e/...

.PHONY: bench
bench: ## Benchmarks, each against something, as ratios from one run.
	@go test -run '^$$' -bench . -benchmem -timeout 30m $$($(WITH_TESTS) | grep -v /test/)
