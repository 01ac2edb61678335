/* calque audit on any bytes, under the names of several formats: a verdict, findings with texts,
 * and no crash. A file that is called safe stays so when it is read again. */
#include "scratch.h"

#include <calque/audit.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cq_verdict audit(const char *path)
{
    cq_audit  *found   = NULL;
    cq_verdict verdict = CQ_VERDICT_UNKNOWN;

    if (cq_audit_file(&found, path) != CQ_OK)
        return verdict;
    verdict = cq_audit_verdict(found);
    for (size_t i = 0; i < cq_audit_count(found); i++) {
        const cq_audit_finding *f = cq_audit_at(found, i);

        if (!f->code || !*f->code || !f->what || !*f->what || f->verdict > verdict)
            abort();
    }
    cq_audit_free(found);
    return verdict;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "fuzz.pt", "fuzz.onnx", "fuzz.npy" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = scratch_write(names[i], data, size);

        if (audit(path) != audit(path))
            abort();
    }
    return 0;
}
