/* Archives of torch.export: whatever is read is either refused or a program that can be exported,
 * within limits, and let go. The mutator keeps archives archives and JSON JSON. */
#include "mutate_zip.h"
#include "scratch.h"

#include <calque/pt2.h>

int    LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    const size_t mutated = mutate_zip(data, size, max_size, seed);

    return mutated ? mutated : size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_pt2        *program;
    cq_onnx_model *model = NULL;

    if (cq_pt2_load(&program, scratch_write("fuzz.pt2", data, size), NULL) != CQ_OK)
        return 0;
    cq_pt2_set_limits(program, 100000, 64 << 20);
    if (cq_pt2_export(&model, program, NULL, 0, NULL) == CQ_OK)
        cq_onnx_model_free(model);
    cq_pt2_free(program);
    return 0;
}
