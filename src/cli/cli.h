/* cli.h - the command line: a table of commands, one file each, over the public API and the one table of options. */
#ifndef MODELCHECK_CLI_CLI_H
#define MODELCHECK_CLI_CLI_H
#include "api/options.h"
#include "modelcheck.h"

enum { EXIT_FINDINGS = 1, EXIT_USAGE = 2, EXIT_UNCHECKED = 3 };

/* What the arguments said. The options of the library are already set in `mc`. */
typedef struct {
    modelcheck *mc;
    const char *format;         /* --format, NULL: text */
    const char *plot;           /* --plot, NULL: no picture */
    const char *files_from;     /* --files-from, NULL: none */
    const char *error;          /* --error, NULL: none */
    bool        age;            /* --age */
    char      **words; int n;   /* operands behind the command */
} cli_args;

typedef struct {
    const char *name, *operands, *summary;
    unsigned    mask;           /* MC_CMD_* */
    int       (*run)(const cli_args *args); /* exit status */
} cli_command;
extern const cli_command cli_commands[];
extern const size_t      cli_n_commands;

int  cli_check(const cli_args *args);
int  cli_show(const cli_args *args);
int  cli_memory(const cli_args *args);
int  cli_explain(const cli_args *args);
int  cli_rules(const cli_args *args);

/* Diagnostics on standard error: "modelcheck: subject: message"; subject may be NULL. Both may hold hostile text. */
void cli_complain(const char *subject, const char *message);
int  cli_usage_error(const char *subject, const char *message); /* complains, names --help, returns 2 */
int  cli_written(const char *problem, int status);  /* status, or 3 with a complaint when the output could not be written */
int  cli_view(const cli_args *args, const char *view); /* runs, complains about what could not be opened, writes the view */
void cli_help(FILE *out, const cli_command *only);

#endif
