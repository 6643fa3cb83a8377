/* formats.h - pure functions from bytes to facts. No I/O, no globals, no mmap: each is a fuzz target as it stands.
 *
 * A parser gets a prefix of a file and the file's full size. When the prefix is too short it returns MC_MORE with `at` =
 * the length it wants (never more than the file), and is called again from scratch. Any other error is a fact of the file. */
#ifndef MODELCHECK_FORMATS_H
#define MODELCHECK_FORMATS_H
#include "kb/kb.h"
#include "model/gguf.h"
#include "model/model.h"

/* ---- recognition (magic.c, pointer.c) --------------------------------------------------------------------- */

/* What the first bytes are. `head` is the whole file if that is shorter than MC_HEAD_BYTES. Fills bytes, pointer_*. */
void mc_recognise(mc_file *f);

/* ---- weight containers ------------------------------------------------------------------------------------ */

/* Both fill parse, data_start, tensors (with `file` = id) and st or gguf of *f. Names and dims borrow from the prefix. */
mc_err mc_parse_safetensors(mc_span prefix, uint64_t file_size, const mc_kb *kb, mc_arena *a, uint32_t id, mc_file *f);
mc_err mc_parse_gguf(mc_span prefix, uint64_t file_size, const mc_kb *kb, mc_arena *a, uint32_t id, mc_file *f);
/* A torch zip, from its last bytes (`at` = their offset): sizes of the data/ members from the central directory.
 * MC_MORE: *want_at is where to read from. Fills torch_known, torch_bytes, torch_storages. */
mc_err mc_parse_torch_tail(mc_span tail, uint64_t at, uint64_t file_size, uint64_t *want_at, mc_file *f) MC_MUST_USE;

/* ---- documents -------------------------------------------------------------------------------------------- */

/* Fills err, hint, line, col, literal and root. An array at the top is valid here (modules.json): whether a role wants an object is
 * a rule's matter (MC401). */
mc_err mc_parse_document(mc_span text, mc_arena *a, mc_doc *out);
/* Fills everything but file, component, rules, and the file and state of shards that are safe names. */
mc_err mc_parse_index(mc_span text, mc_arena *a, mc_index *out);
/* What a syntax error looks like: "trailing comma", "git conflict marker", "byte order mark", ...; NULL if nothing known. */
const char *mc_json_hint(mc_span text, mc_err err);
/* tokenizer.json is up to 35 MB: pulled, never a tree. Appends added tokens; finds the id of `wanted` (may be "") among them,
 * else in the vocabulary. Strings are copied: the text may be dropped afterwards. A damaged file leaves *into as it was. */
mc_err mc_parse_tokenizer(mc_span text, mc_arena *a, uint32_t file, mc_str wanted, mc_tokens *into) MC_MUST_USE;

/* ---- templates -------------------------------------------------------------------------------------------- */

/* The first token of a Jinja template that reaches for Python internals, outside text and string literals; "" if none. */
mc_str mc_template_code(mc_str source);

#endif
