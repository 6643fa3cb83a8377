# modelcheck - see README.md. `make help` lists the targets.
CC      ?= cc
BUILD   ?= build
PREFIX  ?= /usr/local
VERSION := $(shell sed -n 's/.*MODELCHECK_VERSION "\(.*\)"/\1/p' include/modelcheck.h)

LAYERS   := base io kb model formats scan floor rules report api cli
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wvla -Wformat=2 \
            -Wswitch-enum -Wstrict-prototypes -Wmissing-prototypes
HARDEN   := -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIC
CFLAGS   ?= -O2 -g
ALL_CFLAGS  = -std=c17 -D_XOPEN_SOURCE=700 -D_FILE_OFFSET_BITS=64 -Isrc -Iinclude -fvisibility=hidden $(WARNINGS) $(HARDEN) $(CFLAGS) $(WERROR)
ALL_LDFLAGS = -pie -Wl,-z,relro,-z,now $(LDFLAGS)
LDLIBS   := -lm

SOURCES  := $(sort $(wildcard $(addsuffix /*.c,$(addprefix src/,$(LAYERS)))))
LIB_SRC  := $(filter-out src/cli/%,$(SOURCES))
DATA     := $(sort $(wildcard rules/*.json rules/*.tsv))
OBJ      := $(SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/embedded.o
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o) $(BUILD)/embedded.o

all: $(BUILD)/modelcheck ## build the program (the default)

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BUILD)/modelcheck: $(OBJ)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(OBJ) $(LDLIBS)

# The public C API for other programs; the oracle tests use it too.
$(BUILD)/libmodelcheck.so: $(LIB_OBJ)
	$(CC) $(ALL_CFLAGS) -shared -Wl,-z,relro,-z,now $(LDFLAGS) -o $@ $(LIB_OBJ) $(LDLIBS)

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

include tests/tests.mk

clean: ## remove what was built
	rm -rf $(BUILD)

-include $(OBJ:.o=.d)
.PHONY: all help layers clean
