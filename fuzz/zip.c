/* Zip files: a file that opens as a TorchScript archive or a file of weights is read completely.
 * Only the signature is checked, so small inputs get far. */
#include "archive/torchscript.h"
#include "archive/weights.h"

#include <stdio.h>
#include <string.h>

static void read_entries(cq_storage *bytes)
{
    cq_zip *zip;

    if (cq_zip_open(&zip, bytes, "<fuzz>") != CQ_OK)
        return;
    for (size_t i = 0; i < cq_zip_count(zip); i++) {
        const cq_zip_entry *e = cq_zip_at(zip, i);
        cq_storage         *s;

        if (e->size < 1 << 20 && cq_zip_read(&s, zip, e) == CQ_OK) {
            (void)cq_zip_check(zip, e, s);
            cq_storage_release(s);
        }
    }
    cq_zip_free(zip);
}

static void read_torchscript(cq_storage *bytes)
{
    cq_torchscript *t;
    const char     *qualifier;
    char            name[512];

    if (cq_torchscript_open_bytes(&t, bytes, "<fuzz>") != CQ_OK)
        return;
    for (size_t i = 0; (qualifier = cq_torchscript_code_at(t, i)); i++) {
        const cq_code *code;

        snprintf(name, sizeof name, "%.500s.X", qualifier);
        if (cq_torchscript_code(&code, t, name) == CQ_OK)
            (void)cq_torchscript_origin(t, code, (uint32_t)code->len / 2);
    }
    cq_torchscript_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_storage     *bytes;
    cq_weights_file f;

    if (cq_storage_wrap(&bytes, (void *)data, size, true, NULL, NULL) != CQ_OK)
        return 0;
    read_entries(bytes);
    read_torchscript(bytes);
    (void)cq_weights_read_bytes(&f, bytes, "<fuzz>");
    cq_weights_file_clear(&f);
    cq_storage_release(bytes);
    return 0;
}
