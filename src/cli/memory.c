/* modelcheck memory: one path, its floor; status 1 when it certainly does not fit --vram. */
#include "cli/cli.h"

int cli_memory(const cli_args *args)
{
    if (args->n != 1)
        return cli_usage_error("memory", args->n ? "takes one path" : "a path is missing");
    return modelcheck_add(args->mc, args->words[0]) ? EXIT_UNCHECKED : cli_view(args, "memory");
}
