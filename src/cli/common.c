/* What the commands share: diagnostics, help, and running a view. */
#include "cli/cli.h"

#include <string.h>

void cli_complain(const char *subject, const char *message)
{
    mc_out o = { .f = stderr };
    mc_put(&o, "modelcheck: ");
    if (subject) {
        mc_put_text(&o, mc_str_of(subject));
        mc_put(&o, ": ");
    }
    mc_put_text(&o, mc_str_of(message));
    mc_put(&o, "\n");
}

int cli_usage_error(const char *subject, const char *message)
{
    cli_complain(subject, message);
    fputs("modelcheck --help lists commands and options\n", stderr);
    return EXIT_USAGE;
}

int cli_written(const char *problem, int status)
{
    if (!problem)
        return status;
    cli_complain("standard output", problem);
    return EXIT_UNCHECKED;
}

int cli_view(const cli_args *args, const char *view)
{
    const char *path, *message, *unfit = modelcheck_prepare(args->mc);
    if (unfit && modelcheck_error_at(args->mc, 0, &path, &message) == 0)
        return cli_usage_error(strcmp(path, "target") == 0 ? "--target" : path, message);
    modelcheck_run(args->mc);
    const char *problem = modelcheck_write(args->mc, stdout, args->format, view);
    for (size_t i = 0; modelcheck_error_at(args->mc, i, &path, &message) == 0; i++)
        cli_complain(path, message);
    return cli_written(problem, modelcheck_status(args->mc, view));
}

void cli_help(FILE *out, const cli_command *only)
{
    if (only)
        fprintf(out, "usage: modelcheck %s [OPTIONS] %s\n\n  %s\n", only->name, only->operands, only->summary);
    else
        fputs("usage: modelcheck [COMMAND] [OPTIONS] PATH...\n\n"
              "Checks a directory of LLM weights without loading it: what it is, what is wrong, how much memory it needs at least.\n"
              "PATH is a model directory, one weight file, a hub-cache snapshot, or a tree of models with --recursive.\n\ncommands\n", out);
    for (size_t i = 0; !only && i < cli_n_commands; i++)
        fprintf(out, "  %-8s %-14s %s\n", cli_commands[i].name, cli_commands[i].operands, cli_commands[i].summary);
    fputs("\noptions\n", out);
    for (size_t i = 0; i < mc_n_options; i++) {
        const mc_option *o = &mc_option_table[i];
        char             left[48];
        if (only && !(o->commands & only->mask))
            continue;
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        fprintf(out, "  %-24s %s\n", left, o->help);
    }
    fputs("\nexit status\n"
          "  0 nothing at or above --fail-on   1 findings   2 wrong usage   3 could not check: unreadable, incomplete, or no model\n", out);
}
