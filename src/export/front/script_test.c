/* TorchScript from C: compiled from text, called with tensors and numbers, exported, and called
 * inside of a model that is traced. */
#include "base/str.h"
#include "models.h"

#include <stdio.h>
#include <calque/script.h>
#include <calque/session.h>

#define LOOP                                                                                       \
    "def sum_of(x, y):\n"                                                                          \
    "    for i in range(int(y)):\n"                                                                \
    "        x = x + i\n"                                                                          \
    "    return x\n"

static cq_tensor *vector(float first, float second)
{
    cq_tensor *t = NULL;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, 1, (int64_t[]){ 2 }, (float[]){ first, second }));
    return t;
}

static cq_tensor *number(int64_t n)
{
    cq_tensor *t = NULL;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_I64, 0, NULL, &n));
    return t;
}

static cq_script *compile(const char *text)
{
    cq_script *s = NULL;

    CHECK_OK(cq_script_compile(&s, text, "test.py"));
    return s;
}

/* The second element of the only output, for inputs that are released. */
static float run_model(const cq_onnx_model *m, cq_tensor *x, cq_tensor *y)
{
    cq_tensor  *in[2] = { x, y }, *out = NULL;
    cq_session *session;
    float       second;

    CHECK_OK(cq_session_prepare(&session, m, NULL));
    CHECK_OK(cq_session_run_tensors(session, in, 2, &out, 1));
    second = ((float *)cq_tensor_data(out))[1];
    cq_tensor_release(out);
    cq_session_free(session);
    cq_tensor_release(x);
    cq_tensor_release(y);
    return second;
}

static size_t count_ops(const cq_onnx_model *m, const char *op)
{
    size_t n = 0;

    for (size_t i = 0; i < m->graph->node.n; i++)
        n += strcmp(m->graph->node.items[i]->op_type, op) == 0;
    return n;
}

TEST(script, functions_run_on_tensors_and_numbers)
{
    cq_script *s = compile("def scaled(x, n: int, f: float = 0.5):\n    return x * n + f, n\n");
    cq_tensor *x = vector(1, 2), *out[2];
    cq_args   *args;
    size_t     n;

    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_args_add_i64(args, 3));
    CHECK_OK(cq_script_run(s, "scaled", args, out, 2, &n));
    CHECK_INT(2, n);
    CHECK(((float *)cq_tensor_data(out[0]))[1] == 6.5f);
    CHECK_INT(3, ((int64_t *)cq_tensor_data(out[1]))[0]);
    for (int i = 0; i < 2; i++)
        cq_tensor_release(out[i]);
    CHECK_OK(cq_args_add_f64(args, 4));
    CHECK_OK(cq_script_run(s, NULL, args, out, 1, &n)); /* the only function there is */
    CHECK(((float *)cq_tensor_data(out[0]))[0] == 7);
    cq_tensor_release(out[0]);
    cq_args_free(args);
    cq_tensor_release(x);
    cq_script_free(s);
}

TEST(script, a_loop_on_data_is_exported_as_a_loop)
{
    cq_script        *s = compile(LOOP);
    cq_tensor        *x = vector(1, 2), *y = number(2);
    cq_export_options o = options_of(17);
    cq_onnx_model    *m = NULL;
    cq_args          *args;

    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_args_add_tensor(args, y));
    CHECK_OK(cq_script_export(&m, s, "sum_of", args, 0, &o));
    CHECK_INT(1, count_ops(m, "Loop"));
    CHECK(run_model(m, vector(0, 10), number(4)) == 16);
    CHECK(run_model(m, vector(0, 10), number(0)) == 10);
    cq_onnx_model_free(m);
    CHECK_OK(cq_script_export(&m, s, "sum_of", args, CQ_SCRIPT_TRACE, &o));
    CHECK_INT(0, count_ops(m, "Loop")); /* the example decided: two iterations */
    CHECK(run_model(m, vector(0, 10), number(7)) == 11);
    cq_onnx_model_free(m);
    cq_args_free(args);
    cq_tensor_release(x);
    cq_tensor_release(y);
    cq_script_free(s);
}

/* The loop of PyTorch's documentation, in C: it is unrolled in the graph. */
static void plain_forward(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in,
                          cq_tensor **out, size_t n_out)
{
    cq_tensor *x = in[0];
    int64_t    n = cq_item_i64(cx, in[1]);

    (void)self;
    (void)n_in;
    (void)n_out;
    for (int64_t i = 0; i < n; i++)
        x = cq_add_scalar(cx, x, (double)i);
    out[0] = x;
}

struct with_script {
    cq_script *script;
};

/* And scripted: it stays a loop in a traced model. */
static void scripted_forward(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in,
                             cq_tensor **out, size_t n_out)
{
    struct with_script *m       = self;
    cq_tensor          *doubled = cq_mul_scalar(cx, in[0], 2);

    (void)n_out;
    out[0] = cq_neg(
        cx, cq_script_call(cx, m->script, "sum_of", (cq_tensor *[]){ doubled, in[1] }, n_in));
}

static const cq_class plain_class    = { CQ_SIZED(cq_class), .name = "Plain",
                                         .forward_n = plain_forward, .n_out = 1 };
static const cq_class scripted_class = { CQ_SIZED(cq_class), .name = "Scripted",
                                         .self_size = sizeof(struct with_script),
                                         .forward_n = scripted_forward, .n_out = 1 };

TEST(script, a_traced_model_unrolls_its_own_loop_and_keeps_a_scripted_one)
{
    cq_module *plain = bare_net_new(&plain_class), *scripted = bare_net_new(&scripted_class);
    struct with_script *self  = cq_module_self(scripted);
    cq_tensor          *in[2] = { vector(1, 2), number(3) }, *out = NULL;
    cq_export_options   o = options_of(17);
    cq_onnx_model      *m = NULL;

    self->script = compile(LOOP);
    CHECK_OK(cq_module_export(&m, plain, in, 2, &o));
    CHECK_INT(0, count_ops(m, "Loop"));
    CHECK_INT(3, count_ops(m, "Add"));
    cq_onnx_model_free(m);

    CHECK_OK(cq_module_export(&m, scripted, in, 2, &o));
    CHECK_INT(1, count_ops(m, "Loop"));
    CHECK(run_model(m, vector(0, 5), number(4)) == -16);
    CHECK(run_model(m, vector(0, 5), number(0)) == -10);
    cq_onnx_model_free(m);

    CHECK_OK(cq_module_run(scripted, in, 2, &out, 1)); /* the same on data */
    CHECK(((float *)cq_tensor_data(out))[1] == -7);
    cq_tensor_release(out);
    cq_script_free(self->script);
    cq_module_free(plain);
    cq_module_free(scripted);
    cq_tensor_release(in[0]);
    cq_tensor_release(in[1]);
}

TEST(script, a_failure_inside_of_a_forward_is_kept_in_the_context)
{
    cq_script *s = compile("def two(x):\n    return x, x\n"
                           "def bad(x):\n    return x + nothing\n");
    cq_tensor *x = vector(1, 2);
    cq_ctx    *cx;

    CHECK_OK(cq_ctx_new(&cx));
    CHECK(cq_script_call(cx, s, "two", &x, 1) == NULL);
    CHECK_STATUS(CQ_E_ARGUMENT, cq_ctx_status(cx));
    CHECK_STR("returned 2 tensors, expected 1", cq_last_error()->message);
    cq_ctx_free(cx);
    CHECK_OK(cq_ctx_new(&cx));
    CHECK(cq_script_call(cx, s, "bad", &x, 1) == NULL);
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_ctx_status(cx));
    CHECK(cq_neg(cx, x) == NULL); /* later calls fall through */
    cq_ctx_free(cx);
    cq_tensor_release(x);
    cq_script_free(s);
}

static cq_status export_text(cq_onnx_model **m, const char *text, int opset)
{
    cq_script        *s = compile(text);
    cq_tensor        *x = vector(1, 2), *y = number(2);
    cq_export_options o = options_of(opset);
    cq_args          *args;
    cq_status         status;

    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_args_add_tensor(args, y));
    status = cq_script_export(m, s, NULL, args, 0, &o);
    cq_args_free(args);
    cq_tensor_release(x);
    cq_tensor_release(y);
    cq_script_free(s);
    return status;
}

TEST(script, lists_that_grow_in_loops_are_sequences_since_opset_13)
{
    static const char text[] = "def f(x, n):\n"
                               "    rows = [x]\n"
                               "    for i in range(int(n)):\n"
                               "        rows.append(x + i)\n"
                               "    return rows[-1]\n";
    cq_onnx_model    *m      = NULL;

    CHECK_OK(export_text(&m, text, 13));
    CHECK(run_model(m, vector(0, 10), number(6)) == 15);
    cq_onnx_model_free(m);
    CHECK_STATUS(CQ_E_UNSUPPORTED, export_text(&m, text, 12));
    CHECK_STR("a loop returns a list of data-dependent length, which opset 12 does not support",
              cq_last_error()->message);
    CHECK_STR("use opset 13 or newer", cq_last_error()->hint);
    CHECK(m == NULL);
}

TEST(script, lists_appended_in_every_iteration_need_no_sequences)
{
    static const char text[] =
        "def f(x, n):\n"
        "    rows = []\n"
        "    sums = []\n"
        "    y = x\n"
        "    for i in range(int(n)):\n"
        "        y = y + i\n"
        "        rows.append(y * 2)\n"
        "        sums.append(y.sum())\n"
        "    return x + torch.stack(rows, 1).sum(1)[0] + torch.cat(rows).sum() + "
        "torch.stack(sums).sum()\n";

    for (int opset = 9; opset <= 17; opset++) {
        cq_onnx_model *m = NULL;

        CHECK_OK(export_text(&m, text, opset)); /* with 2 iterations */
        /* x is 0, 10; y is x, x + 1, x + 3 */
        CHECK(run_model(m, vector(0, 10), number(3)) == 10 + 2 * 4 + 2 * 38 + 38);
        cq_onnx_model_free(m);
    }
}

TEST(script, lists_whose_items_differ_in_size_come_out_of_loops_since_opset_13)
{
    static const char text[] = "def f(x, n):\n"
                               "    rows = []\n"
                               "    for i in range(int(n)):\n"
                               "        rows.append(x[:i])\n"
                               "    return x + torch.cat(rows).sum()\n";
    cq_onnx_model    *m      = NULL;

    CHECK_STATUS(CQ_E_UNSUPPORTED, export_text(&m, text, 12));
    CHECK_OK(export_text(&m, text, 13));
    CHECK(run_model(m, vector(3, 10), number(3)) == 10 + 3 + 3 + 10);
    cq_onnx_model_free(m);
}

/* ONNX Runtime rejects it when it loads the model or when a run takes the other branch. */
TEST(script, sides_of_a_branch_differ_in_shape_since_opset_11)
{
    static const char *const others[] = { "x[:1]", "x.unsqueeze(0)", "x[x > 0]" };
    char                     text[160];

    for (size_t i = 0; i < 3; i++) {
        cq_onnx_model *m = NULL;

        snprintf(text, sizeof text,
                 "def f(x, n):\n    y = x\n    if x.sum() < 0:\n        y = %s\n"
                 "    return x + y.sum()\n",
                 others[i]);
        CHECK_STATUS(CQ_E_UNSUPPORTED, export_text(&m, text, 10));
        CHECK_STR("the branches of an if return tensors of different shapes, which opset 10 does "
                  "not support",
                  cq_last_error()->message);
        CHECK_OK(export_text(&m, text, 11));
        cq_onnx_model_free(m);
    }
}

TEST(script, unsupported_constructs_are_refused_with_their_location)
{
    cq_onnx_model *m = NULL;

    CHECK_STATUS(CQ_E_UNSUPPORTED, export_text(&m,
                                               "def f(x, n):\n"
                                               "    name = \"a\"\n"
                                               "    for i in range(int(n)):\n"
                                               "        name = name + \"b\"\n"
                                               "    return x * len(name)\n",
                                               17));
    CHECK_STR("a string changes in a loop of unknown length", cq_last_error()->message);
    CHECK(strstr(cq_last_error()->where, "test.py:3:5") != NULL);
    CHECK_STATUS(CQ_E_TYPE, export_text(&m,
                                        "def f(x, n):\n"
                                        "    if x.sum() > 0:\n"
                                        "        y = x\n"
                                        "    else:\n"
                                        "        y = \"none\"\n"
                                        "    return y\n",
                                        17));
    CHECK(strstr(cq_last_error()->message, "incompatible values") != NULL);
    CHECK(strstr(cq_last_error()->where, "test.py:6:12") != NULL);
}

/* ---- a module of source text ---- */

#define NET                                                                                        \
    "class Linear(Module):\n"                                                                      \
    "    __parameters__ = [\"weight\"]\n"                                                          \
    "    weight : Tensor\n"                                                                        \
    "    def forward(self, x):\n"                                                                  \
    "        return x * self.weight\n"                                                             \
    "class Net(Module):\n"                                                                         \
    "    fc : Linear\n"                                                                            \
    "    scale : float\n"                                                                          \
    "    training : bool\n"                                                                        \
    "    def forward(self, x):\n"                                                                  \
    "        y = self.fc(x) * self.scale\n"                                                        \
    "        return -y if self.training else y\n"                                                  \
    "    def twice(self, x):\n"                                                                    \
    "        return half(self.forward(x) * 4)\n"                                                   \
    "def half(x):\n"                                                                               \
    "    return x / 2\n"

static float second_of(cq_script *s, const char *method, cq_tensor *x)
{
    cq_args   *args;
    cq_tensor *out = NULL;
    size_t     n;
    float      second;

    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_script_run(s, method, args, &out, 1, &n));
    second = ((float *)cq_tensor_data(out))[1];
    cq_tensor_release(out);
    cq_args_free(args);
    return second;
}

static size_t count_nodes(const cq_onnx_graph *g, size_t depth, size_t *deepest)
{
    size_t n = g->node.n;

    *deepest = depth > *deepest ? depth : *deepest;
    for (size_t i = 0; i < g->node.n; i++)
        for (size_t k = 0; k < g->node.items[i]->attribute.n; k++)
            if (g->node.items[i]->attribute.items[k]->g)
                n += count_nodes(g->node.items[i]->attribute.items[k]->g, depth + 1, deepest);
    return n;
}

/* The nodes of a program with that many early returns, and the nesting depth of its graphs. */
static size_t nodes_of_guards(int n, const char *guard, size_t *deepest)
{
    cq_str         text = { 0 };
    cq_onnx_model *m    = NULL;
    cq_tensor     *x    = vector(1, 2);
    cq_args       *args;
    cq_script     *s;
    size_t         nodes;

    cq_str_add(&text, "def forward(x):\n    y = x\n");
    for (int i = 0; i < n; i++)
        cq_str_add(&text, guard);
    cq_str_add(&text, "    return y\n");
    s = compile(text.text);
    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_script_export(&m, s, NULL, args, 0, NULL));
    *deepest = 0;
    nodes    = count_nodes(m->graph, 0, deepest);
    cq_onnx_model_free(m);
    cq_args_free(args);
    cq_script_free(s);
    cq_tensor_release(x);
    cq_str_clear(&text);
    return nodes;
}

TEST(script, early_returns_are_exported_in_proportion)
{
    static const char *const guards[] = {
        "    if bool(y.sum() > 9):\n        return y\n    y = y + 1\n",
        "    if bool(y.sum() > 9):\n        if bool(y.min() > 1):\n            return y\n"
        "        y = y + 1\n",
        "    if bool(y.sum() < 9):\n        y = y + 1\n    else:\n"
        "        if bool(y.min() > 1):\n            return y * 2\n",
    };

    for (size_t i = 0; i < sizeof guards / sizeof *guards; i++) {
        size_t deep, n = nodes_of_guards(100, guards[i], &deep);

        CHECK(deep < 30); /* readers of protobuf take 33 */
        CHECK(n < 3 * nodes_of_guards(50, guards[i], &deep));
    }
}

/* Loops inside of each other that carry tensors of other sizes, numbers, lists that are made
 * outside and inside, and a tensor that is changed in place. */
TEST(script, nested_loops_on_data_are_explored_in_proportion)
{
    cq_str         text = { 0 };
    cq_onnx_model *m    = NULL;
    cq_tensor     *x    = vector(1, 2);
    cq_args       *args;
    cq_script     *s;

    cq_str_add(&text, "def forward(x):\n y = x\n n = 0\n l: List[Tensor] = []\n"
                      " m: List[Tensor] = []\n z = torch.zeros(3)\n");
    for (int i = 1; i <= 12; i++)
        cq_str_printf(&text,
                      "%*swhile bool(y.sum() < %d):\n%*sy = torch.cat([y, y])\n%*sn += 1\n"
                      "%*sl.append(y)\n%*sm.append(y + n)\n%*sm = [y]\n%*sz.add_(1)\n"
                      "%*sz = torch.zeros(3)\n",
                      i, "", 20 - i, i + 1, "", i + 1, "", i + 1, "", i + 1, "", i + 1, "", i + 1,
                      "", i + 1, "");
    cq_str_add(&text, " return y + n + len(l) + len(m) + z.sum()\n");
    s = compile(text.text);
    cq_script_set_limits(s, 2000000, 0); /* 3^12 iterations would take millions */
    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_script_export(&m, s, NULL, args, 0, NULL));
    cq_onnx_model_free(m);
    cq_args_free(args);
    cq_script_free(s);
    cq_tensor_release(x);
    cq_str_clear(&text);
}

TEST(script, a_list_is_copied_once_for_all_changes_in_a_branch)
{
    cq_script     *s = compile("def forward(x):\n    l = [0 for i in range(1000)]\n    l = l * 20\n"
                                   "    d = {i: i for i in range(1000)}\n"
                                   "    if bool(x.sum() > 0):\n        for i in range(1000):\n"
                                   "            l[0] = i\n            d[5] = i\n"
                                   "    return x + l[0] + d[5]\n");
    cq_onnx_model *m = NULL;
    cq_tensor     *x = vector(1, 2);
    cq_args       *args;

    cq_script_set_limits(s, 0, 50 << 20); /* a copy for each would be 500 MB */
    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_script_export(&m, s, NULL, args, 0, NULL));
    cq_onnx_model_free(m);
    cq_args_free(args);
    cq_script_free(s);
    cq_tensor_release(x);
}

TEST(script, a_module_is_made_of_a_class_and_given_its_weights)
{
    cq_script        *s = compile(NET);
    cq_tensor        *x = vector(1, 2), *w = vector(3, 4), *v = vector(5, 6);
    cq_args          *args;
    cq_onnx_model    *first, *other;
    cq_export_options o;

    CHECK_STATUS(CQ_E_ARGUMENT, cq_script_set_tensor(s, "fc.weight", w));
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_script_make_module(s, "None_such"));
    CHECK_OK(cq_script_make_module(s, "Net"));
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_script_set_tensor(s, "head.weight", w));
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_script_set_tensor(s, "fc.bias", w));
    CHECK_OK(cq_script_set_tensor(s, "fc.weight", w));
    CHECK_OK(cq_script_set_f64(s, "scale", 0.5));
    CHECK(second_of(s, NULL, x) == 4);
    CHECK(second_of(s, "twice", x) == 8);
    CHECK(second_of(s, "half", x) == 1); /* the functions can still be called */

    CHECK_OK(cq_args_new(&args)); /* exported twice, with other options and another weight */
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_script_export(&first, s, NULL, args, 0, NULL));
    CHECK_INT(1, first->graph->initializer.n >= 1);
    CHECK_STR("fc.weight", first->graph->initializer.items[0]->name);
    CHECK_OK(cq_script_set_tensor(s, "fc.weight", v));
    cq_export_options_init(&o);
    o.opset = 11;
    CHECK_OK(cq_script_export(&other, s, "twice", args, 0, &o));
    CHECK_INT(17, first->opset_import.items[0]->version);
    CHECK_INT(11, other->opset_import.items[0]->version);
    CHECK(second_of(s, NULL, x) == 6);
    CHECK_OK(cq_script_set_bool(s, "training", true));
    CHECK(second_of(s, NULL, x) == -6);
    cq_onnx_model_free(first);
    cq_onnx_model_free(other);
    cq_args_free(args);
    cq_tensor_release(x);
    cq_tensor_release(w);
    cq_tensor_release(v);
    cq_script_free(s);
}

/* ONNX Runtime would make one node of them, and pad with -inf instead of 0. */
/* The branch returns the convolution with the folded normalization. */
TEST(script, a_normalization_that_a_branch_returns_is_merged)
{
    cq_script     *s = compile("def forward(x, y):\n"
                                   "    x = x.reshape(1, 1, 1, 2)\n"
                                   "    one = torch.ones(1)\n"
                                   "    if y > 0:\n"
                                   "        z = torch.conv2d(x, torch.full((1, 1, 1, 1), 5.0))\n"
                                   "        z = torch.batch_norm(z, one * 3, one, one, one, False, 0.1, "
                                   "0.0, False)\n"
                                   "    else:\n"
                                   "        z = x * 7\n"
                                   "    return z.reshape(2)\n");
    cq_tensor     *x = vector(1, 2), *y = number(1);
    cq_args       *args;
    cq_onnx_model *m;

    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_args_add_tensor(args, y));
    CHECK_OK(cq_script_export(&m, s, "forward", args, 0, NULL));
    CHECK(run_model(m, vector(1, 2), number(1)) == 28.0f);
    CHECK(run_model(m, vector(1, 2), number(-1)) == 14.0f);
    cq_onnx_model_free(m);
    cq_args_free(args);
    cq_tensor_release(x);
    cq_tensor_release(y);
    cq_script_free(s);
}

/* ONNX Runtime's fusion of Transpose and MatMul is wrong for vectors. */
TEST(script, a_transposed_matrix_by_a_vector_is_the_vector_by_the_matrix)
{
    static const float       elements[] = { 1, 2, 3, 4 };
    static const char *const texts[]    = { "def f(v, m):\n    return m.t() @ v\n",
                                            "def f(v, m):\n    w = m.t()\n    return w @ v + w[0]\n" };
    cq_export_options        o          = options_of(17);

    for (size_t i = 0; i < 2; i++) {
        cq_script     *s = compile(texts[i]);
        cq_tensor     *v = vector(1, 10), *m = NULL;
        cq_onnx_model *made = NULL;
        cq_args       *args;

        CHECK_OK(cq_tensor_new(&m, CQ_DTYPE_F32, 2, (int64_t[]){ 2, 2 }, elements));
        CHECK_OK(cq_args_new(&args));
        CHECK_OK(cq_args_add_tensor(args, v));
        CHECK_OK(cq_args_add_tensor(args, m));
        CHECK_OK(cq_script_export(&made, s, NULL, args, 0, &o));
        CHECK_INT(i, count_ops(made, "Transpose")); /* the second text has another use of it */
        CHECK(run_model(made, v, m) == (i ? 45 : 42));
        cq_onnx_model_free(made);
        cq_args_free(args);
        cq_script_free(s);
    }
}

TEST(script, a_max_pool_is_kept_apart_from_zeros_around_an_image)
{
    cq_script        *s = compile("def net(x):\n"
                                         "    y = torch.nn.functional.pad(x.reshape([1, 1, 1, 2]), [1, 1])\n"
                                         "    return torch.nn.functional.max_pool2d(y, [1, 2])\n");
    cq_tensor        *x = vector(-1, -2);
    cq_export_options o = options_of(17);
    cq_onnx_model    *m = NULL;
    cq_args          *args;

    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_script_export(&m, s, "net", args, 0, &o));
    CHECK_INT(1, count_ops(m, "Pad"));
    CHECK_INT(1, count_ops(m, "Max"));
    CHECK_INT(1, count_ops(m, "MaxPool"));
    cq_onnx_model_free(m);
    cq_args_free(args);
    cq_tensor_release(x);
    cq_script_free(s);
}

TEST(script, outputs_are_called_after_keys_and_fields)
{
    cq_script        *s      = compile("class Pair(NamedTuple):\n"
                                                   "    low : Tensor\n"
                                                   "    high : Tensor\n"
                                                   "def net(x):\n"
                                                   "    return {\"logits\": x + 1, \"x\": x + 2, \"a b\": x + 3}, "
                                                   "(x + 4, Pair(x + 5, x + 6))\n");
    const char *const want[] = { "0_logits", "0_x", "output_2", "output_3", "1_1_low", "1_1_high" };
    cq_tensor        *x      = vector(1, 2);
    cq_export_options o      = options_of(17);
    cq_onnx_model    *m      = NULL;
    cq_args          *args;

    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_script_export(&m, s, "net", args, 0, &o));
    for (size_t i = 0; i < 6; i++)
        CHECK_STR(want[i], cq_onnx_model_value_name(m, CQ_ONNX_OUTPUTS, i));
    cq_onnx_model_free(m);
    o.output_names   = (const char *[]){ "mine" };
    o.n_output_names = 1;
    CHECK_OK(cq_script_export(&m, s, "net", args, 0, &o));
    CHECK_STR("mine", cq_onnx_model_value_name(m, CQ_ONNX_OUTPUTS, 0));
    CHECK_STR("0_x", cq_onnx_model_value_name(m, CQ_ONNX_OUTPUTS, 1));
    cq_onnx_model_free(m);
    cq_args_free(args);
    cq_tensor_release(x);
    cq_script_free(s);
}

/* ---- state ---- */

#define STATEFUL                                                                                   \
    "class Net(Module):\n"                                                                         \
    "    h : Tensor\n"                                                                             \
    "    n : int\n"                                                                                \
    "    def forward(self, x):\n"                                                                  \
    "        self.n = self.n + 1\n"                                                                \
    "        self.h.mul_(0.5).add_(x)\n"                                                           \
    "        return self.h * self.n\n"

static cq_script *stateful(cq_tensor *h)
{
    cq_script *s = compile(STATEFUL);

    CHECK_OK(cq_script_make_module(s, "Net"));
    CHECK_OK(cq_script_set_tensor(s, "h", h));
    CHECK_OK(cq_script_set_i64(s, "n", 0));
    return s;
}

static void count_warning(void *user, const char *message, const char *where)
{
    (void)where;
    *(int *)user += strstr(message, "forward changes h, n") != NULL;
}

TEST(script, an_export_warns_about_state_and_does_not_change_it)
{
    cq_tensor     *h = vector(1, 2), *x = vector(4, 8);
    cq_script     *s = stateful(h);
    cq_args       *args;
    cq_onnx_model *m;
    int            n = 0;

    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    cq_set_warning_handler(count_warning, &n);
    CHECK_OK(cq_script_export(&m, s, NULL, args, 0, NULL));
    cq_set_warning_handler(NULL, NULL);
    CHECK_INT(1, n);
    CHECK_INT(0, cq_onnx_model_n_states(m));
    CHECK(second_of(s, NULL, x) == 9);  /* the first step, after the export */
    CHECK(second_of(s, NULL, x) == 25); /* a run continues from the last one, as in PyTorch */
    cq_onnx_model_free(m);
    cq_args_free(args);
    cq_tensor_release(x);
    cq_tensor_release(h);
    cq_script_free(s);
}

/* A run that is given its state, or none: then it begins with the module's own. */
static void run_with_state(cq_script *s, const cq_args *args, cq_tensor **state, cq_tensor **out)
{
    cq_run_options o;
    size_t         n;

    cq_run_options_init(&o);
    o.flags   = CQ_RUN_STATE;
    o.state   = state;
    o.n_state = state ? 2 : 0;
    CHECK_OK(cq_script_run_as(s, NULL, args, &o, out, 3, &n));
    CHECK_INT(3, n);
}

TEST(script, state_becomes_inputs_and_outputs)
{
    cq_tensor        *h = vector(1, 2), *x = vector(4, 8), *first[3], *next[3], *got[3], *in[3];
    cq_script        *s = stateful(h);
    cq_args          *args;
    cq_export_options o;
    cq_onnx_model    *m;
    cq_session       *session;
    const char       *names[2];

    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    cq_export_options_init(&o);
    o.flags = CQ_EXPORT_STATE;
    CHECK_OK(cq_script_export(&m, s, NULL, args, 0, &o));
    CHECK_INT(2, cq_onnx_model_n_states(m));
    CHECK_OK(cq_onnx_model_state(&in[1], &names[0], &names[1], m, 0));
    CHECK_STR("state.h_in", names[0]);
    CHECK_STR("state.h_out", names[1]);
    CHECK(cq_tensor_get_f64(in[1], 1) == 2);
    CHECK_OK(cq_onnx_model_state(&in[2], &names[0], &names[1], m, 1));
    CHECK_STR("state.n_in", names[0]);
    CHECK_STATUS(CQ_E_ARGUMENT, cq_onnx_model_state(&got[0], &names[0], &names[1], m, 2));

    run_with_state(s, args, NULL, first);
    run_with_state(s, args, first + 1, next);
    CHECK(cq_tensor_get_f64(next[0], 1) == 25);
    CHECK_INT(2, cq_tensor_get_i64(next[2], 0));

    in[0] = x;
    CHECK_OK(cq_session_prepare(&session, m, NULL));
    CHECK_OK(cq_session_run_tensors(session, in, 3, got, 3));
    for (size_t i = 1; i < 3; i++) {
        cq_tensor_release(in[i]);
        in[i] = got[i];
    }
    cq_tensor_release(got[0]);
    CHECK_OK(cq_session_run_tensors(session, in, 3, got, 3));
    CHECK(cq_tensor_get_f64(got[0], 1) == 25);
    for (size_t i = 0; i < 3; i++) {
        cq_tensor_release(first[i]);
        cq_tensor_release(next[i]);
        cq_tensor_release(got[i]);
        cq_tensor_release(in[i]);
    }
    cq_session_free(session);
    cq_onnx_model_free(m);
    cq_args_free(args);
    cq_tensor_release(h);
    cq_script_free(s);
}

/* PyTorch has a List[int] or List[Tensor] of a script as one input. */
TEST(script, lists_among_the_arguments_can_be_sequences)
{
    static const char json[] =
        "{\"args\": [{\"tensor\": 0}, {\"list\": [{\"scalar\": 1}, {\"scalar\": 2}]},"
        " {\"list\": [{\"tensor\": 0}, {\"tensor\": 1}]}, {\"list\": []}]}";
    cq_script        *s = compile("def f(x, pad: List[int], mixed: List[Tensor], no: List[int]):\n"
                                         "    return F.pad(x, pad) * mixed[0][0] + mixed[1] + len(no)\n");
    cq_tensor        *tensors[] = { vector(1, 2), number(1), number(2) };
    cq_export_options o         = options_of(14);
    cq_onnx_model    *m         = NULL;
    cq_args          *args;

    CHECK_OK(cq_args_from_json(&args, json, tensors, 3));
    CHECK_OK(cq_script_export(&m, s, NULL, args, 0, &o));
    CHECK_INT(5, m->graph->input.n);
    CHECK_STR("pad_0", m->graph->input.items[1]->name);
    cq_onnx_model_free(m);
    o.flags |= CQ_EXPORT_LISTS_AS_SEQUENCES;
    CHECK_OK(cq_script_export(&m, s, NULL, args, 0, &o));
    CHECK_INT(4, m->graph->input.n); /* two dtypes stay two inputs */
    CHECK_STR("pad", m->graph->input.items[1]->name);
    CHECK_INT(2, count_ops(m, "SequenceAt"));
    CHECK_STR("mixed_0", m->graph->input.items[2]->name);
    cq_onnx_model_free(m);
    o.opset = 10; /* it has no sequences */
    CHECK_OK(cq_script_export(&m, s, NULL, args, 0, &o));
    CHECK_INT(5, m->graph->input.n);
    cq_onnx_model_free(m);
    for (size_t i = 0; i < 3; i++)
        cq_tensor_release(tensors[i]);
    cq_args_free(args);
    cq_script_free(s);
}

/* A tensor for Optional[Tensor] is an optional input; in a trace it is a required one. */
TEST(script, optionals_among_the_arguments_can_be_optional_inputs)
{
    cq_script        *s = compile("def f(x, pair: Tuple[Optional[Tensor], Tensor]):\n"
                                         "    y, z = pair\n"
                                         "    return x + z if y is None else x + y\n");
    static const char json[] =
        "{\"args\": [{\"tensor\": 0}, {\"tuple\": [{\"tensor\": 1}, {\"tensor\": 1}]}]}";
    cq_tensor        *tensors[] = { vector(1, 2), number(4) }, *out = NULL;
    cq_export_options o = options_of(17);
    cq_onnx_model    *m = NULL;
    cq_session       *session;
    cq_args          *args;

    CHECK_OK(cq_args_from_json(&args, json, tensors, 2));
    for (int opset = 14; opset <= 15; opset++)
        for (uint32_t flags = 0; flags <= CQ_SCRIPT_TRACE; flags += CQ_SCRIPT_TRACE) {
            o.opset = opset;
            o.flags = CQ_EXPORT_OPTIONAL_INPUTS;
            CHECK_OK(cq_script_export(&m, s, NULL, args, flags, &o));
            CHECK_INT(opset == 15 && !flags, (int)count_ops(m, "OptionalHasElement"));
            CHECK_INT(opset == 15 && !flags, (int)count_ops(m, "If"));
            if (count_ops(m, "If")) {
                CHECK_OK(cq_session_prepare(&session, m, NULL));
                CHECK_OK(cq_session_run_tensors(
                    session, (cq_tensor *[]){ tensors[0], NULL, tensors[1] }, 3, &out, 1));
                CHECK(((float *)cq_tensor_data(out))[1] == 6);
                cq_tensor_release(out);
                cq_session_free(session);
            }
            cq_onnx_model_free(m);
        }
    cq_args_free(args);
    cq_tensor_release(tensors[0]);
    cq_tensor_release(tensors[1]);
    cq_script_free(s);
}

static void add_name(void *user, const char *name)
{
    cq_str_printf(user, "%s ", name);
}

TEST(script, inputs_are_named_after_parameters_and_indices)
{
    static const char json[] =
        "{\"args\": [{\"scalar\": 0}, {\"list\": [{\"scalar\": 0}, null, {\"tuple\": [{\"tensor\": "
        "0}]}]},"
        " {\"dict\": [[\"key\", {\"tensor\": 0}], [\"a b\", {\"tensor\": 0}]]}, {\"tensor\": 0},"
        " {\"str\": \"steers\"}, {\"tensor\": 0}], \"kwargs\": {\"scale\": {\"tensor\": 0}}}";
    const char *params[] = { "x", "pair", "options", "pair_0", "mode" };
    cq_tensor  *t        = number(1);
    cq_str      names    = { 0 };
    cq_args    *args;

    CHECK_OK(cq_args_from_json(&args, json, &t, 1));
    CHECK_OK(cq_args_each_name(args, params, 5, add_name, &names));
    CHECK_STR("x pair_0 pair_2_0 options_key options_1 input_5 input_6 scale ",
              cq_str_text(&names));
    cq_str_clear(&names);
    CHECK_STATUS(CQ_E_ARGUMENT, cq_args_each_name(args, NULL, 1, add_name, &names));
    cq_args_free(args);
    cq_tensor_release(t);
}

/* 100 MB that the file holds as four bytes: their sum is left to the runtime. */
TEST(script, large_constants_are_not_folded)
{
    cq_script     *s;
    cq_args       *args;
    cq_tensor     *x = vector(1, 2);
    cq_onnx_model *m;

    CHECK_OK(cq_script_load(&s, CQ_TEST_DATA "/repeated_weight.pt"));
    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    CHECK_OK(cq_script_export(&m, s, NULL, args, 0, NULL));
    CHECK_INT(2, count_ops(m, "Add"));
    cq_onnx_model_free(m);
    cq_args_free(args);
    cq_tensor_release(x);
    cq_script_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(script, large_constants_are_not_folded),
        TEST_OF(script, functions_run_on_tensors_and_numbers),
        TEST_OF(script, a_normalization_that_a_branch_returns_is_merged),
        TEST_OF(script, a_transposed_matrix_by_a_vector_is_the_vector_by_the_matrix),
        TEST_OF(script, a_max_pool_is_kept_apart_from_zeros_around_an_image),
        TEST_OF(script, a_loop_on_data_is_exported_as_a_loop),
        TEST_OF(script, early_returns_are_exported_in_proportion),
        TEST_OF(script, nested_loops_on_data_are_explored_in_proportion),
        TEST_OF(script, a_list_is_copied_once_for_all_changes_in_a_branch),
        TEST_OF(script, a_module_is_made_of_a_class_and_given_its_weights),
        TEST_OF(script, a_traced_model_unrolls_its_own_loop_and_keeps_a_scripted_one),
        TEST_OF(script, a_failure_inside_of_a_forward_is_kept_in_the_context),
        TEST_OF(script, lists_that_grow_in_loops_are_sequences_since_opset_13),
        TEST_OF(script, optionals_among_the_arguments_can_be_optional_inputs),
        TEST_OF(script, sides_of_a_branch_differ_in_shape_since_opset_11),
        TEST_OF(script, lists_appended_in_every_iteration_need_no_sequences),
        TEST_OF(script, lists_whose_items_differ_in_size_come_out_of_loops_since_opset_13),
        TEST_OF(script, outputs_are_called_after_keys_and_fields),
        TEST_OF(script, unsupported_constructs_are_refused_with_their_location),
        TEST_OF(script, an_export_warns_about_state_and_does_not_change_it),
        TEST_OF(script, state_becomes_inputs_and_outputs),
        TEST_OF(script, lists_among_the_arguments_can_be_sequences),
        TEST_OF(script, inputs_are_named_after_parameters_and_indices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
