/* Every allocation of a complete sequence fails once: from source text or an archive through
 * capture and export to bytes, and from those through all operations on a model. Each step reports
 * CQ_E_NO_MEMORY or succeeds without that memory; the sanitized build detects leaks. */
#include "aten/core/op.h"
#include "base/alloc.h"
#include "onnx/model.h"

#include "test.h"

#include <calque/script.h>
#include <calque/session.h>
#include <calque/testcase.h>

#include <sys/wait.h>
#include <unistd.h>

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

/* Returns the number of allocations that failed, one at a time. */
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

static const char trained[] = "def forward(x, w):\n"
                              "    y = [torch.matmul(x, w), torch.relu(x) * w[0]]\n"
                              "    a, b = torch.cat(y, 0).chunk(2, 0)\n"
                              "    z = torch.stack([a, b, a * b], 0)\n"
                              "    z[0].add_(1.)\n"
                              "    z = torch.index_put(z, [torch.tensor([0])], w)\n"
                              "    c = torch.where(z.sum() > 0, z, -z).reshape([3, 4])\n"
                              "    for i in range(3):\n"
                              "        c = torch.layer_norm(c, [4]) + torch.softmax(c, 1)\n"
                              "    return c.transpose(0, 1).sum(0), torch.max(c, 1)[0]\n";

/* A tape notes each call: copies of arguments and results that hold lists, of views and of what
 * changes in place. */
static cq_status take_gradients(void *user)
{
    cq_tensor    **inputs = user, *out[2] = { NULL, NULL };
    cq_script     *s    = NULL;
    cq_args       *args = NULL;
    cq_gradients  *g    = NULL;
    cq_run_options options;
    size_t         n;
    cq_status      status = cq_script_compile(&s, trained, "sweep.py");

    cq_run_options_init(&options);
    if (status == CQ_OK)
        status = cq_args_new(&args);
    for (size_t i = 0; i < 2 && status == CQ_OK; i++)
        status = cq_args_add_tensor(args, inputs[i]);
    if (status == CQ_OK)
        status = cq_gradients_new(&g, NULL, 0);
    options.gradients = g;
    if (status == CQ_OK)
        status = cq_script_run_as(s, "forward", args, &options, out, 2, &n);
    cq_gradients_free(g);
    cq_tensor_release(out[0]);
    cq_tensor_release(out[1]);
    cq_args_free(args);
    cq_script_free(s);
    return status;
}

TEST(sweep, gradients_of_a_program)
{
    cq_tensor *inputs[2];

    for (size_t i = 0; i < 2; i++)
        CHECK_OK(cq_tensor_new(&inputs[i], CQ_DTYPE_F32, 2, (int64_t[]){ 2, 2 },
                               (float[]){ 1, 2, (float)i, 4 }));
    CHECK(sweep(take_gradients, inputs) > 300);
    cq_tensor_release(inputs[0]);
    cq_tensor_release(inputs[1]);
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

/* All operations on a loaded model. */
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

TEST(sweep, every_operation_on_a_model)
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

/* In a process that has built no table yet: one allocation fails, then everything works. */
static int fail_once(long at)
{
    float      numbers[] = { 1, 2, 3, 4 };
    cq_tensor *x, *inputs[2];
    encoded    e      = { 0 };
    cq_status  status = CQ_OK;

    if (cq_tensor_new(&x, CQ_DTYPE_F32, 1, (int64_t[]){ 2 }, numbers) != CQ_OK ||
        cq_tensor_new(&inputs[0], CQ_DTYPE_F32, 2, (int64_t[]){ 2, 2 }, numbers) != CQ_OK)
        return 2;
    inputs[1] = inputs[0];
    for (int again = 0; again < 2; again++) {
        cq_script     *s = NULL;
        cq_args       *args;
        cq_onnx_model *m = NULL;

        cq_alloc_fail_at(again ? 0 : at);
        status = take_gradients(inputs);
        if (status == CQ_OK || again)
            status = cq_script_compile(&s, program, "sweep.py");
        if (status == CQ_OK)
            status = cq_args_new(&args);
        if (status == CQ_OK)
            status = cq_args_add_tensor(args, x);
        if (status == CQ_OK)
            status = cq_script_export(&m, s, "forward", args, 0, NULL);
        if (status == CQ_OK)
            status = cq_onnx_model_encode(&e.bytes, &e.size, m);
        e.x = x;
        if (status == CQ_OK)
            status = use(&e);
        if (status != CQ_OK && (again || status != CQ_E_NO_MEMORY)) {
            print_error("allocation %ld, run %d: %s\n", at, again + 1, cq_last_error()->message);
            return 1;
        }
    }
    return 0;
}

TEST(sweep, a_failure_while_tables_are_built_does_not_last)
{
    for (long at = 1; at < 60000; at += at < 100 ? 7 : at / 12) {
        int   status = 0;
        pid_t child  = fork();

        CHECK(child >= 0);
        if (child == 0)
            _exit(fail_once(at)); /* without its leaks */
        CHECK_INT(child, waitpid(child, &status, 0));
        CHECK_INT(0, status);
    }
}

RUN_TESTS(TEST_OF(sweep, a_failure_while_tables_are_built_does_not_last),
          TEST_OF(sweep, the_table_of_operators), TEST_OF(sweep, from_source_text_to_bytes),
          TEST_OF(sweep, gradients_of_a_program), TEST_OF(sweep, reading_an_archive),
          TEST_OF(sweep, every_operation_on_a_model))
