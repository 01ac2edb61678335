/* Every allocation of a whole journey fails once: from source text or an archive through a capture
 * and an export to bytes, and from those through all that is done with a model. Each step says that
 * there is no memory, or manages without; the sanitized build sees that nothing is lost. */
#include "aten/op.h"
#include "base/alloc.h"
#include "onnx/model.h"

#include "test.h"

#include <calque/script.h>
#include <calque/session.h>
#include <calque/testcase.h>

static const char program[] = "def part(x, n: int):\n"
                              "    return [x * float(i) for i in range(n)]\n"
                              "def forward(x):\n"
                              "    y = part(x, 3)\n"
                              "    d = {'a': x, 'b': torch.relu(x)}\n"
                              "    s = 'a' + 'b'\n"
                              "    y.append(d['b'])\n"
                              "    if bool(x.sum() > 0):\n"
                              "        z = torch.cat(y, 0)\n"
                              "    else:\n"
                              "        z = torch.stack(y, 0).flatten(0, 1)\n"
                              "    i = 0\n"
                              "    while bool(z.sum() < 10) and i < 5:\n"
                              "        z = z + 1\n"
                              "        i = i + 1\n"
                              "    x[0] = 1.\n"
                              "    return z.view(-1, 2).transpose(0, 1) + d['a'].sum() + x.sum()\n";

typedef cq_status journey(void *user);

/* How many allocations there were to fail. */
static long sweep(journey *go, void *user)
{
    cq_status status = CQ_E_NO_MEMORY;
    long      n = 0, left = 0, bad = 0;

    while (status != CQ_OK || left == 0) {
        cq_alloc_fail_at(++n);
        status = go(user);
        left   = cq_alloc_fail_at(0);
        if (status != CQ_OK && status != CQ_E_NO_MEMORY)
            print_error("allocation %ld: %s (%s)\n", n, cq_last_error()->message,
                        cq_last_error()->where);
        bad += status != CQ_OK && status != CQ_E_NO_MEMORY;
        CHECK(n < 100000);
    }
    CHECK_INT(0, bad);
    return n;
}

static cq_status build_table(void *user)
{
    (void)user;
    return cq_ops_ready();
}

TEST(sweep, the_table_of_operators)
{
    CHECK(sweep(build_table, NULL) > 10);
    CHECK(cq_op_find("aten::relu"));
}

static cq_status export(void *user)
{
    cq_tensor     *x = user, *out[1] = { NULL };
    cq_script     *s     = NULL;
    cq_args       *args  = NULL;
    cq_onnx_model *m     = NULL;
    void          *bytes = NULL;
    size_t         n, size;
    cq_status      status = cq_script_compile(&s, program, "sweep.py");

    if (status == CQ_OK)
        status = cq_args_new(&args);
    if (status == CQ_OK)
        status = cq_args_add_tensor(args, x);
    if (status == CQ_OK)
        status = cq_script_run(s, "forward", args, out, 1, &n);
    if (status == CQ_OK)
        status = cq_script_export(&m, s, "forward", args, 0, NULL);
    if (status == CQ_OK)
        status = cq_onnx_model_encode(&bytes, &size, m);
    cq_buffer_free(bytes);
    cq_onnx_model_free(m);
    cq_tensor_release(out[0]);
    cq_args_free(args);
    cq_script_free(s);
    return status;
}

TEST(sweep, from_source_text_to_bytes)
{
    cq_tensor *x;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 1, (int64_t[]){ 2 }, (float[]){ 1, 2 }));
    CHECK(sweep(export, x) > 300);
    cq_tensor_release(x);
}

static cq_status load(void *path)
{
    cq_script *s      = NULL;
    cq_status  status = cq_script_load(&s, path);

    cq_script_free(s);
    return status;
}

TEST(sweep, reading_an_archive)
{
    CHECK(sweep(load, CQ_TEST_DATA "/shared_lists.pt") > 100);
}

static bool discard(void *user, const char *text, size_t size)
{
    (void)user, (void)text, (void)size;
    return true;
}

typedef struct encoded {
    void      *bytes;
    size_t     size;
    cq_tensor *x;
} encoded;

/* All that is done with a model that is read. */
static cq_status use(void *user)
{
    const encoded    *e = user;
    cq_onnx_model    *a = NULL, *b = NULL;
    cq_onnx_findings *found = NULL, *differs = NULL;
    cq_session       *s      = NULL;
    cq_tensor        *y      = NULL;
    char             *text   = NULL;
    cq_status         status = cq_onnx_model_decode(&a, e->bytes, e->size);

    if (status == CQ_OK)
        status = cq_onnx_model_decode(&b, e->bytes, e->size);
    if (status == CQ_OK)
        status = cq_onnx_model_check(&found, a);
    if (status == CQ_OK)
        status = cq_onnx_model_infer(a, 0);
    if (status == CQ_OK)
        status = cq_onnx_model_print(&text, a);
    if (status == CQ_OK)
        status = cq_onnx_model_write_text(a, discard, NULL);
    if (status == CQ_OK)
        status = cq_onnx_model_diff(&differs, a, b, 0, 0);
    if (status == CQ_OK)
        status = cq_session_prepare(&s, a, NULL);
    if (status == CQ_OK)
        status = cq_session_run_tensors(s, &e->x, 1, &y, 1);
    if (status == CQ_OK)
        status = cq_onnx_model_strip(b, NULL);
    cq_tensor_release(y);
    cq_session_free(s);
    cq_buffer_free(text);
    cq_onnx_findings_free(found);
    cq_onnx_findings_free(differs);
    cq_onnx_model_free(a);
    cq_onnx_model_free(b);
    return status;
}

TEST(sweep, whatever_is_done_with_a_model)
{
    encoded        e;
    cq_script     *s;
    cq_args       *args;
    cq_onnx_model *m;

    CHECK_OK(cq_tensor_new(&e.x, CQ_DTYPE_F32, 1, (int64_t[]){ 2 }, (float[]){ 1, 2 }));
    CHECK_OK(cq_script_compile(&s, program, "sweep.py"));
    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, e.x));
    CHECK_OK(cq_script_export(&m, s, "forward", args, 0, NULL));
    CHECK_OK(cq_onnx_model_encode(&e.bytes, &e.size, m));
    CHECK(sweep(use, &e) > 500);
    cq_buffer_free(e.bytes);
    cq_onnx_model_free(m);
    cq_args_free(args);
    cq_script_free(s);
    cq_tensor_release(e.x);
}

RUN_TESTS(TEST_OF(sweep, the_table_of_operators), TEST_OF(sweep, from_source_text_to_bytes),
          TEST_OF(sweep, reading_an_archive), TEST_OF(sweep, whatever_is_done_with_a_model))
