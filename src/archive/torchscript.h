/* TorchScript archives, as torch.jit.save writes them: the root object, constants, code. Code is
 * only found here; script/ reads and runs it. */
#ifndef CQ_ARCHIVE_TORCHSCRIPT_H
#define CQ_ARCHIVE_TORCHSCRIPT_H

#include "archive/archive.h"
#include "base/map.h"
#include "base/location.h"
#include "base/vec.h"

#define CQ_TORCHSCRIPT_MIN_VERSION 1
#define CQ_TORCHSCRIPT_MAX_VERSION 10

typedef struct cq_torchscript {
    cq_archive archive;
    int        version;   /* 1 to 10: what operators mean */
    cq_val     root;      /* the instance that was saved */
    cq_val     constants; /* a tuple: CONSTANTS.cK is item K */

    /* Example inputs of a traced model by method: a dict of lists whose tensors lack data. NONE in
     * files of PyTorch before 2.1, and of scripted models. */
    cq_val traced_inputs;

    CQ_VEC(struct cq_code_file *) files;
    cq_map by_qualifier;
} cq_torchscript;

cq_status cq_torchscript_open_bytes(cq_torchscript **out, cq_storage *bytes, const char *path);
void      cq_torchscript_free(cq_torchscript *t);

/* Files do not name their producer, but only PyTorch 2 has noted the order of bytes. */
bool cq_torchscript_has_byte_order(const cq_torchscript *t);

/* A file of code. */
typedef struct cq_code {
    const char *file; /* "net.pt!net/code/__torch__.py", for messages and cq_parse */
    const char *text; /* not terminated */
    size_t      len;
} cq_code;

/* The file that defines a class or function, "__torch__.torch.nn.modules.linear.Linear"; it is
 * borrowed from t. CQ_E_NOT_FOUND if it does not exist. */
cq_status cq_torchscript_code(const cq_code **out, cq_torchscript *t, const char *qualified_name);

/* All files of code, in the order of the archive, as qualified names of their contents without the
 * last part: "__torch__.torch.nn.modules.linear". NULL past the end. */
const char *cq_torchscript_code_at(const cq_torchscript *t, size_t index);

/* The source location of an offset in a file of code, borrowed from t. Nothing fails: without debug
 * records (`.debug_pkl`), or with damaged ones, the location is empty. They are read on first
 * use. */
cq_python_location cq_torchscript_origin(cq_torchscript *t, const cq_code *code, uint32_t offset);

#endif
