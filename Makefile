# `make help` lists the targets.
#
# Each set of compiler flags has a build directory of its own, since one shared by two would be built
# anew at each change of target: .build is left to plain `swift build`.

# The processor to build for: the one of this machine, or a name such as x86-64-v3 for elsewhere.
CPU ?= native
# The patch that `make run` opens.
PATCH ?= Patches/reconnect.patch
# Only the tests whose names match: `make test FILTER=DriversTests`.
FILTER ?=
# How long `make fuzz` searches (a fifth of it each kind of file) and `make soak` plays.
MINUTES ?= 10
# How many random scripts `make laws` tries.
COUNT ?= 1000
# What `make soak` edits: the number that an earlier one printed, or any.
SEED ?=
# How many edits `make rtsan` makes.
EDITS ?= 4000
# Measure a build for no particular processor beside the native one: 1 is x86-64-v3.
GENERIC ?=
# What else `make bench` is told, such as "--only W1 --repeat 3"; or `make bench-edits`, `make bench-loading`.
BENCH ?=

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
SWIFT := swift
# The vectors of the C compiler's target are what Swift code uses as well.
RELEASE := --configuration release --scratch-path .build-$(CPU) -Xcc -march=$(CPU)
PRODUCT := $(RELEASE) --static-swift-stdlib -Xswiftc -use-ld=lld --product sostenuto
# Tests run optimised, as the audio of a debug build takes a hundred times as long.
TEST := --configuration release --scratch-path .build-test -Xcc -march=$(CPU) -Xswiftc -enable-testing
# Functions that the audio thread may not call are watched; the linker puts the watch in.
RTSAN := --configuration release --scratch-path .build-rtsan -Xcc -march=$(CPU) -Xcc -DSOSTENUTO_RTSAN \
  -Xswiftc -enable-testing -Xswiftc -Xclang-linker -Xswiftc -fsanitize=realtime -Xlinker --export-dynamic
FUZZ := --configuration release --disable-build-manifest-caching --scratch-path .build-fuzz -Xswiftc -sanitize=fuzzer -Xswiftc -parse-as-library \
  -Xswiftc -enable-testing -Xswiftc -use-ld=lld
GENERIC_CPU := $(patsubst 1,x86-64-v3,$(GENERIC))
# Tests that begin are not worth a line, those that end are; some name arguments of a page each.
QUIETLY := | sed -u '/^◇/d'
SOURCES := Package.swift Sources Tests Fuzz Benchmarks

.DEFAULT_GOAL := build
.PHONY: help build run test laws bench bench-edits bench-loading rtsan soak fuzz lint format install install-test

help: ## List the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1 \2/p' $(MAKEFILE_LIST) | while read -r name text; do \
	  printf '  make %-11s %s\n' "$$name" "$$text"; done
	@printf '\n  CPU=%s builds for this processor; CPU=x86-64-v3 for one that runs elsewhere.\n' '$(CPU)'

install:
	@Tools/install run

install-test:
	@Tools/install test

build: install ## Release build for this machine (or CPU=x86-64-v3 …)
	$(SWIFT) build $(PRODUCT)

run: build ## Install what is missing, build, and open the front end (PATCH=…)
	@exec "$$($(SWIFT) build $(PRODUCT) --show-bin-path)/sostenuto" $(PATCH)

test: install-test ## Install what is missing and run every test (FILTER=…)
	@export STRICT=1 SOSTENUTO_TESTS="$$(Tools/test-targets '$(FILTER)')"; set -x; \
	$(SWIFT) build $(TEST) --build-tests; \
	$(SWIFT) test $(TEST) --skip-build --disable-xctest $(if $(FILTER),--filter '$(FILTER)') $(QUIETLY)

laws: install-test ## Try the laws and the click budget on many random scripts (COUNT=…)
	STRICT=1 $(SWIFT) build $(TEST) --build-tests
	STRICT=1 SOSTENUTO_SEEDS=$(COUNT) $(SWIFT) test $(TEST) --skip-build --disable-xctest \
	  --filter $(or $(FILTER),'LawTests|ClickBudgetTests|ThreadTests') $(QUIETLY)

bench: build ## Our cost and other programs' on the same work (GENERIC=1, BENCH="--only W1")
	$(if $(GENERIC),@$(MAKE) --no-print-directory build CPU=$(GENERIC_CPU))
	@Benchmarks/bench.py .build-$(CPU)/release/sostenuto \
	  $(if $(GENERIC),--generic .build-$(GENERIC_CPU)/release/sostenuto) $(BENCH)

bench-edits: build .build-bench/listen ## An effect replaced 100 and 1000 times a second under load, heard over JACK
	@Benchmarks/edits.py .build-$(CPU)/release/sostenuto .build-bench/listen $(BENCH)

bench-loading: build .build-bench/listen ## Banks of 140 MB load beside a chord, heard over JACK
	@Benchmarks/loading.py .build-$(CPU)/release/sostenuto .build-bench/listen $(BENCH)

.build-bench/listen: Benchmarks/listen.swift
	@mkdir -p .build-bench
	@swiftc -O -swift-version 6 -parse-as-library -I Sources/CJack $< -o $@

rtsan: install-test ## Render and edit under RealtimeSanitizer
	STRICT=1 $(SWIFT) build $(RTSAN) --build-tests
	STRICT=1 SOSTENUTO_EDITS=$(EDITS) $(SWIFT) test $(RTSAN) --skip-build --disable-xctest --filter DriversTests

soak: install-test ## Edit at random on a JACK server for long, every render watched (MINUTES=… SEED=…)
	STRICT=1 $(SWIFT) build $(TEST) --build-tests
	STRICT=1 SOSTENUTO_SOAK_MINUTES=$(MINUTES) SOSTENUTO_SOAK_SEED=$(SEED) $(SWIFT) test $(TEST) --skip-build --disable-xctest --filter SoakTests

fuzz: install ## Search for a patch, MIDI, instrument or sound file that its reader stumbles over (MINUTES=…)
	FUZZ=1 $(SWIFT) build $(FUZZ) --product FuzzReader
	FUZZ=1 $(SWIFT) build $(FUZZ) --product FuzzMidi
	FUZZ=1 $(SWIFT) build $(FUZZ) --product FuzzFiles
	@export SWIFT_BACKTRACE=enable=no; bin=$$(FUZZ=1 $(SWIFT) build $(FUZZ) --show-bin-path); \
	options="-max_total_time=$$(($(MINUTES) * 12)) -print_final_stats=1"; \
	mkdir -p .build-fuzz/corpus/{patch,midi,sfz,sf2,audio}; \
	"$$bin/FuzzReader" $$options -max_len=2000 -dict=Fuzz/words.dict -artifact_prefix=.build-fuzz/ \
	  .build-fuzz/corpus/patch Patches; \
	"$$bin/FuzzMidi" $$options -max_len=2000 -artifact_prefix=.build-fuzz/midi- \
	  .build-fuzz/corpus/midi Fuzz/corpus/midi; \
	for kind in sfz sf2 audio; do \
	  "$$bin/FuzzFiles" $$kind $$options -max_len=4000 -timeout=20 -rss_limit_mb=3000 \
	    -artifact_prefix=.build-fuzz/$$kind- .build-fuzz/corpus/$$kind Fuzz/corpus/$$kind; \
	done

lint: install-test ## Formatting, and a build in which a warning is an error
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)
	STRICT=1 $(SWIFT) build $(TEST) --build-tests

format: ## Format every source file
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)
