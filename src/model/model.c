#include "model/gguf.h"
#include "model/model.h"

mc_tensor *mc_inventory_find(const mc_inventory *inv, mc_str name)
{
    uint32_t id = mc_strset_find(&inv->names, name);
    return id == MC_NO_ID ? NULL : inv->first[id];
}

bool mc_same_shape(const mc_tensor *a, const mc_tensor *b)
{
    if (a->rank != b->rank)
        return false;
    for (unsigned i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

mc_str mc_shape_text(mc_arena *a, const mc_tensor *t)
{
    mc_str s = MC_STR("[");
    for (unsigned i = 0; i < t->rank; i++)
        s = mc_format(a, "%.*s%s%llu", MC_FMT(s), i ? ", " : "", (unsigned long long)t->dims[i]);
    return mc_format(a, "%.*s]", MC_FMT(s));
}

bool mc_token_add(mc_arena *a, mc_tokens *t, mc_token token)
{
    mc_token *v = mc_grow(a, t->added, t->n_added, &t->cap_added, sizeof *v);
    if (!v)
        return false;
    t->added = v;
    v[t->n_added++] = token;
    return true;
}

const mc_doc *mc_model_doc(const mc_model *m, uint32_t component, mc_role role)
{
    if (component >= m->n_components || m->components[component].docs[role] == MC_NONE)
        return NULL;
    return &m->docs[m->components[component].docs[role]];
}

const mc_value *mc_model_root(const mc_model *m, uint32_t component, mc_role role)
{
    const mc_doc *d = mc_model_doc(m, component, role);
    return d ? d->root : NULL;
}

const mc_value *mc_model_config(const mc_model *m)
{
    return mc_model_root(m, 0, MC_ROLE_CONFIG);
}

uint32_t mc_model_file(const mc_model *m, const char *path)
{
    for (uint32_t i = 0; i < m->n_files; i++)
        if (mc_str_is(m->files[i].path, path))
            return i;
    return MC_NONE;
}

mc_origin mc_from_doc(const mc_doc *d, mc_str where)
{
    return (mc_origin){ d ? d->file : MC_NONE, where };
}

mc_str mc_file_path(const mc_model *m, uint32_t file)
{
    return file < m->n_files ? m->files[file].path : MC_STR("");
}

const char *mc_container_name(mc_container c)
{
    static const char *const names[] = {
        [MC_FMT_NONE] = "none", [MC_FMT_SAFETENSORS] = "safetensors", [MC_FMT_GGUF] = "gguf", [MC_FMT_TORCH] = "pytorch",
        [MC_FMT_ONNX] = "onnx", [MC_FMT_TFLITE] = "tflite", [MC_FMT_HDF5] = "hdf5", [MC_FMT_TF] = "tensorflow",
        [MC_FMT_FLAX] = "flax", [MC_FMT_NPZ] = "npz", [MC_FMT_GGML] = "ggml", [MC_FMT_CTRANSLATE2] = "ctranslate2",
        [MC_FMT_OPENVINO] = "openvino", [MC_FMT_COREML] = "coreml", [MC_FMT_TENSORRT] = "tensorrt",
        [MC_FMT_TORCH_DCP] = "torch distributed checkpoint", [MC_FMT_OTHER] = "other",
    };
    return names[c];
}

mc_container mc_bytes_container(mc_bytes b)
{
    static const struct { mc_bytes bytes; mc_container container; } proven[] = {
        { MC_BYTES_SAFETENSORS, MC_FMT_SAFETENSORS }, { MC_BYTES_GGUF, MC_FMT_GGUF }, { MC_BYTES_GGML, MC_FMT_GGML },
        { MC_BYTES_TORCH_ZIP, MC_FMT_TORCH }, { MC_BYTES_TORCH_LEGACY, MC_FMT_TORCH }, { MC_BYTES_PICKLE, MC_FMT_TORCH },
        { MC_BYTES_ONNX, MC_FMT_ONNX }, { MC_BYTES_ORT, MC_FMT_ONNX }, { MC_BYTES_TFLITE, MC_FMT_TFLITE }, { MC_BYTES_HDF5, MC_FMT_HDF5 },
        { MC_BYTES_CTRANSLATE2, MC_FMT_CTRANSLATE2 }, { MC_BYTES_NPZ, MC_FMT_NPZ },
    };
    for (size_t i = 0; i < MC_COUNT(proven); i++)
        if (proven[i].bytes == b)
            return proven[i].container;
    return MC_FMT_NONE;
}

const char *mc_bytes_name(mc_bytes b)
{
    static const char *const names[] = {
        [MC_BYTES_UNREAD] = "unread bytes", [MC_BYTES_EMPTY] = "nothing", [MC_BYTES_UNKNOWN] = "unknown binary data",
        [MC_BYTES_TEXT] = "text", [MC_BYTES_JSON] = "JSON", [MC_BYTES_LFS_POINTER] = "a Git LFS pointer",
        [MC_BYTES_XET_POINTER] = "a xet pointer", [MC_BYTES_WEB_PAGE] = "a web page", [MC_BYTES_ERROR_ANSWER] = "an error answer",
        [MC_BYTES_ZEROS] = "zero bytes", [MC_BYTES_SAFETENSORS] = "safetensors", [MC_BYTES_GGUF] = "GGUF",
        [MC_BYTES_GGUF_SWAPPED] = "a byte-swapped GGUF magic", [MC_BYTES_GGML] = "a ggml file older than GGUF",
        [MC_BYTES_TORCH_ZIP] = "a PyTorch zip", [MC_BYTES_ZIP] = "a zip archive", [MC_BYTES_TORCH_LEGACY] = "a legacy PyTorch pickle",
        [MC_BYTES_PICKLE] = "a Python pickle", [MC_BYTES_TAR] = "a tar archive", [MC_BYTES_ONNX] = "ONNX", [MC_BYTES_ORT] = "an ONNX Runtime model",
        [MC_BYTES_TFLITE] = "TFLite", [MC_BYTES_HDF5] = "HDF5", [MC_BYTES_NPY] = "a NumPy array", [MC_BYTES_NPZ] = "a NumPy archive",
        [MC_BYTES_CTRANSLATE2] = "CTranslate2", [MC_BYTES_GZIP] = "gzip data", [MC_BYTES_ZSTD] = "zstd data", [MC_BYTES_XZ] = "xz data",
        [MC_BYTES_7Z] = "a 7z archive", [MC_BYTES_RAR] = "a rar archive", [MC_BYTES_BZIP2] = "bzip2 data", [MC_BYTES_RKNN] = "an RKNN model",
        [MC_BYTES_TORCH7] = "a Torch7 file", [MC_BYTES_EXECUTABLE] = "an executable", [MC_BYTES_SENTENCEPIECE] = "a SentencePiece model",
    };
    return names[b];
}

const char *mc_kind_name(mc_kind k)
{
    static const char *const names[] = {
        [MC_KIND_NONE] = "none", [MC_KIND_CAUSAL_LM] = "causal-lm", [MC_KIND_SEQ2SEQ] = "seq2seq", [MC_KIND_ENCODER] = "encoder",
        [MC_KIND_VISION_LANGUAGE] = "vision-language", [MC_KIND_DIFFUSERS] = "diffusers", [MC_KIND_SENTENCE] = "sentence-transformers",
        [MC_KIND_ADAPTER] = "adapter", [MC_KIND_PROJECTOR] = "projector", [MC_KIND_VOCAB] = "vocab", [MC_KIND_IMATRIX] = "imatrix",
        [MC_KIND_DRAFT] = "draft", [MC_KIND_STATIC_EMBEDDING] = "static-embedding", [MC_KIND_OTHER] = "other",
    };
    return names[k];
}
