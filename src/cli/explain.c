/* modelcheck explain CODE|SLUG and modelcheck rules: the rule tables in words. */
#include "cli/cli.h"

#include <string.h>

static int written(const char *problem)
{
    return cli_written(problem, 0);
}

int cli_explain(const cli_args *args)
{
    int status = 0;
    if (args->n == 0)
        return cli_usage_error("explain", "the code or slug of a rule is missing");
    for (int i = 0; i < args->n; i++)
        if (!modelcheck_rule_known(args->words[i]))
            return cli_usage_error(args->words[i], "there is no such rule; modelcheck rules lists them");
    if (args->n > 1 && args->format && strcmp(args->format, "json") == 0)
        return cli_usage_error("explain", "takes one rule with --format json");
    for (int i = 0; i < args->n && !status; i++) {
        if (i)
            putchar('\n');
        status = written(modelcheck_rules(stdout, args->format, args->words[i]));
    }
    return status;
}

int cli_rules(const cli_args *args)
{
    if (args->n)
        return cli_usage_error(args->words[0], "`rules` takes no operands in this version");
    return written(modelcheck_rules(stdout, args->format, NULL));
}
