/* MC101-MC112: are the bytes on disk the model, and are all of them there?
 *
 * Most damaged downloads are not subtle: a pointer, a page, an empty file, half a set. Loaders report all of them as a bad
 * header; each has a cause and a remedy of its own, so each is a rule of its own and silences what a parser would say. */
#include "rules/files.h"

bool mc_role_is_tokenizer(mc_role r)
{
    return r == MC_ROLE_TOKENIZER_CONFIG || r == MC_ROLE_TOKENIZER_JSON || r == MC_ROLE_SPECIAL_TOKENS || r == MC_ROLE_ADDED_TOKENS || r == MC_ROLE_VOCAB;
}

static bool is_document(mc_role r)
{
    return r == MC_ROLE_CONFIG || r == MC_ROLE_GENERATION || r == MC_ROLE_PROCESSOR || r == MC_ROLE_ADAPTER_CONFIG || r == MC_ROLE_QUANTIZE_CONFIG ||
           r == MC_ROLE_HF_QUANT_CONFIG || r == MC_ROLE_PARAMS || r == MC_ROLE_PIPELINE || r == MC_ROLE_MODULES;
}

/* The index that rules the read set, or would if it could be read: that of the container and stem in use. */
static bool index_is_read(const mc_model *m, const mc_file *f)
{
    const mc_component *c = &m->components[f->component];
    if (c->index != MC_NONE && c->index < m->n_indexes)
        return &m->files[m->indexes[c->index].file] == f;
    if (f->variant.n != 0 || mc_str_starts(f->stem, "consolidated"))
        return false;
    return c->set == MC_NONE || (m->sets[c->set].container == f->promised && mc_str_eq(m->sets[c->set].stem, f->stem));
}

bool mc_file_read(const mc_model *m, uint32_t file)
{
    const mc_file *f = &m->files[file];
    if (f->role == MC_ROLE_WEIGHTS)
        return f->in_read_set;
    if (f->component < m->n_components && m->components[f->component].kind == MC_COMP_COPY)
        return false;
    if (f->role == MC_ROLE_INDEX)
        return f->component < m->n_components && index_is_read(m, f);
    return mc_role_is_tokenizer(f->role) || is_document(f->role);
}

bool mc_file_has_content(const mc_file *f)
{
    return f->size > 0 && f->link != MC_LINK_DANGLING && f->bytes != MC_BYTES_EMPTY && f->bytes != MC_BYTES_LFS_POINTER &&
           f->bytes != MC_BYTES_XET_POINTER && f->bytes != MC_BYTES_WEB_PAGE && f->bytes != MC_BYTES_ERROR_ANSWER;
}

void mc_names_add(mc_arena *a, mc_names *l, mc_str name)
{
    if (l->n < MC_SAMPLES)
        l->text = l->n == 0 ? name : mc_format(a, "%.*s, %.*s", MC_FMT(l->text), MC_FMT(name));
    l->n++;
}

mc_str mc_names_text(mc_arena *a, const mc_names *l)
{
    return l->n <= MC_SAMPLES ? l->text : mc_format(a, "%.*s and %zu more", MC_FMT(l->text), l->n - MC_SAMPLES);
}

#define HUB "https://huggingface.co/docs/huggingface_hub/guides/manage-cache"

/* What a file that is not itself explains away: everything a parser or a rule about the contents would say. */
#define ABOUT_CONFIG "c:MC403 c:MC410-MC417 c:MC430-MC439 c:MC455-MC458 c:MC480-MC482 c:MC502-MC508"
#define ABOUT_PARSERS "f:MC201 f:MC301-MC331 f:MC401 f:MC601-MC628 f:MC806 f:MC807"
#define INVENTORY(s) s ":MC112 " s ":MC212 " s ":MC416 " s ":MC417 " s ":MC420 " s ":MC422 " s ":MC424 " s ":MC425 " s ":MC437 " s ":MC455 " s ":MC458 " s ":MC502 " s ":MC503 " s ":MC508"
#define ABOUT_WEIGHTS "w:MC106 " INVENTORY("w") " w:MC903 w:MC904"

static const mc_rule rules[] = {
    { .code = "MC101", .slug = "lfs-pointer", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "File is a Git LFS pointer, not the content it stands for",
      .why = "The repository was cloned without Git LFS: each large file is a text of about 130 bytes that names the content. Loaders take the text for a header and report it as too large or not JSON.",
      .fix = "run `git lfs install && git lfs pull` in the repository, or download the file with `hf download`",
      .silent = "pointers of copies that no loader opens, such as pytorch_model.bin beside complete safetensors; text files; any file of 1,024 bytes or more",
      .source = "https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md",
      .suppresses = ABOUT_CONFIG " f:MC102-MC104 " ABOUT_PARSERS " " ABOUT_WEIGHTS, .check = mc_check_pointer },
    { .code = "MC102", .slug = "empty-file", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "A file that must hold data has zero bytes",
      .why = "A download, a copy or a full disk left only the name. No loader can use the file.",
      .fix = "fetch the file again, and check that the disk has room",
      .silent = "rank files of a torch distributed checkpoint (*.distcp), merges.txt and added_tokens.json, lock files, copies outside the read set",
      .source = "", .suppresses = ABOUT_CONFIG " f:MC104 " ABOUT_PARSERS " " ABOUT_WEIGHTS, .check = mc_check_empty },
    { .code = "MC103", .slug = "web-page", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "A web page or an error answer was saved in place of the file",
      .why = "The address led to a page (/blob/ instead of /resolve/), to a login, or to a proxy's answer, and the answer was stored under the file's name.",
      .fix = "download it again from the /resolve/ address or with `hf download`; a gated model needs `hf auth login` first",
      .silent = "files that may be HTML or XML, such as README.md and OpenVINO's .xml; JSON with any key of a model; copies outside the read set",
      .source = HUB, .suppresses = ABOUT_CONFIG " f:MC104 " ABOUT_PARSERS " " ABOUT_WEIGHTS, .check = mc_check_page },
    { .code = "MC104", .slug = "wrong-content", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "Content is not what the file name or the manifest promises",
      .why = "Loaders choose their reader by the name. A zip read as safetensors, or zeros read as GGUF, stops them with a message about a header or a magic number.",
      .fix = "rename the file to what it is, convert it, or download the right one",
      .silent = ".bin files that are no torch names, such as those of OpenVINO, CTranslate2 and Metal; formats older than GGUF (MC624); a length that happens to look like another magic",
      .source = "https://github.com/ggml-org/ggml/blob/master/docs/gguf.md",
      .suppresses = "f:MC301-MC331 f:MC601-MC628 m:MC112 m:MC212 m:MC403 m:MC416 m:MC417 m:MC420 m:MC422 m:MC424 m:MC425 m:MC437 m:MC455 m:MC458 m:MC502 m:MC503 m:MC508 m:MC802 m:MC903 m:MC904",
      .check = mc_check_content },
    { .code = "MC105", .slug = "byte-split-parts", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "Weights are cut into raw byte parts that must be joined first",
      .why = "The parts are slices of one file. A loader that is given the first one finds a header whose tensors lie beyond its end.",
      .fix = "join the parts in order with `cat`, then remove them",
      .silent = "the joined file is there with the size of all parts; shards made by gguf-split (-00001-of-00002.gguf); a single .part of a download",
      .source = "",
      .suppresses = "f:MC301-MC331 f:MC601-MC628 m:MC106 m:MC109 m:MC112 m:MC212 m:MC403 m:MC416 m:MC417 m:MC420 m:MC422 m:MC424 m:MC425 m:MC437 m:MC455 m:MC458 m:MC502 m:MC503 m:MC508 m:MC903 m:MC904",
      .check = mc_check_byte_parts },
    { .code = "MC106", .slug = "shard-missing", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "Some weight shards are absent: the set is incomplete",
      .why = "Most loaders stop; some start with these weights uninitialised and answer nonsense.",
      .fix = "download the missing files again; the files that are there can stay",
      .silent = "any naming when the index is complete: numbers from 0, underscores, layers-22.safetensors; files given one by one; a cache snapshot that holds no shard at all",
      .source = "https://huggingface.co/docs/transformers/big_models",
      .suppresses = "m:MC112 m:MC203 m:MC211 m:MC212 m:MC416 m:MC417 m:MC420 m:MC422 m:MC424 m:MC425 m:MC437 m:MC455 m:MC458 m:MC502 m:MC503 m:MC508 m:MC214",
      .check = mc_check_shards },
    { .code = "MC107", .slug = "shard-gap", .severity = MC_WARNING, .certainty = MC_LIKELY,
      .summary = "The numbering of the weight files has a hole",
      .why = "Files numbered without a total do not say how many there are; a hole between them is the only sign of a piece that was not copied.",
      .fix = "compare the list of files with the source of the model",
      .silent = "an index is there; numbering that merely starts at 1; numbers that are layers whose tensors are all stored; files that repeat one another's tensors, as the steps of a training do",
      .source = "", .check = mc_check_gap },
    { .code = "MC108", .slug = "dangling-link", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "A link points to a file that does not exist",
      .why = "Caches hold links to blobs. A blob that was deleted, or a link that was copied without it, looks like a file and cannot be opened.",
      .fix = "delete the cache folder of this repository and download it again, or copy the files that the links stand for",
      .silent = "links of files no loader needs; entries below .no_exist/; copies outside the read set",
      .source = HUB,
      .suppresses = ABOUT_CONFIG " " ABOUT_WEIGHTS, .check = mc_check_link },
    { .code = "MC109", .slug = "download-interrupted", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "No weights are present, only a partial download of them",
      .why = "The download stopped. Every start fails in the same way, with a message about missing files.",
      .fix = "run the download again; if it does not resume, delete the partial file first",
      .silent = "any weights are present; partial files of another repository of the cache",
      .source = HUB,
      .suppresses = "m:MC106 m:MC112 m:MC212 m:MC403 m:MC416 m:MC417 m:MC420 m:MC422 m:MC424 m:MC425 m:MC437 m:MC455 m:MC458 m:MC502 m:MC503 m:MC508 m:MC706 m:MC903 m:MC904",
      .check = mc_check_interrupted },
    { .code = "MC110", .slug = "unfinished-file", .severity = MC_WARNING, .certainty = MC_LIKELY,
      .summary = "A download control file says this weight file is not finished",
      .why = "aria2 and others give a file its full size before its content arrives, and delete the control file when it is complete. What is missing is zeros.",
      .fix = "resume the download, or compare the file with the published checksum and delete the control file",
      .silent = ".incomplete, .part and .tmp files beside complete files: leftovers",
      .source = "https://aria2.github.io/manual/en/html/aria2c.html#control-file", .check = mc_check_control },
    { .code = "MC111", .slug = "several-copies", .severity = MC_INFO, .certainty = MC_CERTAIN,
      .summary = "The directory holds more than one copy or format of the weights",
      .why = "A loader reads one of them; the others cost disk and download time. The memory floor counts the one that is read.",
      .fix = "leave out what your loader does not read",
      .silent = "never more than information: publishers ship several formats on purpose",
      .source = "https://huggingface.co/docs/huggingface_hub/guides/download", .check = mc_check_copies },
    { .code = "MC112", .slug = "copies-differ", .severity = MC_WARNING, .certainty = MC_LIKELY,
      .summary = "The safetensors and the torch copy are not the same model",
      .why = "Loaders take the safetensors copy. After a save in the other format the old weights are loaded without a word.",
      .fix = "delete the stale copy, or save both again",
      .silent = "copies that differ in precision only; buffers in one copy; variants; consolidated and original/ copies",
      .source = "https://github.com/huggingface/diffusers", .check = mc_check_differ },
};

const mc_family mc_family_files = { "files", rules, MC_COUNT(rules) };
