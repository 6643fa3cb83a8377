/* MC201-MC214: do the index, the directory and the headers tell the same story?
 *
 * Three questions in a row: can the index be used (MC201), are its files there (MC106 or MC202), do its names match what
 * the headers hold (MC203-MC209, MC214). */
#include "rules/index.h"

#include <stdlib.h>

const mc_index *mc_ruling_index(const mc_model *m, uint32_t c)
{
    const mc_component *comp = &m->components[c];
    if (comp->kind == MC_COMP_COPY || comp->index == MC_NONE || comp->index >= m->n_indexes)
        return NULL;
    const mc_index *ix = &m->indexes[comp->index];
    return ix->valid && ix->rules ? ix : NULL;
}

bool mc_header_usable(const mc_file *f)
{
    return f->st && f->st->fault == MC_ST_SOUND && !f->limit && f->os_error == 0;
}

mc_str mc_typed_shape(mc_arena *a, const mc_kb *kb, const mc_tensor *t)
{
    const mc_dtype *d = mc_kb_dtype(kb, t->dtype);
    mc_str          name = d ? d->name : MC_STR("unknown dtype"), shape = mc_shape_text(a, t);
    return mc_format(a, "%.*s %.*s", MC_FMT(name), MC_FMT(shape));
}

bool mc_shard_names(mc_arena *a, const mc_index *ix, mc_strset *out)
{
    if (!mc_strset_init(out, a, ix->n_shards))
        return false;
    for (size_t i = 0; i < ix->n_shards; i++)
        if (mc_strset_add(out, ix->shards[i].name, NULL) == MC_NO_ID)
            return false;
    return true;
}

size_t mc_absent_shards(const mc_index *ix)
{
    size_t n = 0;
    for (size_t i = 0; i < ix->n_shards; i++)
        n += ix->shards[i].state == MC_SHARD_ABSENT;
    return n;
}

static int by_name(const void *a, const void *b)
{
    const mc_str *x = a, *y = b;
    return mc_str_cmp(*x, *y);
}

bool mc_absent_names(mc_arena *a, const mc_index *ix, mc_strset *out)
{
    size_t  n = 0;
    mc_str *v = MC_NEW(a, mc_str, ix->n_shards + 1);
    if (!v || !mc_strset_init(out, a, ix->n_shards))
        return false;
    for (size_t i = 0; i < ix->n_shards; i++)
        if (ix->shards[i].state == MC_SHARD_ABSENT)
            v[n++] = ix->shards[i].name;
    qsort(v, n, sizeof *v, by_name);
    for (size_t i = 0; i < n; i++)
        if (mc_strset_add(out, v[i], NULL) == MC_NO_ID)
            return false;
    return true;
}

bool mc_unindexed(const mc_model *m, const mc_index *ix, const mc_strset *named, uint32_t file)
{
    const mc_file      *f = &m->files[file], *by = &m->files[ix->file];
    const mc_component *c = &m->components[ix->component];
    if (f->role != MC_ROLE_WEIGHTS || f->component != ix->component || f->promised != by->promised || !mc_file_has_content(f))
        return false;
    if (!mc_str_eq(f->variant, by->variant) || mc_str_starts(f->stem, "consolidated") || mc_str_starts(f->stem, "adapter"))
        return false;
    mc_str below = mc_str_cut(f->path, c->dir.n, f->path.n);
    return mc_str_find(below, '/') == below.n && mc_strset_find(named, below) == MC_NO_ID;
}

static const mc_rule rules[] = {
    { .code = "MC201", .slug = "index-invalid", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "The shard index cannot be used",
      .why = "Loaders find the shards through this file. What they make of half an index, a merge conflict or two documents in one differs; none of it is the model.",
      .fix = "take the index from the source again, or write a new one from the headers of the shards",
      .silent = "metadata that is absent, null or has other keys; a name listed twice with the same file; the index of a format that is not read",
      .source = "https://huggingface.co/docs/transformers/big_models",
      .suppresses = "m:MC106 m:MC202-MC206 m:MC211 m:MC212 m:MC455 m:MC503 m:MC214", .check = mc_check_index },
    { .code = "MC202", .slug = "index-stale", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "The index describes another set of files than the one present",
      .why = "The weights were saved again in other files and the old index stayed. Loaders that follow it stop; those that read every file load the model: so it works here and fails there.",
      .fix = "write a new index from the headers of the shards that are here",
      .silent = "files are absent and nothing replaces them (MC106); the index of a format that is not read",
      .source = "https://huggingface.co/docs/transformers/big_models",
      .suppresses = "m:MC106 m:MC203-MC206 m:MC209 m:MC210 m:MC211 m:MC212 m:MC455 m:MC458 m:MC503 m:MC214", .check = mc_check_stale },
    { .code = "MC203", .slug = "tensor-nowhere", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "The index lists a tensor that is stored nowhere",
      .why = "A loader that asks for the tensor stops; one that reads what is there leaves the weight uninitialised.",
      .fix = "get the shard that holds it, or write a new index from the headers",
      .silent = "buffers such as inv_freq and position_ids; a tensor that another indexed shard holds (MC214); the tied twin of a stored tensor (MC206); shards that could not be read",
      .source = "https://github.com/huggingface/huggingface_hub/issues/4725", .suppresses = "m:MC212", .check = mc_check_join },
    { .code = "MC204", .slug = "shard-not-indexed", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "A numbered shard is not referenced by the index",
      .why = "Its layers are in no list: loaders that follow the index start without them.",
      .fix = "write a new index from the headers of all shards",
      .silent = "a shard of another family, or one whose tensors are all listed elsewhere (MC209); variants",
      .source = "https://github.com/unslothai/unsloth/issues/7375", .suppresses = "f:MC205 f:MC209 m:MC212 m:MC455 m:MC503", .check = mc_check_not_indexed },
    { .code = "MC205", .slug = "tensor-not-indexed", .severity = MC_WARNING, .certainty = MC_CERTAIN,
      .summary = "An indexed shard holds tensors the index does not list",
      .why = "Loaders that iterate over files read them, those that follow the index do not: two loaders run two models.",
      .fix = "write a new index from the headers of the shards",
      .silent = "buffers such as inv_freq and position_ids; tensors without elements; names stored twice (MC207, MC208)",
      .source = "https://huggingface.co/docs/transformers/big_models" },
    { .code = "MC206", .slug = "tied-name-indexed", .severity = MC_WARNING, .certainty = MC_CERTAIN,
      .summary = "The index lists the tied twin of a tensor that is stored only once",
      .why = "The model ties head and embedding, so one of them is rightly not stored; converters that follow the index ask for it and stop.",
      .fix = "delete the entry from weight_map",
      .silent = "both are stored; nothing says that the two are tied",
      .source = "https://github.com/ggml-org/llama.cpp/issues/12456" },
    { .code = "MC207", .slug = "tensor-conflict", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "One tensor name is stored twice and loaders cannot agree which counts",
      .why = "Loaders read every tensor of a file they open, in an order of their own. Which copy wins is chance, or a shape error far from the cause.",
      .fix = "remove the superseded copy, and write a new index",
      .silent = "dtype and EMA variants, adapters, consolidated files, a folder of independent single-file models; equal copies that an index settles (MC208)",
      .source = "https://docs.vllm.ai/en/latest/models/extensions/", .suppresses = "m:MC208 m:MC209 m:MC212", .check = mc_check_twins },
    { .code = "MC208", .slug = "tensor-repeated", .severity = MC_WARNING, .certainty = MC_CERTAIN,
      .summary = "One tensor name is stored in two indexed shards, equal in dtype and shape",
      .why = "The index chooses one; loaders that merge all files may take the other, and the values can differ.",
      .fix = "remove the copy that the index does not name",
      .silent = "files that the index does not name; tensors without elements",
      .source = "" },
    { .code = "MC209", .slug = "leftover-weights", .severity = MC_WARNING, .certainty = MC_CERTAIN,
      .summary = "Weight files left over from an earlier save lie beside the indexed set",
      .why = "vLLM, SGLang and Transformers ignore them; TGI refuses names that occur twice; MLX, TensorRT-LLM and ExLlama merge all files, so old weights may win.",
      .fix = "delete the files that the index does not name",
      .silent = "consolidated*.safetensors, adapter_model*, variants, and files in directories of their own such as original/",
      .source = "https://github.com/ggml-org/llama.cpp/issues/10756", .check = mc_check_leftover },
    { .code = "MC210", .slug = "single-file-conflict", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "model.safetensors beside an index holds other weights than the shards",
      .why = "Transformers opens the single file first, vLLM and SGLang the shards, MLX mixes both: each runs another model.",
      .fix = "delete the one you do not mean",
      .silent = "equal shapes, whatever the dtype (MC209); the two lie in different directories; variants",
      .source = "https://github.com/Blaizzy/mlx-vlm/pull/1464", .suppresses = "m:MC207 m:MC209 m:MC410 m:MC416 m:MC430-MC437", .check = mc_check_single },
    { .code = "MC211", .slug = "index-missing", .severity = MC_WARNING, .certainty = MC_CERTAIN,
      .summary = "A sharded safetensors set has no index",
      .why = "Transformers looks for model.safetensors or its index and finds neither; vLLM and MLX read every shard and do not mind.",
      .fix = "write model.safetensors.index.json from the headers of the shards",
      .silent = "other file names than model-<i>-of-<n>, consolidated files, torch sets; files given one by one; an incomplete set (MC106)",
      .source = "https://huggingface.co/docs/transformers/big_models", .check = mc_check_no_index },
    { .code = "MC212", .slug = "total-size", .severity = MC_WARNING, .certainty = MC_CERTAIN,
      .summary = "The size recorded in the index is not the size of the weights",
      .why = "The index is from another precision, or tensors were removed or added after it was written. Tools that plan memory by it plan wrongly.",
      .fix = "write a new index from the headers of the shards",
      .silent = "no total_size; sizes that count repeated or tied tensors once or twice; the sum of the file sizes; total_parameters of any value",
      .source = "https://huggingface.co/docs/transformers/big_models", .check = mc_check_total },
    { .code = "MC213", .slug = "index-no-metadata", .severity = MC_WARNING, .certainty = MC_CERTAIN,
      .summary = "The index has no metadata object",
      .why = "Transformers reads it without asking whether it is there and stops; other loaders do not mind.",
      .fix = "add \"metadata\": {} to the index",
      .silent = "an object, empty or with keys of other tools",
      .source = "https://github.com/huggingface/transformers", .check = mc_check_metadata },
    { .code = "MC214", .slug = "wrong-shard", .severity = MC_WARNING, .certainty = MC_CERTAIN,
      .summary = "The index maps tensors to a shard, and another indexed shard holds them",
      .why = "Transformers, vLLM and mlx-lm read every shard and find them; readers that fetch single tensors by the index fail.",
      .fix = "write a new index from the headers of the shards",
      .silent = "buffers; shards that could not be read; values that leave the directory (MC801)",
      .source = "https://github.com/huggingface/huggingface_hub/issues/4740" },
};

const mc_family mc_family_index = { "index", rules, MC_COUNT(rules) };
