#include <calque/export.h>
#include <calque/function.h>

#include "test.h"

/* y = f(relu(x)) n times, where n is the size of x: a number that C code reads, and an operator
 * that may lack a symbolic function. */
static void twice_forward(cq_ctx *cx, void *user, cq_tensor *const *in, cq_tensor **out)
{
    (void)user;
    out[0] = cq_add(cx, in[0], in[0]);
}

static const cq_function twice = { CQ_SIZED(cq_function), .name = "mine::twice", .n_in = 1,
                                   .n_out = 1, .forward = twice_forward };

static cq_tensor *net_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    int64_t n = cq_int_value(cx, cq_size(cx, x, 0));

    (void)self;
    for (int64_t i = 0; i < n; i++) {
        cq_tensor *y = NULL;

        x = cq_relu(cx, x);
        cq_apply(cx, &twice, &x, &y);
        x = y;
    }
    return x;
}

static const cq_class net_class = { CQ_SIZED(cq_class), .name = "Net", .forward = net_forward };

static void drop_warning(void *user, const char *message, const char *where)
{
    (void)message;
    (void)where;
    ++*(int *)user;
}

static cq_export_report *export_net(cq_status want, uint32_t flags)
{
    cq_module        *net = cq_module_new(&net_class);
    cq_tensor        *x;
    cq_onnx_model    *model;
    cq_export_options o;
    int               n_warnings = 0;

    cq_export_options_init(&o);
    o.flags          = flags;
    o.input_names    = (const char *[]){ "x" };
    o.n_input_names  = 1;
    o.dynamic_axes   = &(cq_dynamic_axis){ "x", 0, "n" };
    o.n_dynamic_axes = 1;
    CHECK_OK(cq_export_report_new(&o.report));
    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 1, (int64_t[]){ 3 }, NULL));
    cq_set_warning_handler(drop_warning, &n_warnings);
    CHECK_STATUS(want, cq_module_export(&model, net, &x, 1, &o));
    cq_set_warning_handler(NULL, NULL);
    CHECK_INT(1, n_warnings);
    cq_onnx_model_free(model);
    cq_tensor_release(x);
    cq_module_free(net);
    return o.report;
}

TEST(record, operators_are_counted_and_baked_numbers_are_kept)
{
    cq_export_report      *r = export_net(CQ_OK, 0);
    const cq_report_entry *e;

    CHECK_INT(2, cq_export_report_count(r, CQ_REPORT_OPERATORS));
    CHECK_STR("Relu", cq_export_report_at(r, CQ_REPORT_OPERATORS, 0)->name);
    CHECK_INT(3, cq_export_report_at(r, CQ_REPORT_OPERATORS, 0)->count);
    CHECK_STR("Add", cq_export_report_at(r, CQ_REPORT_OPERATORS, 1)->name);
    CHECK_INT(0, cq_export_report_count(r, CQ_REPORT_MISSING));
    CHECK_INT(1, cq_export_report_count(r, CQ_REPORT_BAKED));
    e = cq_export_report_at(r, CQ_REPORT_BAKED, 0);
    CHECK_INT(3, e->value);
    CHECK(e->name[0]);
    CHECK(!cq_export_report_at(r, CQ_REPORT_BAKED, 1));
    cq_export_report_free(r);
}

TEST(record, missing_operators_are_there_though_the_export_failed)
{
    cq_export_report      *r = export_net(CQ_E_UNSUPPORTED, CQ_EXPORT_NO_AUTOGRAD_INLINING);
    const cq_report_entry *e = cq_export_report_at(r, CQ_REPORT_MISSING, 0);

    CHECK(strstr(cq_last_error()->message,
                 "mine::twice")); /* the failure of the report did not hide it */
    CHECK_INT(1, cq_export_report_count(r, CQ_REPORT_MISSING));
    CHECK_STR("mine::twice", e->name);
    CHECK_INT(3, e->count);
    CHECK_INT(0, e->opset);
    cq_export_report_free(r);
}

RUN_TESTS(TEST_OF(record, operators_are_counted_and_baked_numbers_are_kept),
          TEST_OF(record, missing_operators_are_there_though_the_export_failed))
