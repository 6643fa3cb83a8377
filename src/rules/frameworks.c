/* MC701-MC708: the verdicts of the framework data (rules/frameworks/). Code holds no framework knowledge: MC701 to MC705 report
 * what matrix.c found for each --target, one finding a limit, whose subject "vllm/heads-tp" can be ignored on its own. */
#include "rules/frameworks.h"

static const mc_rule rules[] = {
    { "MC701", "target-refuses", MC_ERROR, MC_CERTAIN, MC_MODE_TARGET, "The named framework refuses to load this model",
      "Loading ends with an error at the first attempt, after the download and often after minutes of start-up.",
      "Use a release, a device or a format that the framework takes; the finding says which",
      "Without --target; a limit about something that is not known (no --gpu, no --tp): that is listed as not checked; versions that the data does not cover, or "
      "within one release of a change whose release is not known exactly (MC705).",
      "docs/frameworks.md; each finding names its source", "m:MC708", mc_check_target_refuses },
    { "MC702", "target-wrong", MC_ERROR, MC_CERTAIN, MC_MODE_TARGET, "The named framework loads this model but computes with wrong or missing weights",
      "No error tells that something is wrong: the answers are nonsense, or quietly worse than the model that was trained.",
      "Use a release that reads this format, or convert the model; the finding says what is lost",
      "As for MC701.", "docs/frameworks.md; each finding names its source", NULL, mc_check_target_wrong },
    { "MC703", "target-needs", MC_WARNING, MC_CERTAIN, MC_MODE_TARGET, "The named framework needs a flag, a plugin, a newer version or a conversion first",
      "As it is, it will not start; with the step that the finding names it does.",
      "Take the step that the finding names", "As for MC701.", "docs/frameworks.md; each finding names its source", NULL, mc_check_target_needs },
    { "MC704", "target-slow", MC_WARNING, MC_CERTAIN, MC_MODE_TARGET, "The named framework runs this model on a slow path",
      "It loads and answers correctly, but the device lacks the instructions that the format was made for: weights are unpacked or computed elsewhere, which costs speed or memory.",
      "Use a device or a format with a fast path, or accept the speed", "As for MC701; no --gpu, no verdict on speed.", "docs/frameworks.md; each finding names its source", NULL,
      mc_check_target_slow },
    { "MC705", "target-unknown", MC_INFO, MC_CERTAIN, MC_MODE_TARGET, "The framework data does not reach the named version",
      "What is said about this version is the last known state, which may have changed: the verdict is unknown, never \"no known obstacle\".",
      "Name a version inside the range, or take the answer as a hint", "Without --target; versions inside the known range.", "", NULL, mc_check_target_unknown },
    { "MC706", "files-not-read", MC_INFO, MC_CERTAIN, MC_MODE_DEFAULT, "Files no loader reads take space",
      "Training state, torch copies beside safetensors, leftovers of downloads and parts that were joined are stored and copied for nothing; with --target also whatever that target does not open.",
      "Leave them out of downloads and images; keep training state if training is to go on", "Nothing: this is information about space, and never more.", "", NULL, mc_check_not_read },
    { "MC707", "few-runtimes", MC_INFO, MC_CERTAIN, MC_MODE_DEFAULT, "The format is read by a few runtimes only",
      "Only the runtimes that the finding names read this way of storing weights: whoever uses another one needs another copy of the model.",
      "Choose the runtime with the format, or take a copy in a common one (GPTQ, AWQ, FP8, GGUF)", "Formats that most runtimes of the data read; architectures that few of them know.", "", NULL,
      mc_check_few_runtimes },
    { "MC708", "tp-limit", MC_INFO, MC_CERTAIN, MC_MODE_DEFAULT, "Tensor parallelism is limited by group, block or head counts",
      "Each device takes an equal share of heads and of quantized groups; where these do not divide, engines refuse to start, or pad.",
      "Use one of the sizes that divide, or pipeline parallelism",
      "Unquantized models whose heads divide by 8; models whose geometry is not known; GGUF, which is divided otherwise.",
      "https://github.com/vllm-project/vllm/issues/5675", NULL, mc_check_tp_limit },
};
const mc_family mc_family_frameworks = { "frameworks", rules, MC_COUNT(rules) };
