/* Placeholder command line: prints findings, one a line. */
#include "report/report.h"
#include "scan/scan.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    mc_arena a;
    mc_kb    kb;
    int      os_error = 0, status = 0;
    mc_arena_init(&a, (size_t)1 << 24);
    mc_model_list list = { .arena = &a };
    if (argc < 2 || mc_kb_init(&kb).code != MC_OK)
        return 2;
    mc_scan_options o = { 0 };
    if (mc_scan_path(argv[argc - 1], &o, &kb, &list, &os_error).code != MC_OK) {
        fprintf(stderr, "%s: %s\n", argv[argc - 1], strerror(os_error));
        return 3;
    }
    for (size_t i = 0; i < list.n; i++) {
        mc_floor        floor;
        mc_findings     out = { .arena = list.v[i]->arena };
        mc_rule_options ro = { 0 };
        mc_floor_compute(list.v[i], &kb, &(mc_floor_ask){ 0 }, out.arena, &floor);
        mc_run_rules(list.v[i], &kb, &floor, &ro, &out);
        printf("== %.*s %s %zu tensors\n", MC_FMT(list.v[i]->path), mc_container_name(list.v[i]->format), (size_t)list.v[i]->n_tensors);
        for (size_t k = 0; k < out.n; k++) {
            if (!out.v[k].silenced_by && out.v[k].severity == MC_ERROR)
                status = 1;
            printf("%s%d %s %.*s: %.*s\n", out.v[k].silenced_by ? "  (silenced) " : "", (int)out.v[k].severity, out.v[k].rule->code,
                   MC_FMT(mc_file_path(list.v[i], out.v[k].file)), MC_FMT(out.v[k].message));
        }
        mc_model_free(list.v[i]);
    }
    mc_kb_free(&kb);
    mc_arena_free(&a);
    return status;
}
