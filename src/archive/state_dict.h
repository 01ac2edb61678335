/* State dicts: names and tensors, as torch.save(model.state_dict(), path) writes them. */
#ifndef CQ_ARCHIVE_STATE_DICT_H
#define CQ_ARCHIVE_STATE_DICT_H

#include "archive/archive.h"

typedef struct cq_state_item {
    const char *name;  /* "features.0.weight" */
    cq_val      value; /* a tensor; quantized and sparse ones are objects (archive/object.h) */
} cq_state_item;

typedef struct cq_state_dict cq_state_dict;

/* Opens a file of torch.save. section names the dict to take in a checkpoint that has several
 * objects in it; with NULL it is the top one if that has tensors, else the one that is called
 * state_dict, model_state_dict or model, else the only one. */
cq_status cq_state_dict_open(cq_state_dict **out, const char *path, const char *section);
cq_status cq_state_dict_open_bytes(cq_state_dict **out, cq_storage *bytes, const char *path,
                                   const char *section);
void      cq_state_dict_free(cq_state_dict *d);

size_t               cq_state_dict_count(const cq_state_dict *d);
const cq_state_item *cq_state_dict_at(const cq_state_dict *d, size_t index); /* in file order */
const cq_state_item *cq_state_dict_find(const cq_state_dict *d, const char *name);

#endif
