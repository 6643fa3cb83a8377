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
    if (args->error && args->n)
        return cli_usage_error("explain", "takes the code of a rule, or --error TEXT");
    if (args->error && args->error[strspn(args->error, " \t\n")] == '\0')
        return cli_usage_error("--error", "the text of the message is empty");
    if (args->error)
        return written(modelcheck_explain_error(stdout, args->format, args->error));
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

/* rules lint DIR...: 1 if a file has a fault. */
static int lint(const cli_args *args)
{
    int status = 0;
    if (args->n < 2)
        return cli_usage_error("rules lint", "a directory is missing");
    for (int i = 1; i < args->n; i++) {
        const char *problem;
        int         found = modelcheck_lint(stdout, args->words[i], &problem);
        if (problem)
            cli_complain(args->words[i], problem);
        status = problem ? EXIT_UNCHECKED : found && !status ? EXIT_FINDINGS : status;
    }
    return written(fflush(stdout) != 0 || ferror(stdout) ? "cannot write" : NULL) ? EXIT_UNCHECKED : status;
}

int cli_rules(const cli_args *args)
{
    if (args->n && strcmp(args->words[0], "lint") == 0)
        return lint(args);
    if (args->n)
        return cli_usage_error(args->words[0], "`rules` takes no operands but lint DIR");
    if (args->age)
        return written(modelcheck_rules_age(stdout));
    return written(modelcheck_rules(stdout, args->format, NULL));
}
