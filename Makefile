# modelcheck - see README.md. `make help` lists the targets.
CC      ?= cc
OBJCOPY ?= objcopy
BUILD   ?= build
PREFIX  ?= /usr/local
VERSION := $(shell sed -n 's/.*MODELCHECK_VERSION "\(.*\)"/\1/p' include/modelcheck.h)

LAYERS   := base io kb model formats scan floor rules report api cli
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wvla -Wformat=2 \
            -Wswitch-enum -Wstrict-prototypes -Wmissing-prototypes
HARDEN   := -fstack-protector-strong -D_FORTIFY_SOURCE=2
CFLAGS   ?= -O2 -g
ALL_CFLAGS  = -std=c17 -D_XOPEN_SOURCE=700 -D_FILE_OFFSET_BITS=64 -Isrc -Iinclude -fvisibility=hidden $(WARNINGS) $(HARDEN) $(CFLAGS) -fPIC $(WERROR)
ALL_LDFLAGS = -pie -Wl,--compress-debug-sections=zlib -Wl,-z,relro,-z,now $(LDFLAGS)
LDLIBS   := -lm -pthread

SOURCES  := $(sort $(wildcard $(addsuffix /*.c,$(addprefix src/,$(LAYERS)))))
LIB_SRC  := $(filter-out src/cli/%,$(SOURCES))
DATA     := $(sort $(wildcard rules/*.json rules/*.tsv rules/*/*.json rules/*/*/*.tsv))
OBJ      := $(SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/embedded.o
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o) $(BUILD)/embedded.o

all: $(BUILD)/modelcheck $(BUILD)/libmodelcheck.so ## build the program and the library (the default)

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Debugging symbols go to a file beside the linked one, where gdb and perf look for them: what is copied stays small.
split_debug = $(OBJCOPY) --only-keep-debug $(1) $(1).debug && $(OBJCOPY) --strip-debug --add-gnu-debuglink=$(1).debug $(1)

$(BUILD)/modelcheck: $(OBJ)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(OBJ) $(LDLIBS)
	@$(call split_debug,$@)

# Only what include/modelcheck.h marks is visible. The soname changes when the API breaks.
SONAME := libmodelcheck.so.0
$(BUILD)/libmodelcheck.so: $(LIB_OBJ)
	$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,-z,relro,-z,now $(LDFLAGS) -o $(BUILD)/$(SONAME) $(LIB_OBJ) $(LDLIBS)
	@$(call split_debug,$(BUILD)/$(SONAME))
	@ln -sf $(SONAME) $@

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The data files, byte for byte, as one table { name, begin, size } of the program (kb/embedded.c reads it).
$(BUILD)/embedded.S: $(DATA) Makefile
	@mkdir -p $(@D)
	@{ printf '.section .rodata\n'; \
	   for f in $(DATA); do s=$$(echo "$${f#rules/}" | tr -c 'A-Za-z0-9\n' _); \
	     printf 'd_%s: .incbin "%s"\nd_%s_end: .byte 0\nn_%s: .asciz "%s"\n' $$s $$f $$s $$s "$${f#rules/}"; done; \
	   printf '.section .data.rel.ro,"aw"\n.balign 8\n.globl mc_embedded_files\n.hidden mc_embedded_files\nmc_embedded_files:\n'; \
	   for f in $(DATA); do s=$$(echo "$${f#rules/}" | tr -c 'A-Za-z0-9\n' _); \
	     printf '.quad n_%s, d_%s, d_%s_end - d_%s\n' $$s $$s $$s $$s; done; \
	   printf '.quad 0, 0, 0\n.section .note.GNU-stack,"",%%progbits\n'; } > $@

$(BUILD)/embedded.o: $(BUILD)/embedded.S
	$(CC) -c -o $@ $<

layers: ## check that includes point only to layers on the left
	@awk -v order="$(LAYERS)" 'BEGIN { n = split(order, l, " "); for (i = 1; i <= n; i++) rank[l[i]] = i } \
	  /^#include "/ { split(FILENAME, p, "/"); split($$2, q, /["\/]/); \
	    if (q[2] in rank && rank[q[2]] > rank[p[2]]) { print FILENAME ": includes " q[2] "/, which stands to the right of " p[2] "/"; bad = 1 } } \
	  END { exit bad }' $(SOURCES) $(wildcard $(addsuffix /*.h,$(addprefix src/,$(LAYERS))))

install: all ## install below PREFIX (/usr/local), staged under DESTDIR
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/share/man/man1 \
	  $(DESTDIR)$(PREFIX)/share/doc/modelcheck
	install -m 755 $(BUILD)/modelcheck $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(BUILD)/$(SONAME) $(DESTDIR)$(PREFIX)/lib/
	ln -sf $(SONAME) $(DESTDIR)$(PREFIX)/lib/libmodelcheck.so
	install -m 644 include/modelcheck.h $(DESTDIR)$(PREFIX)/include/
	printf 'prefix=%s\nName: modelcheck\nDescription: checks directories of LLM weights\nVersion: %s\nCflags: -I$${prefix}/include\nLibs: -L$${prefix}/lib -lmodelcheck\n' \
	  '$(PREFIX)' '$(VERSION)' > $(DESTDIR)$(PREFIX)/lib/pkgconfig/modelcheck.pc
	install -m 644 docs/modelcheck.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 $(wildcard README.md LICENSE CHANGELOG.md docs/*.md docs/*.json) $(DESTDIR)$(PREFIX)/share/doc/modelcheck/

uninstall: ## remove what install put below PREFIX
	cd $(DESTDIR)$(PREFIX) && rm -rf bin/modelcheck lib/$(SONAME) lib/libmodelcheck.so lib/pkgconfig/modelcheck.pc include/modelcheck.h \
	  share/man/man1/modelcheck.1 share/doc/modelcheck

docs: $(BUILD)/modelcheck ## write docs/rules.md from the rule tables
	$(BUILD)/modelcheck rules --format md > docs/rules.md

docs-check: $(BUILD)/modelcheck ## is docs/rules.md what the rule tables say, and the man page complete?
	@$(BUILD)/modelcheck rules --format md | diff -u docs/rules.md - || { echo "run make docs"; exit 1; }
	@for o in $$($(BUILD)/modelcheck --help | sed -n 's/^  --\([a-z-]*\).*/\1/p'); do \
	  grep -q "^\.B[RI]* \\\\-\\\\-$$(echo $$o | sed 's/-/\\\\-/g')" docs/modelcheck.1 || { echo "docs/modelcheck.1: --$$o is missing"; exit 1; }; done

include tests/tests.mk

clean: ## remove what was built
	rm -rf $(BUILD)

-include $(OBJ:.o=.d)
.PHONY: all help layers install uninstall docs docs-check clean
