/* Archives of torch.export: whatever is read is either refused or a program that can be let go. */
#include "pt2/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_pt2_archive *archive;
    cq_pt2_program *program = NULL;
    cq_storage     *bytes;

    if (cq_storage_new(&bytes, size) != CQ_OK)
        return 0;
    if (size)
        memcpy(bytes->data, data, size);
    if (cq_pt2_archive_open_bytes(&archive, bytes, "<fuzz>", NULL) == CQ_OK)
        (void)cq_pt2_program_new(&program, archive);
    cq_pt2_program_free(program);
    cq_storage_release(bytes);
    return 0;
}
