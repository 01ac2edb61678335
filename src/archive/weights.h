/* Weights in any file that people have them in: zip files and older streams of torch.save,
 * safetensors, shards named by an index.json. A file holds a tree of values; the weights are the
 * state dict or module in it. Public calls are in <calque/weights.h>. */
#ifndef CQ_ARCHIVE_WEIGHTS_H
#define CQ_ARCHIVE_WEIGHTS_H

#include "archive/object.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

#include <calque/weights.h>

/* ---- the values of a file ---- */

typedef enum cq_weights_format {
    CQ_WEIGHTS_ZIP,         /* torch.save since PyTorch 1.6 */
    CQ_WEIGHTS_TORCHSCRIPT, /* torch.jit.save */
    CQ_WEIGHTS_LEGACY,      /* torch.save before PyTorch 1.6 */
    CQ_WEIGHTS_SAFETENSORS,
    CQ_WEIGHTS_SHARDS /* index.json */
} cq_weights_format;

typedef struct cq_weights_file {
    cq_weights_format format;
    cq_val            root; /* the result of torch.load: a dict of tensors, a checkpoint, a
                             * module */
    cq_val metadata;        /* of safetensors, a dict of texts; else NONE */
} cq_weights_file;

/* Whether the bytes may hold pickled modules: a file of torch.save, old or new. */
bool      cq_weights_is_pickled(cq_storage *bytes, const char *path);
cq_status cq_weights_read(cq_weights_file *out, const char *path);
cq_status cq_weights_read_bytes(cq_weights_file *out, cq_storage *bytes, const char *path);
void      cq_weights_file_clear(cq_weights_file *f);

/* ---- state dicts in it ---- */

/* A dict of tensors, or a module, in the tree. */
typedef struct cq_section {
    const char *path; /* "model", "ema.module"; "": the root */
    cq_val      value;
    size_t      n_tensors;
} cq_section;

typedef CQ_VEC(cq_section) cq_sections;

/* All of them, without states of optimizers. Paths are in the arena. */
cq_status cq_sections_find(cq_sections *out, cq_arena *arena, cq_val root);

/* The section with that path; NULL: the usual one. An error lists the sections. */
cq_status cq_section_choose(const cq_section **out, const cq_sections *all, const char *path,
                            const char *file);

/* Whether v is a pickled nn.Module; its parameters, buffers and modules are dicts in attrs. */
bool           cq_is_pickled_module(cq_val v);
const cq_dict *cq_module_part(const cq_instance *module, const char *name); /* NULL: not a dict */

/* ---- the weights ---- */

typedef struct cq_weight {
    const char *name;  /* "features.0.weight" */
    cq_val      value; /* a tensor; quantized and sparse ones are objects (archive/object.h) */
} cq_weight;

struct cq_weights {
    cq_weights_file   file;
    char             *path;
    cq_arena         *arena;
    cq_sections       sections;
    const cq_section *section;
    CQ_VEC(cq_weight) items; /* in file order */
    cq_str note;
};

/* As cq_weights_open, but for any file with values: section is NULL if the file has no weights, or
 * several sections and no usual one, and then there are no items. */
cq_status cq_weights_inspect(cq_weights **out, const char *path);

bool cq_val_is_weight(cq_val v);

/* ---- fitting them to a model ---- */

/* A parameter or buffer of a model. */
typedef struct cq_weights_slot {
    const char      *name;
    const cq_tensor *like;  /* its shape and dtype */
    cq_tensor       *found; /* the weight in that dtype, or NULL: missing in the file */
    bool             may_be_missing;
} cq_weights_slot;

typedef struct cq_weights_slots {
    cq_weights_slot *items;
    size_t           n, cap;
    cq_arena        *arena; /* of names */
} cq_weights_slots;

/* Copies the name, borrows the tensor. Clear the slots in any case. */
cq_status cq_weights_add_slot(cq_weights_slots *slots, const char *name, const cq_tensor *like,
                              bool may_be_missing);

/* Beside the public flags: the model is an ONNX model. It has no num_batches_tracked. Exporters
 * fold weights into others, so a weight of the file that the model does not have is always an
 * error. */
enum { CQ_WEIGHTS_OF_ONNX = 1 << 16 };

/* Finds the weights of all slots. Prefixes of names (module., model., _orig_mod.) are removed if
 * more names match without them, with a note. Missing, unexpected and misshapen weights are listed
 * as in PyTorch's load_state_dict. */
cq_status cq_weights_fit(cq_weights *w, cq_weights_slots *slots, const char *model, uint32_t flags);
void      cq_weights_slots_clear(cq_weights_slots *slots);

#endif
