#include "formats/formats.h"
mc_err mc_parse_torch_tail(mc_span tail, uint64_t at, uint64_t file_size, uint64_t *want_at, mc_file *f)
{
    (void)tail; (void)at; (void)file_size; (void)want_at; (void)f;
    return MC_NO_ERR;
}
