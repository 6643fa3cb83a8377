/* The reporters by name; one line in reporters.list adds one. */
#include "report/report.h"

#include <string.h>

static const mc_reporter reporters[] = {
#define REPORTER(name, summary) { #name, summary, mc_report_##name },
#include "report/reporters.list"
#undef REPORTER
};

const mc_reporter *mc_reporter_find(const char *name)
{
    for (size_t i = 0; i < MC_COUNT(reporters); i++)
        if (strcmp(reporters[i].name, name) == 0)
            return &reporters[i];
    return NULL;
}

const char *mc_reporter_names(void)
{
    static const char names[] =
#define REPORTER(name, summary) ", " #name
#include "report/reporters.list"
#undef REPORTER
        ;
    return names + 2;
}
