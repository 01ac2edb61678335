/* Weights in files: state dicts, checkpoints and modules of torch.save (of any PyTorch), files of
 * safetensors, and sharded checkpoints by their index.json. The files are mapped, and nothing in
 * them is executed.
 *
 *     cq_weights *w;
 *
 *     if (cq_weights_open(&w, "checkpoint.pth") == CQ_OK)
 *         for (size_t i = 0; i < cq_weights_count(w); i++)
 *             puts(cq_weights_name(w, i));
 *     cq_weights_free(w); */
#ifndef CALQUE_WEIGHTS_H
#define CALQUE_WEIGHTS_H

#include <calque/tensor.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_weights cq_weights;

/* path is FILE, or FILE:KEY to choose one of several state dicts in a checkpoint: `ckpt.pth:ema`,
 * `ckpt.pth:models.generator`. Without KEY it is the only one, or that called state_dict,
 * model_state_dict or model; an error lists them otherwise. */
CQ_API cq_status cq_weights_open(cq_weights **out, const char *path);
CQ_API void      cq_weights_free(cq_weights *w);

/* Whether a file holds weights or other values of torch.save and no program. */
CQ_API bool cq_is_weights_file(const char *path);

/* The tensors in file order. The tensor is borrowed; NULL: past the end, or a quantized or sparse
 * tensor. */
CQ_API size_t      cq_weights_count(const cq_weights *w);
CQ_API const char *cq_weights_name(const cq_weights *w, size_t i);
CQ_API cq_tensor  *cq_weights_tensor(const cq_weights *w, size_t i);

/* The bytes of all of them, shards of an index included. */
CQ_API uint64_t cq_weights_bytes(const cq_weights *w);

/* Writes the tensors alone as a file of safetensors. A quantized or sparse tensor is an error. */
CQ_API cq_status cq_weights_save(const cq_weights *w, const char *path);

/* A note for the user: the part of a checkpoint that was used, the prefix of names that was
 * removed. "" if there is none. */
CQ_API const char *cq_weights_note(const cq_weights *w);

/* For functions that load weights into a model (cq_module_load_weights and others). */
enum {
    CQ_WEIGHTS_NOT_STRICT = 1 /* accept missing and unexpected keys, as strict=False does */
};

#ifdef __cplusplus
}
#endif

#endif
