/* modelcheck memory: one path, its floor; status 1 when it certainly does not fit --vram. --plot writes a picture beside it. */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

/* Status 3 with a complaint when the picture cannot be written. */
static int draw(const cli_args *args, int status)
{
    FILE       *f = fopen(args->plot, "w");
    const char *problem = f ? modelcheck_write(args->mc, f, "svg", "memory") : strerror(errno);
    if (f && fclose(f) != 0 && !problem)
        problem = strerror(errno);
    if (!problem)
        return status;
    cli_complain(args->plot, problem);
    return EXIT_UNCHECKED;
}

int cli_memory(const cli_args *args)
{
    if (args->n != 1)
        return cli_usage_error("memory", args->n ? "takes one path" : "a path is missing");
    if (modelcheck_add(args->mc, args->words[0]))
        return EXIT_UNCHECKED;
    int status = cli_view(args, "memory");
    return args->plot ? draw(args, status) : status;
}
