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
# How long `make fuzz` searches (the kinds of input share it), and `make soak` and `make stage` play.
MINUTES ?= 10
# What `make fuzz` searches: a kind of input, or all of them.
KIND ?= patch script journal prompt terminal toml sfz sf2 audio tuning midi
# What `make soak`, `make stage` and `make rtsan` edit: the number that an earlier one printed, or any.
SEED ?=
# Whether `make soak` takes the server, the disk and the files away meanwhile: 1, or nothing.
FAULTS ?=
# How many edits `make rtsan` makes.
EDITS ?= 4000
# Measure a build for no particular processor beside the native one: 1 is x86-64-v3.
GENERIC ?=
# Which faults `make mutants` tries; all by default.
ONLY ?=
# How many sessions `make storm` kills and how many random scripts `make laws` tries.
COUNT ?= 500
# Where `make install` installs: PREFIX is where the program is when it runs, DESTDIR the folder of a package.
PREFIX ?= /usr/local
DESTDIR ?=
# The processors that `make portable` and `make deb` build for. The first is the oldest that Debian runs on.
LEVELS ?= $(if $(filter x86_64,$(shell uname -m)),x86-64 x86-64-v3 x86-64-v4,armv8-a)
# What else `make bench` is told, such as "--only W1 --repeat 3"; or `make bench-edits`, `make bench-loading`.
BENCH ?=

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
SWIFT := swift
# The vectors of the C compiler's target are what Swift code uses as well.
RELEASE := --configuration release --scratch-path .build-$(CPU) -Xcc -march=$(CPU)
# Without dynamic libraries of Swift; functions that nothing calls, and copies of the same code, are left out, and the
# addresses that are adjusted at the start are noted in a bit each (ARCHITECTURE.md has the sizes). Overlapping accesses are
# what the tests' program looks out for.
PRODUCT := $(RELEASE) --static-swift-stdlib -Xswiftc -enforce-exclusivity=unchecked \
  -Xswiftc -use-ld=lld -Xswiftc -Xfrontend -Xswiftc -function-sections \
  -Xcc -ffunction-sections -Xlinker --gc-sections -Xlinker --icf=all -Xlinker --no-export-dynamic \
  -Xlinker -z -Xlinker pack-relative-relocs
# Tests run optimised, as the audio of a debug build takes a hundred times as long.
TEST := --configuration release --scratch-path .build-test -Xcc -march=$(CPU) -Xswiftc -enable-testing
# A build without optimisation does without the check of the audio thread's functions (`@_noLocks`), which refuses generic
# code that is not specialised. Every other build makes it.
DEBUG := --scratch-path .build-debug -Xcc -march=$(CPU) \
  -Xswiftc -Xllvm -Xswiftc -sil-disable-pass=performance-diagnostics
# Functions that the audio thread may not call are watched: the tests' program linked with RealtimeSanitizer. Nothing is
# compiled anew.
WATCH := $(shell clang --print-file-name=libclang_rt.rtsan-$(shell uname -m).a)
RTSAN := $(TEST) -Xlinker --whole-archive -Xlinker $(WATCH) -Xlinker --no-whole-archive -Xlinker --export-dynamic
# Addresses, and what threads do to each other, are watched by the compiler's instruments.
WATCHED := --configuration release -Xcc -march=$(CPU) -Xswiftc -enable-testing
ASAN := $(WATCHED) --scratch-path .build-asan --sanitize address
TSAN := $(WATCHED) --scratch-path .build-tsan --sanitize thread
# A program that crashes ends by its signal, as tests of the terminal ask. What grows is found by `make soak`.
ASAN_RUN := detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0
# What libraries do with memory is looked at as well, which Swift's ThreadSanitizer else leaves out: it does not survive
# that libjack cancels a thread in a call that it leaves out. What it takes for races then is named in the file.
TSAN_SIGHT := ignore_interceptors_accesses=0:ignore_noninstrumented_modules=0
TSAN_RUN := $(TSAN_SIGHT):second_deadlock_stack=1:suppressions='$(CURDIR)/Tests/thread-suppressions.txt'
# What they watch: of the tests, those that take the memory of files, graphs, cards and screens, or that have threads.
# Left out for their time: ProcessorsTests, which measure what kernels sound like, and DriversTests play every kind with
# every parameter; ProgramTests, which start the program over and over; under ThreadSanitizer those with one thread: of
# EngineTests all but ThreadTests, and SustainLawTests, which would take as long as the rest.
ADDRESSES := ^(Drivers|Engine|Interface|Midi|Patch|Realtime|Sampler|Screen|Session)Tests
THREADS := ^(DriversTests|RealtimeTests|EngineTests\.ThreadTests|SessionTests)
ALONE := $(if $(FILTER),,--skip SustainLawTests)
FUZZ := --configuration release --disable-build-manifest-caching --scratch-path .build-fuzz -Xswiftc -sanitize=fuzzer -Xswiftc -parse-as-library \
  -Xswiftc -enable-testing -Xswiftc -use-ld=lld
GENERIC_CPU := $(patsubst 1,x86-64-v3,$(GENERIC))
# Tests that begin are not worth a line, failures are worth two; some tests name arguments of a page each. A crash has its
# stack.
QUIETLY := 2>&1 | Tools/test-lines
STACK := SWIFT_BACKTRACE=enable=yes,color=no,interactive=no,threads=crashed,registers=none,images=none,symbolicate=fast
# A test that hangs is named after this time, which is ten times what all of them take.
IN_TIME := Tools/in-time 1500
# What `make portable` builds, as Tools/install takes it.
PROGRAMS := --launcher .build-launcher/sostenuto $(LEVELS:%=.build-%/release/sostenuto)
SOURCES := Package.swift Sources Tests Fuzz Benchmarks

.DEFAULT_GOAL := build
.PHONY: help build run debug test laws mutants bench bench-edits bench-kinds bench-loading baseline compare rtsan \
  asan tsan soak storm fuzz lint format docs map deps deps-test install uninstall portable install-portable deb \
  bench-scale check-vectors bench-keys bench-threads bench-screen screens stage

help: ## List the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1 \2/p' $(MAKEFILE_LIST) | while read -r name text; do \
	  printf '  make %-13s %s\n' "$$name" "$$text"; done
	@printf '\n  CPU=%s builds for this processor; CPU=x86-64-v3 for one that runs elsewhere.\n' '$(CPU)'

deps: ## Install the Debian packages that building and playing need
	@Tools/deps run

deps-test:
	@Tools/deps test
	@Tools/free-servers

build: deps ## Release build for this machine (or CPU=x86-64-v3 …)
	$(SWIFT) build $(PRODUCT) --product sostenuto
	@Tools/check-program "$$($(SWIFT) build $(PRODUCT) --show-bin-path)/sostenuto"

run: build ## Install what is missing, build, and open the front end (PATCH=…)
	@exec "$$($(SWIFT) build $(PRODUCT) --show-bin-path)/sostenuto" $(PATCH)

debug: deps ## Build without optimisation, and say how lldb starts it (PATCH=…)
	$(SWIFT) build $(DEBUG) --product sostenuto
	@program="$$($(SWIFT) build $(DEBUG) --show-bin-path)/sostenuto"; printf '%s\n' \
	  "A render:        lldb -- $$program render $(PATCH) --seconds 2 --output /tmp/out.wav" \
	  "The front end:   $$program $(PATCH), and in another terminal: lldb -p \$$(pgrep -n sostenuto)"

test: deps-test ## Install what is missing and run every test (FILTER=…)
	@trap Tools/free-servers EXIT; export STRICT=1 $(STACK) SOSTENUTO_TESTS="$$(Tools/test-targets '$(FILTER)')"; set -x; \
	$(SWIFT) build $(TEST) --build-tests; \
	$(if $(FILTER),,Tools/check-program .build-test/release/sostenuto;) \
	$(IN_TIME) $(SWIFT) test $(TEST) --skip-build --disable-xctest $(if $(FILTER),--filter '$(FILTER)') $(QUIETLY)

laws: deps-test ## Try the laws and the click budget on many random scripts (COUNT=…)
	STRICT=1 $(SWIFT) build $(TEST) --build-tests
	STRICT=1 SOSTENUTO_SEEDS=$(COUNT) $(SWIFT) test $(TEST) --skip-build --disable-xctest \
	  --filter $(or $(FILTER),'LawTests|ClickBudgetTests|ThreadTests|PatchTests|ReplayTests') $(QUIETLY)

mutants: deps-test ## Break kernels and the engine on purpose, and list the tests that notice (ONLY="gain delay")
	@Tools/mutants $(ONLY)

bench: build ## Our cost and other programs' on the same work (GENERIC=1, BENCH="--only W1")
	$(if $(GENERIC),@$(MAKE) --no-print-directory build CPU=$(GENERIC_CPU))
	@Benchmarks/bench.py .build-$(CPU)/release/sostenuto \
	  $(if $(GENERIC),--generic .build-$(GENERIC_CPU)/release/sostenuto) $(BENCH)

bench-edits: build .build-bench/listen ## An effect replaced 100 and 1000 times a second under load, heard over JACK
	@Benchmarks/edits.py .build-$(CPU)/release/sostenuto .build-bench/listen $(BENCH)

bench-kinds: build ## Every kind in many forms beside other programs (BENCH="--only filter --quick")
	@if pkg-config --exists lilv-0; then $(MAKE) --no-print-directory .build-bench/lv2host; fi
	@Benchmarks/kinds.py .build-$(CPU)/release/sostenuto $(BENCH)

bench-loading: build .build-bench/listen ## Banks of 140 MB load beside a chord, heard over JACK
	@Benchmarks/loading.py .build-$(CPU)/release/sostenuto .build-bench/listen $(BENCH)

bench-keys: build .build-bench/listen .build-bench/onset ## From a key to the first sample, under load, over JACK
	@Benchmarks/keys.py .build-$(CPU)/release/sostenuto .build-bench/listen .build-bench/onset $(BENCH)

bench-screen: build ## The screen's cost, beside btop, cmatrix and cava (BENCH="--columns 80 --rows 24")
	@Benchmarks/screen.py .build-$(CPU)/release/sostenuto $(BENCH)

bench-threads: build .build-bench/listen ## Many nodes live on one, two and four threads (BENCH="--busy 1")
	@Benchmarks/threads.py .build-$(CPU)/release/sostenuto .build-bench/listen $(BENCH)

bench-scale: deps ## How costs grow from 100 to 100,000 nodes (BENCH="--repeat 1 --sizes 1000,10000")
	$(SWIFT) build $(PRODUCT) --product Scale
	@Benchmarks/scale.py .build-$(CPU)/release/Scale $(BENCH)

baseline: build ## Keep this program with its renders and screens (outside git), for `make compare` after a restructuring
	@Benchmarks/baseline.py record .build-$(CPU)/release/sostenuto .build-baseline

compare: build ## Compare renders and screens with those that `make baseline` kept, to the last bit and cell
	@Benchmarks/baseline.py compare .build-$(CPU)/release/sostenuto .build-baseline

.build-bench/lv2host: Benchmarks/lv2host.c
	@mkdir -p .build-bench
	clang -O3 -march=native $$(pkg-config --cflags lilv-0) $< -o $@ $$(pkg-config --libs lilv-0) -lm

.build-bench/%: Benchmarks/%.swift
	@mkdir -p .build-bench
	@swiftc -O -swift-version 6 -parse-as-library -I Sources/CJack $< -o $@

rtsan: deps-test ## Render and edit under RealtimeSanitizer (EDITS=… SEED=…)
	STRICT=1 SOSTENUTO_TESTS=DriversTests $(SWIFT) build $(RTSAN) --build-tests
	STRICT=1 $(STACK) SOSTENUTO_TESTS=DriversTests SOSTENUTO_EDITS=$(EDITS) SOSTENUTO_EDIT_SEED=$(SEED) $(IN_TIME) $(SWIFT) test $(RTSAN) --skip-build --disable-xctest --filter DriversTests $(QUIETLY)

asan: deps-test ## Run the tests under AddressSanitizer (FILTER=…)
	@export STRICT=1 ASAN_OPTIONS=$(ASAN_RUN) SOSTENUTO_TESTS="$$(Tools/test-targets '$(or $(FILTER),$(ADDRESSES))')"; \
	set -x; \
	$(SWIFT) build $(ASAN) --build-tests; \
	$(SWIFT) test $(ASAN) --skip-build --disable-xctest --filter '$(or $(FILTER),$(ADDRESSES))' $(QUIETLY)

tsan: deps-test ## Run the tests that have threads under ThreadSanitizer (FILTER=…)
	@export STRICT=1 TSAN_OPTIONS="$(TSAN_RUN)" SOSTENUTO_TESTS="$$(Tools/test-targets '$(or $(FILTER),$(THREADS))')"; \
	set -x; \
	$(SWIFT) build $(TSAN) --build-tests; \
	$(SWIFT) test $(TSAN) --skip-build --disable-xctest --filter '$(or $(FILTER),$(THREADS))' $(ALONE) $(QUIETLY)

soak: deps-test ## Edit at random on a JACK server for long, every render watched (MINUTES=… SEED=… FAULTS=1)
	STRICT=1 $(SWIFT) build $(TEST) --build-tests
	STRICT=1 SOSTENUTO_SOAK_MINUTES=$(MINUTES) SOSTENUTO_SOAK_SEED=$(SEED) SOSTENUTO_SOAK_FAULTS=$(FAULTS) \
	  $(SWIFT) test $(TEST) --skip-build --disable-xctest --filter SoakTests

storm: deps-test ## Kill sessions at any moment, fill their disk, take their folder: no edit may be lost (COUNT=… SEED=…)
	STRICT=1 $(SWIFT) build $(TEST) --build-tests
	STRICT=1 SOSTENUTO_STORM=$(COUNT) SOSTENUTO_STORM_SEED=$(SEED) $(SWIFT) test $(TEST) --skip-build --disable-xctest --filter StormTests

fuzz: deps ## Search for input that a reader or a running session stumbles over (MINUTES=… KIND=patch)
	for program in Reader Session Screen Files Midi; do FUZZ=1 $(SWIFT) build $(FUZZ) --product Fuzz$$program; done
	@export SWIFT_BACKTRACE=enable=no; bin=$$(FUZZ=1 $(SWIFT) build $(FUZZ) --show-bin-path); \
	for kind in $(KIND); do \
	  case $$kind in \
	    patch) program=FuzzReader words=language seeds=Patches;; \
	    script | journal) program=FuzzSession words=language seeds=;; \
	    prompt) program=FuzzScreen words="language terminal" seeds=;; \
	    terminal) program=FuzzScreen words=terminal seeds=;; \
	    toml) program=FuzzScreen words=toml seeds="themes keys";; \
	    sfz) program=FuzzFiles words=sfz seeds=;; \
	    sf2 | audio | tuning) program=FuzzFiles words= seeds=;; \
	    midi) program=FuzzMidi words= seeds=;; \
	    *) echo "no kind $$kind: there are $(KIND)" >&2; exit 2;; \
	  esac; \
	  mkdir -p .build-fuzz/corpus/$$kind; \
	  cat Fuzz/words/numbers.dict $${words:+$$(printf 'Fuzz/words/%s.dict ' $$words)} > .build-fuzz/$$kind.dict; \
  case $$words in language*) "$$bin/FuzzReader" words >> .build-fuzz/$$kind.dict;; esac; \
	  "$$bin/$$program" $$kind -max_total_time=$$(($(MINUTES) * 60 / $(words $(KIND)))) -print_final_stats=1 \
	    -max_len=4000 -timeout=20 -rss_limit_mb=3000 -dict=.build-fuzz/$$kind.dict \
	    -artifact_prefix=.build-fuzz/$$kind- .build-fuzz/corpus/$$kind Fuzz/corpus/$$kind $$seeds; \
	done

check-vectors: deps ## Look for single lanes, calls and spills in the machine code of hot loops, for two processors
	@Tools/vectors --self
	builds=; for cpu in x86-64-v3 x86-64-v4; do \
	  $(SWIFT) build --configuration release --scratch-path .build-vectors-$$cpu -Xcc -march=$$cpu --target Engine & \
	  builds="$$builds $$!"; \
	done; \
	for build in $$builds; do wait $$build; done
	@well=0; for cpu in x86-64-v3 x86-64-v4; do \
	  Tools/vectors $$cpu .build-vectors-$$cpu/release/{Realtime,Processors,Sampler,Engine}.build/*.o || well=1; \
	done; exit $$well

lint: deps-test ## Formatting, doc lines, places of `make mutants`, no Foundation, and a build in which a warning is an error
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)
	@! grep -rn '^import Foundation' Sources  # it brings 38 MB into the program
	STRICT=1 $(SWIFT) build $(TEST) --build-tests --explicit-target-dependency-import-check error
	@Tools/document check .build-test/release
	@Tools/mutants --check

format: ## Format every source file
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

docs: build ## The reference of the modules in .build-docs, by DocC
	@Tools/document make .build-$(CPU)/release

screens: build ## Make the screens of the README and of docs/screens from the real program (needs tmux)
	@Tools/screens .build-$(CPU)/release/sostenuto

stage: build ## The demo for ten minutes without colours or a mouse: its take is that of the notes alone (MINUTES=… SEED=…)
	@Tools/stage .build-$(CPU)/release/sostenuto --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

map: ## Draw the picture of the modules in ARCHITECTURE.md anew
	@SOSTENUTO_RECORD=1 $(MAKE) --no-print-directory test FILTER=RepositoryTests.MapTests

install: ## Install the built program, its pages, completions and examples (PREFIX=/usr/local DESTDIR=)
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' Tools/install .build-$(CPU)/release/sostenuto

uninstall: ## Remove them (PREFIX=/usr/local DESTDIR=)
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' Tools/install --remove

portable: .build-launcher/sostenuto ## Build a program for each of several processors, and what starts the fitting one (LEVELS=…)
	@for level in $(LEVELS); do $(MAKE) --no-print-directory build CPU=$$level; done

# By Swift's own compiler of C: no other is needed to build.
.build-launcher/sostenuto: Tools/launcher.c
	@mkdir -p $(@D)
	@clang -O2 -Wall -Wextra -Werror -march=$(firstword $(LEVELS)) $< -o $@

install-portable: ## Install these programs, for any processor (PREFIX=/usr/local DESTDIR=)
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' Tools/install $(PROGRAMS)

deb: portable ## A Debian package in .build-deb, for any processor (LEVELS=…)
	@Tools/package $(PROGRAMS)
