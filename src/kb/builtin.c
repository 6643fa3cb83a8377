/* Model types and architectures that a framework has built in: rules/builtin-names.tsv, one name a line, sorted. */
#include "kb/kb.h"
#include "kb/tsv.h"

bool mc_kb_builtin(mc_kb *kb, mc_str name)
{
    (void)kb;
    mc_span table = mc_embedded_find("builtin-names.tsv");
    return mc_tsv_find(table, name) < table.n;
}
