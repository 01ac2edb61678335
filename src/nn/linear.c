/* Linear, Bilinear, Embedding. */
#include "nn/check.h"
#include "nn/init.h"

#include <calque/layers.h>

typedef struct linear {
    cq_tensor *weight, *bias;
} linear;

static cq_tensor *linear_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    linear *m = self;

    return cq_linear(cx, x, m->weight, m->bias);
}

/* A weight whose first size is out, and a bias for each of these. */
static cq_module *linear_new(const cq_class *cls, size_t rank, const int64_t *sizes, bool bias)
{
    const double bound = cq_init_bound((double)sizes[1]);
    cq_module   *m     = cq_module_new(cls);
    linear      *self  = cq_module_self(m);

    if (!m)
        return NULL;
    self->weight = cq_module_add_parameter(m, "weight", cq_init_uniform(rank, sizes, bound));
    self->bias = cq_module_add_parameter(m, "bias", bias ? cq_init_uniform(1, sizes, bound) : NULL);
    return cq_module_or_free(m, self->weight && (!bias || self->bias));
}

CQ_API cq_module *cq_linear_new(int64_t in, int64_t out, bool bias)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "Linear", .self_size = sizeof(linear),
                                  .forward = linear_forward };

    if (!cq_check_least("Linear", "in", in, 0) || !cq_check_least("Linear", "out", out, 0))
        return NULL;
    return linear_new(&cls, 2, (int64_t[]){ out, in }, bias);
}

static void bilinear_forward(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in,
                             cq_tensor **out, size_t n_out)
{
    linear *m = self;

    if (n_in == 2 && n_out)
        out[0] = CQ_OP(cx, "aten::bilinear", TENSOR(in[0]), TENSOR(in[1]), TENSOR(m->weight),
                       TENSOR(m->bias));
}

CQ_API cq_module *cq_bilinear_new(int64_t in1, int64_t in2, int64_t out, bool bias)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "Bilinear",
                                  .self_size = sizeof(linear), .forward_n = bilinear_forward };

    if (!cq_check_least("Bilinear", "in1", in1, 1) || !cq_check_least("Bilinear", "in2", in2, 0) ||
        !cq_check_least("Bilinear", "out", out, 0))
        return NULL;
    return linear_new(&cls, 3, (int64_t[]){ out, in1, in2 }, bias);
}

typedef struct embedding {
    cq_tensor *weight;
    int64_t    padding_idx;
} embedding;

static cq_tensor *embedding_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    embedding *m = self;

    return CQ_OP(cx, "aten::embedding", TENSOR(m->weight), TENSOR(x), INT(m->padding_idx));
}

CQ_API cq_module *cq_embedding_new_padded(int64_t count, int64_t size, int64_t padding_idx)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "Embedding",
                                  .self_size = sizeof(embedding), .forward = embedding_forward };
    cq_module            *m;
    embedding            *self;

    if (!cq_check_least("Embedding", "count", count, 0) ||
        !cq_check_least("Embedding", "size", size, 0))
        return NULL;
    if (padding_idx < -1 || padding_idx >= count) {
        cq_check_failed("Embedding",
                        "expected padding_idx less than %lld, or -1 for none, got %lld",
                        (long long)count, (long long)padding_idx);
        return NULL;
    }
    m    = cq_module_new(&cls);
    self = cq_module_self(m);
    if (!m)
        return NULL;
    self->padding_idx = padding_idx;
    self->weight =
        cq_module_add_parameter(m, "weight", cq_init_normal(2, (int64_t[]){ count, size }, 0, 1));
    if (!self->weight) {
        cq_module_free(m);
        return NULL;
    }
    if (padding_idx >= 0)
        memset(cq_tensor_bytes(self->weight) + padding_idx * size * 4, 0, (size_t)size * 4);
    return m;
}

CQ_API cq_module *cq_embedding_new(int64_t count, int64_t size)
{
    return cq_embedding_new_padded(count, size, -1);
}
