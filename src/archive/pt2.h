/* Archives of torch.export (.pt2): the JSON of a program, its weights, constants and sample inputs.
 *
 * PyTorch 2.1 to 2.7 write a plain zip whose weights are files of torch.save; 2.8 and newer an
 * archive with a root folder, like TorchScript's, whose weights are raw records beside a JSON with
 * their shapes. Both have the same representation here. src/pt2 interprets the program. */
#ifndef CQ_ARCHIVE_PT2_H
#define CQ_ARCHIVE_PT2_H

#include "archive/archive.h"
#include "base/json_tree.h"
#include "base/map.h"
#include "base/vec.h"

/* Bytes of weights that are zeros because the file has no data for them. */
#define CQ_PT2_MAX_ZEROS ((uint64_t)1 << 40)

typedef struct cq_pt2_archive {
    char          *path;
    cq_zip        *zip;
    cq_arena      *arena;
    const char    *root; /* "" of the plain zip */
    bool           is_plain;
    const char    *model;              /* its name: `model`, or given by --entry */
    const cq_json *program;            /* ExportedProgram */
    cq_map         weights, constants; /* name -> cq_tensor */
    CQ_VEC(cq_tensor *) tensors;       /* all tensors of the maps */
    uint64_t n_zeros;                  /* bytes of those without data */
    cq_val   sample; /* (args, kwargs) that the program was made with; NONE: not there, or of types
                        that only Python knows */
} cq_pt2_archive;

/* Whether a file is one, or another product of torch.export in such an archive. */
bool cq_pt2_is_archive(const char *path);

/* model names one of several programs; NULL: the only one. */
cq_status cq_pt2_archive_open_bytes(cq_pt2_archive **out, cq_storage *bytes, const char *path,
                                    const char *model);
void      cq_pt2_archive_free(cq_pt2_archive *a);

/* The names of the programs in a file, as far as they have some. */
typedef cq_status (*cq_pt2_name_fn)(void *user, const char *name);
cq_status cq_pt2_each_program(const char *path, cq_pt2_name_fn fn, void *user);

/* The dtype that torch.export's own number means, NONE for none. */
cq_dtype cq_pt2_dtype(int64_t number);

/* pt2_weights.c: fills weights, constants and sample. */
cq_status cq_pt2_read_tensors(cq_pt2_archive *a);

bool cq_pt2_has_record(const cq_pt2_archive *a, const char *name);

/* The bytes of a record by its name in the root folder; CQ_E_NOT_FOUND if it does not exist. */
cq_status cq_pt2_record(cq_storage **out, const cq_pt2_archive *a, const char *name);

/* "model.pt2!models/model.json", in the arena. */
const char *cq_pt2_where(const cq_pt2_archive *a, const char *name);

#endif
