/* Interface of the files that keep feature maps in the blocked layout: images.c has the pass,
 * convolutions and normalisations; image_rules.c has all other operators. */
#ifndef CQ_RUNTIME_FUSE_IMAGES_H
#define CQ_RUNTIME_FUSE_IMAGES_H

#include "runtime/fuse/build.h"
#include "runtime/kernels/blocked.h"

/* A convolution, or a single normalisation, with the steps that are fused into it. */
struct cq_rt_fused {
    cq_rt_node_step  *conv, *norm, *last;
    bool              is_transposed;
    cq_rt_node_value *add;
    bool              clamps;
    float             lo, hi;
    bool              activates;
    cq_ew_op          act;
    cq_params         act_params;
    const char       *act_name;
};

typedef struct cq_img_pass {
    cq_rt_builder *b;
    cq_rt_plan    *plan;
    CQ_VEC(cq_rt_node_step *) done;
    int64_t n_gathered; /* channels in all channel gathers */
    bool    knows;      /* values that depend on the number of channels may have become constant */
} cq_img_pass;

typedef struct cq_img_rule {
    const char *op;
    /* Sets the channels of the output if the step can be blocked. */
    cq_status (*see)(cq_img_pass *p, cq_rt_node_step *s);
    cq_status (*write)(cq_img_pass *p, cq_rt_node_step *s);
} cq_img_rule;

extern const cq_img_rule cq_img_rules[]; /* terminated by a rule without a name */

cq_status cq_img_see_conv(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_see_transposed(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_see_norm(cq_img_pass *p, cq_rt_node_step *s);

/* Replaces a step by the same one on blocked feature maps; other inputs are unchanged. */
cq_status cq_img_write_same(cq_img_pass *p, cq_rt_node_step *s);

/* channel_gathers.c */
cq_status cq_img_see_concat(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_see_slice(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_see_split(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_see_gather(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_see_reshape(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_write_gather(cq_img_pass *p, cq_rt_node_step *s);

/* ---- matching ---- */

cq_tensor *cq_img_constant(const cq_rt_node_step *s, uint32_t i); /* input i if it is constant;
                                                                   * otherwise NULL */
cq_rt cq_img_attributes(const cq_rt_node_step *s);                /* a call without inputs, to read
                                                                   * attributes */
bool cq_img_has_one_output(const cq_rt_node_step *s); /* whether only output 0 is used */
bool cq_img_is(const cq_rt_node_value *v);            /* whether it is a feature map that can be
                                                       * blocked */

bool cq_img_is_open(const cq_rt_fused *f); /* whether more steps can be fused into it */

/* The fused step that the only reader of v can be fused into, or NULL. */
cq_rt_fused *cq_img_open_end(const cq_rt_node_value *v);
void         cq_img_absorb(cq_rt_fused *f, cq_rt_node_step *s);

/* The limits of Relu or Clip; false if they are not constant. */
bool cq_img_limits(float *lo, float *hi, const cq_rt_node_step *s);

/* The number of window positions on a feature map, if its size is known. */
void cq_img_see_positions(cq_rt_shape *out, const cq_rt_node_step *s, const cq_rt_shape *in,
                          const cq_tensor *weight);

/* ---- rewriting ---- */

/* Appends a step with the node and attributes of another. */
cq_rt_node_step *cq_img_step_new(cq_img_pass *p, const cq_rt_node_step *like, const cq_rt_row *row,
                                 uint32_t n_in);

/* Returns v in the blocked, or plain, layout for step at; inserts a conversion before it if
 * necessary. */
cq_status cq_img_need_blocked(cq_rt_node_value **out, cq_img_pass *p, cq_rt_node_value *v,
                              const cq_rt_node_step *at, int64_t channels);
cq_status cq_img_need_plain(cq_img_pass *p, cq_rt_node_value *v, const cq_rt_node_step *at);

/* The blocked output of a step; the plain value v is not computed. */
cq_status cq_img_blocked_output(cq_rt_node_value **out, cq_img_pass *p, cq_rt_node_value *v);

/* Inserts a conversion between the layouts. */
cq_status cq_img_repack(cq_img_pass *p, const cq_rt_node_step *at, const cq_rt_row *row,
                        cq_rt_node_value *from, cq_rt_node_value *to, const cq_rt_repack *how);

#endif
