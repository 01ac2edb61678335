/* Interface of the files that keep feature maps in blocks: images.c is the pass itself, with
 * convolutions and normalisations; image_rules.c has all other operators. */
#ifndef CQ_RUNTIME_FUSE_IMAGES_H
#define CQ_RUNTIME_FUSE_IMAGES_H

#include "runtime/fuse/build.h"
#include "runtime/kernels/blocked.h"

/* A convolution, or a normalisation alone, with the steps fused into it. */
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
    int64_t n_picked; /* channels of channel gathers */
    bool    knows;    /* values that depend on the number of channels may be constant now */
} cq_img_pass;

typedef struct cq_img_rule {
    const char *op;
    /* Gives the output its channels if the step can be blocked. */
    cq_status (*see)(cq_img_pass *p, cq_rt_node_step *s);
    cq_status (*write)(cq_img_pass *p, cq_rt_node_step *s);
} cq_img_rule;

extern const cq_img_rule cq_img_rules[]; /* ends with one without a name */

cq_status cq_img_see_conv(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_see_transposed(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_see_norm(cq_img_pass *p, cq_rt_node_step *s);

/* The same step on blocked feature maps; other inputs are unchanged. */
cq_status cq_img_write_same(cq_img_pass *p, cq_rt_node_step *s);

/* channel_gathers.c: channel gathers. */
cq_status cq_img_see_concat(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_see_slice(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_see_split(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_see_gather(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_see_reshape(cq_img_pass *p, cq_rt_node_step *s);
cq_status cq_img_write_pick(cq_img_pass *p, cq_rt_node_step *s);

/* ---- looking at steps ---- */

cq_tensor *cq_img_constant(const cq_rt_node_step *s, uint32_t i); /* input i if it is constant;
                                                                   * otherwise NULL */
cq_rt cq_img_attributes(const cq_rt_node_step *s);     /* a call that only has attributes */
bool  cq_img_has_one_output(const cq_rt_node_step *s); /* whether only output 0 is used */
bool  cq_img_is(const cq_rt_node_value *v);            /* an image that can be blocked */

bool cq_img_is_open(const cq_rt_fused *f); /* more can follow */

/* The fused step that the only reader of v can become part of, or NULL. */
cq_rt_fused *cq_img_open_end(const cq_rt_node_value *v);
void         cq_img_absorb(cq_rt_fused *f, cq_rt_node_step *s);

/* The limits of Relu or Clip; false: they are not constant. */
bool cq_img_limits(float *lo, float *hi, const cq_rt_node_step *s);

/* The number of window positions on a feature map, if known. */
void cq_img_see_positions(cq_rt_shape *out, const cq_rt_node_step *s, const cq_rt_shape *in,
                          const cq_tensor *weight);

/* ---- writing steps ---- */

/* A step at the end of those done, with the node and attributes of another. */
cq_rt_node_step *cq_img_step_new(cq_img_pass *p, const cq_rt_node_step *like, const cq_rt_row *row,
                                 uint32_t n_in);

/* v in blocks, or plain, for step at; inserts a conversion before it if necessary. */
cq_status cq_img_need_blocked(cq_rt_node_value **out, cq_img_pass *p, cq_rt_node_value *v,
                              const cq_rt_node_step *at, int64_t channels);
cq_status cq_img_need_plain(cq_img_pass *p, cq_rt_node_value *v, const cq_rt_node_step *at);

/* The blocked output of a step; the plain value v is not computed. */
cq_status cq_img_blocked_output(cq_rt_node_value **out, cq_img_pass *p, cq_rt_node_value *v);

/* Converts one layout to the other. */
cq_status cq_img_repack(cq_img_pass *p, const cq_rt_node_step *at, const cq_rt_row *row,
                        cq_rt_node_value *from, cq_rt_node_value *to, const cq_rt_repack *how);

#endif
