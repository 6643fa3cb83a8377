# tests.mk - everything that tests. Included by the Makefile; `make help` lists the targets.
#
#   tests/unit/test_*.c     cmocka, one program each          tests/cases/        model directories and what must be said
#   tests/fuzz/*.c          one parser each, with invariants  tests/run_tests.py  all stages, one closing line
#   fixtures/written/       what quantizers write, and what must be recognised in it (test_written.py)

VENV        := build/venv
PYTHON       = $(shell test -x $(VENV)/bin/python && echo $(VENV)/bin/python || echo python3)
TEST_CFLAGS  = -std=c17 -D_XOPEN_SOURCE=700 -D_FILE_OFFSET_BITS=64 -Isrc -Iinclude -Itests -Wall -Wextra -Wshadow -Wvla $(CFLAGS) $(WERROR)
SANITIZE    := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ASAN_CFLAGS := -O1 -g $(SANITIZE)
TIME        ?= 60

UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/%)
FUZZ_SRC := $(filter-out tests/fuzz/replay.c,$(sort $(wildcard tests/fuzz/*.c)))
FUZZ     := $(FUZZ_SRC:tests/fuzz/%.c=%)
REPLAY   := $(FUZZ:%=$(BUILD)/tests/replay-%)

$(BUILD)/tests/test_%: tests/unit/test_%.c tests/unit/unit.h $(LIB_OBJ)
	@mkdir -p $(@D)
	@$(CC) $(TEST_CFLAGS) $(LDFLAGS) -o $@ $< $(LIB_OBJ) -lcmocka $(LDLIBS)

# Each fuzz target as a plain program that is given files: the corpus, or a crash to look at.
$(BUILD)/tests/replay-%: tests/fuzz/%.c tests/fuzz/replay.c tests/fuzz/fuzz.h $(LIB_OBJ)
	@mkdir -p $(@D)
	@$(CC) $(TEST_CFLAGS) $(LDFLAGS) -o $@ $< tests/fuzz/replay.c $(LIB_OBJ) $(LDLIBS)

setup: ## install what the tests need (apt, a Python environment under build/)
	@scripts/setup.sh test

test: ## everything: both compilers, sanitizers, units, cases, fuzz corpus, oracle; minutes
	@scripts/setup.sh test
	@python3 tests/run_tests.py

check: $(BUILD)/modelcheck units cases written custom frameworks ## quick: build, units, cases, models as quantizers write them, rules of users

run: ## build and check the sample model that ships with the project
	@scripts/setup.sh run
	@$(MAKE) --no-print-directory $(BUILD)/modelcheck >/dev/null
	$(BUILD)/modelcheck fixtures/sample

units: $(UNIT_BIN) ## unit tests
	@tests/run_units.sh $(UNIT_BIN)

cases: $(BUILD)/modelcheck ## case folders (tests/cases/README.md)
	@$(PYTHON) tests/run_cases.py --bin $(BUILD)/modelcheck

written: $(BUILD)/modelcheck ## models as real quantizers wrote them (fixtures/written)
	@python3 tests/test_written.py $(BUILD)/modelcheck

frameworks: $(BUILD)/modelcheck ## verdicts of frameworks on models (tests/frameworks)
	@python3 tests/test_frameworks.py $(BUILD)/modelcheck

custom: $(BUILD)/modelcheck ## the examples of docs/custom-rules.md, and faults in data files
	@python3 tests/test_custom.py $(BUILD)/modelcheck

snapshots: $(BUILD)/modelcheck ## write report.txt of every case folder; read the diff before committing
	@$(PYTHON) tests/run_cases.py --bin $(BUILD)/modelcheck --update

replay: $(REPLAY) ## run the fuzz targets over their corpora
	@tests/run_replay.sh $(BUILD)/tests $(FUZZ)

sanitize: ## units, cases and fuzz corpora under ASan and UBSan
	@$(MAKE) --no-print-directory BUILD=build/asan CFLAGS="$(ASAN_CFLAGS)" HARDEN=-fPIE LDFLAGS="$(SANITIZE)" units cases replay

fuzz: ## fuzz every target for TIME=60 seconds each (or TARGET=name), with clang's libFuzzer
	@scripts/setup.sh fuzz
	@$(MAKE) --no-print-directory BUILD=build/fuzz-build CC=clang CFLAGS="-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" \
	  HARDEN=-fPIE LDFLAGS="-fsanitize=address,undefined" fuzz-run TARGET="$(TARGET)" TIME=$(TIME)

FUZZERS = $(addprefix $(BUILD)/tests/fuzz-,$(or $(TARGET),$(FUZZ)))
$(BUILD)/tests/fuzz-%: tests/fuzz/%.c tests/fuzz/fuzz.h $(LIB_OBJ)
	@mkdir -p $(@D)
	@$(CC) $(TEST_CFLAGS) -fsanitize=fuzzer -o $@ $< $(LIB_OBJ) $(LDLIBS) $(LDFLAGS)

fuzz-run: $(FUZZERS)
	@for t in $(or $(TARGET),$(FUZZ)); do mkdir -p build/fuzz/$$t; echo "== $$t"; \
	  $(BUILD)/tests/fuzz-$$t -max_total_time=$(TIME) -max_len=65536 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
	    -artifact_prefix=build/fuzz/$$t- build/fuzz/$$t tests/fuzz/corpus/$$t 2>build/fuzz/$$t.log \
	  || { tail -40 build/fuzz/$$t.log; exit 1; }; grep -E "stat::(number_of_executed_units|average_exec)" build/fuzz/$$t.log; done

oracle: export WITH_TRANSFORMERS = 1
oracle: oracle-headers oracle-memory oracle-frameworks ## compare with the reference readers on N=8000 mutated files of each format, and with llama.cpp's memory for MODELS=95 models and what it loads

oracle-headers: $(BUILD)/libmodelcheck.so
	@tests/oracle/fetch.sh
	@$(PYTHON) tests/oracle/oracle.py --lib $(BUILD)/libmodelcheck.so -n $(or $(N),8000)

oracle-memory: $(BUILD)/modelcheck
	@tests/oracle/fetch.sh
	@$(PYTHON) tests/oracle/memory_live.py --bin $(BUILD)/modelcheck -n $(or $(MODELS),95)

oracle-frameworks: $(BUILD)/modelcheck
	@tests/oracle/fetch.sh
	@$(PYTHON) tests/oracle/frameworks_live.py --bin $(BUILD)/modelcheck -n $(or $(NAMES),1000)

memory-tables: $(BUILD)/modelcheck ## write the tables of docs/memory.md from the test data and the program's answers
	@$(PYTHON) tests/memory_tables.py $(BUILD)/modelcheck

$(BUILD)/bench/%: tests/bench/%.c
	@mkdir -p $(@D)
	@$(CC) -O3 -o $@ $<

bench: $(BUILD)/modelcheck $(BUILD)/bench/plain_read $(BUILD)/bench/measure ## time, memory and size beside a plain read of the same bytes
	@python3 tests/bench/run.py --bin $(BUILD)/modelcheck --plain $(BUILD)/bench/plain_read --measure $(BUILD)/bench/measure $(INPUT)

dist: ## source archive of the last commit in build/
	@mkdir -p build
	git archive --format=tar.gz --prefix=modelcheck-$(VERSION)/ -o build/modelcheck-$(VERSION).tar.gz HEAD

analyze: ## clang-tidy, cppcheck and gcc -fanalyzer; minutes
	@scripts/setup.sh analyze
	@tests/analyze.sh $(SOURCES)

.PHONY: setup test check run units cases written custom frameworks snapshots replay sanitize fuzz fuzz-run oracle oracle-headers oracle-memory oracle-frameworks memory-tables bench dist analyze
.SECONDARY: $(UNIT_BIN) $(REPLAY)
