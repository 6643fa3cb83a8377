/* modelcheck show: one path, everything that is known about it. */
#include "cli/cli.h"

int cli_show(const cli_args *args)
{
    if (args->n != 1)
        return cli_usage_error("show", args->n ? "takes one path" : "a path is missing");
    return modelcheck_add(args->mc, args->words[0]) ? EXIT_UNCHECKED : cli_view(args, "show");
}
