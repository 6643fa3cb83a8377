"""tokenizer.json of the tokenizers library: a byte-level BPE without merges."""


def document(size, specials):
    ordinary = (chr(c) for c in list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256)))
    vocab = {}
    for i in range(size):
        vocab[specials[i] if i in specials else next(ordinary, None) or f"word{i}"] = i
    added = [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
             for i, text in sorted(specials.items())]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
             "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocab, "merges": []}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None, "pre_tokenizer": level,
            "post_processor": None, "decoder": level, "model": model}
