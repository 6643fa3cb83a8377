/* The command line: finds the command, reads the options, calls the command. Reports go to standard output, everything
 * else to standard error. Options may stand before and behind the command and its operands; "--" ends them. */
#include "cli/cli.h"

#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

const cli_command cli_commands[] = {
    { "check", "PATH...", "report what is wrong (the default command)", MC_CMD_CHECK, cli_check },
    { "show", "PATH", "what it is: files, formats, architecture, parameters, dtypes, tensors", MC_CMD_SHOW, cli_show },
    { "memory", "PATH", "the memory floor, term by term", MC_CMD_MEMORY, cli_memory },
    { "explain", "CODE|SLUG...", "what a rule means, why it matters, how to fix it", MC_CMD_EXPLAIN, cli_explain },
    { "rules", "[lint DIR...]", "list the rules; lint: check data files (frameworks, rules of your own)", MC_CMD_RULES, cli_rules },
};
const size_t cli_n_commands = MC_COUNT(cli_commands);

static const cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < cli_n_commands; i++)
        if (strcmp(cli_commands[i].name, name) == 0)
            return &cli_commands[i];
    return NULL;
}

/* One option as it was given; `name` is never an abbreviation. */
typedef struct { const mc_option *option; const char *value; } given;

enum { FIRST_OPTION = 256 }; /* getopt's values for the rows of the table lie above every character */

static void fill_long(struct option *longs)
{
    for (size_t i = 0; i < mc_n_options; i++)
        longs[i] = (struct option){ mc_option_table[i].name, mc_option_table[i].arg ? required_argument : no_argument, NULL, FIRST_OPTION + (int)i };
    longs[mc_n_options] = (struct option){ 0 };
}

/* getopt takes unique abbreviations; a later version would give them another meaning, so they are refused. */
static bool in_full(char **argv, const mc_option *o, const char *value)
{
    const char *word = argv[optind - 1];
    size_t      n = strlen(o->name);
    if (value == word)
        word = argv[optind - 2];
    return strncmp(word, "--", 2) == 0 && strncmp(word + 2, o->name, n) == 0 && (word[2 + n] == '\0' || word[2 + n] == '=');
}

static int bad_option(char **argv, int c)
{
    char   word[64];
    size_t n;
    if (optopt > 0 && optopt < FIRST_OPTION) {
        snprintf(word, sizeof word, "-%c", optopt);
        return cli_usage_error(word, optopt == 'o' ? "comes with a later version" : "there is no such option");
    }
    snprintf(word, sizeof word, "%s", argv[optind - 1]);
    n = strcspn(word, "=");
    if (c == ':')
        return cli_usage_error(word, "a value is missing");
    if (optopt >= FIRST_OPTION)
        return cli_usage_error(word, "it takes no value");
    word[n] = '\0';
    return cli_usage_error(word, mc_option_later(word + 2) ? "comes with a later version" : "there is no such option");
}

/* Reads all options into v. 0, or the exit status for wrong usage. */
static int read_options(int argc, char **argv, given *v, size_t *n)
{
    struct option longs[64];
    int           c;
    if (mc_n_options >= MC_COUNT(longs))
        return EXIT_USAGE;
    fill_long(longs);
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
        if (c == '?' || c == ':')
            return bad_option(argv, c);
        const mc_option *o = c == 'h' ? mc_option_find("help") : &mc_option_table[c - FIRST_OPTION];
        if (c != 'h' && !in_full(argv, o, optarg))
            return cli_usage_error(argv[optind - 1], "there is no such option; names are written in full");
        v[(*n)++] = (given){ o, optarg };
    }
    return 0;
}

/* Gives each option to the library, or keeps it for the command. 0, or an exit status. */
static int apply(const cli_command *command, const given *v, size_t n, cli_args *args)
{
    for (size_t i = 0; i < n; i++) {
        const mc_option *o = v[i].option;
        char             word[64], message[96];
        snprintf(word, sizeof word, "--%s", o->name);
        if (!(o->commands & command->mask)) {
            snprintf(message, sizeof message, "is no option of `%s`", command->name);
            return cli_usage_error(word, message);
        }
        if (strcmp(o->name, "format") == 0)
            args->format = v[i].value;
        else if (strcmp(o->name, "files-from") == 0)
            args->files_from = v[i].value;
        else if (strcmp(o->name, "plot") == 0)
            args->plot = v[i].value;
        else if (strcmp(o->name, "error") == 0)
            args->error = v[i].value;
        else if (strcmp(o->name, "age") == 0)
            args->age = true;
        else if (o->set) {
            const char *why = modelcheck_set(args->mc, o->name, v[i].value);
            if (why)
                return cli_usage_error(word, why);
        }
    }
    if (args->format && strcmp(args->format, "text") != 0 && strcmp(args->format, "json") != 0 &&
        !(command->mask == MC_CMD_RULES && strcmp(args->format, "md") == 0))
        return cli_usage_error("--format", command->mask == MC_CMD_RULES ? "accepted are text, json and md" : "accepted are text and json");
    return 0;
}

static bool has(const given *v, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(v[i].option->name, name) == 0)
            return true;
    return false;
}

static bool later_command(const char *word)
{
    return strcmp(word, "triage") == 0 || strcmp(word, "lock") == 0 || strcmp(word, "verify") == 0;
}

static int run(int argc, char **argv, given *v)
{
    size_t n = 0;
    int    status = read_options(argc, argv, v, &n);
    if (status)
        return status;
    bool               bare = optind > 1 && strcmp(argv[optind - 1], "--") == 0; /* "-- check" is a path */
    const cli_command *command = optind < argc && !bare ? find_command(argv[optind]) : NULL;
    if (has(v, n, "help")) {
        cli_help(stdout, command);
        return cli_written(fflush(stdout) != 0 || ferror(stdout) ? "cannot write" : NULL, 0);
    }
    if (has(v, n, "version")) {
        printf("modelcheck %s\n", modelcheck_version());
        return cli_written(fflush(stdout) != 0 || ferror(stdout) ? "cannot write" : NULL, 0);
    }
    if (!command && !bare && optind < argc && later_command(argv[optind]))
        return cli_usage_error(argv[optind], "this command comes with a later version; write ./NAME for a path of that name");
    optind += command != NULL;
    cli_args args = { .mc = modelcheck_new(), .words = argv + optind, .n = argc - optind };
    command = command ? command : &cli_commands[0];
    if (!args.mc)
        return EXIT_UNCHECKED;
    status = apply(command, v, n, &args);
    if (!status)
        status = command->run(&args);
    modelcheck_free(args.mc);
    return status;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is then a write error, which is reported */
    given *v = calloc((size_t)argc + 1, sizeof *v);
    int    status = v ? run(argc, argv, v) : EXIT_UNCHECKED;
    free(v);
    return status;
}
