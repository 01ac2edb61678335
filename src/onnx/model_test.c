/* Building models, saving them with and without external data, and reading them back. */
#include "onnx/model.h"

#include "base/file.h"
#include "onnx/tensor.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* y = Everything(x, w), with one attribute of each type. */
static cq_onnx_model *build(void)
{
    const int64_t      ints[]  = { 1, -2 };
    const float        fs[]    = { 0.5f, 2 };
    const char *const  texts[] = { "a", "" };
    const cq_onnx_axis axes[]  = { { "batch", 0 }, { NULL, 3 }, { NULL, -1 } };
    float              data[]  = { 1, 2, 3, 4, 5, 6 };
    cq_onnx_model     *m;
    cq_onnx_graph     *inner;
    cq_onnx_node      *node;
    cq_onnx_type      *type;
    cq_tensor         *t, *turned;

    if (cq_onnx_model_new(&m, "g") != CQ_OK)
        return NULL;
    if (cq_tensor_new(&t, CQ_DTYPE_F32, 2, (int64_t[]){ 2, 3 }, data) != CQ_OK) {
        m->status = CQ_E_NO_MEMORY;
        return m;
    }
    if (cq_tensor_new_view(&turned, t, CQ_DTYPE_F32, 2, (cq_int[]){ cq_i(3), cq_i(2) },
                           (int64_t[]){ 1, 3 }, 0) != CQ_OK) {
        cq_tensor_release(t);
        m->status = CQ_E_NO_MEMORY;
        return m;
    }
    cq_onnx_model_set_ir_version(m, 8);
    cq_onnx_model_set_producer(m, "calque", "1");
    cq_onnx_model_add_opset(m, "", 17);
    cq_onnx_add_entry(m, &m->metadata_props, "key", "value");
    type = cq_onnx_type_new_tensor(m, CQ_ONNX_FLOAT, 3, axes);
    cq_onnx_add_value(m, &m->graph->input, "x", type);
    cq_onnx_add_value(m, &m->graph->output, "y", cq_onnx_type_new_sequence(m, type));
    inner = cq_onnx_graph_new(m, "inner");
    node  = cq_onnx_graph_add_node(m, NULL, "Everything", NULL, "n");
    cq_onnx_node_add_input(m, node, "x");
    cq_onnx_node_add_input(m, node, "w");
    cq_onnx_node_add_output(m, node, "y");
    cq_onnx_attr_int(m, node, "i", 0);
    cq_onnx_attr_float(m, node, "f", 0.5f);
    cq_onnx_attr_string(m, node, "s", "");
    cq_onnx_attr_tensor(m, node, "t", t);
    cq_onnx_attr_graph(m, node, "g", inner);
    cq_onnx_attr_type(m, node, "tp", cq_onnx_type_new_optional(m, type));
    cq_onnx_attr_ints(m, node, "is", ints, 2);
    cq_onnx_attr_floats(m, node, "fs", fs, 2);
    cq_onnx_attr_strings(m, node, "ss", texts, 2);
    cq_onnx_attr_tensors(m, node, "ts", &turned, 1);
    cq_onnx_attr_graphs(m, node, "gs", &inner, 1);
    cq_onnx_graph_add_initializer(m, NULL, "w", turned);
    node = cq_onnx_function_add_node(m, cq_onnx_model_add_function(m, "d", "F"), "Relu", "", NULL);
    cq_onnx_attr_ref(m, node, "alpha", CQ_ONNX_ATTR_FLOAT, "a");
    cq_tensor_release(turned);
    cq_tensor_release(t);
    return m;
}

static const char listing[] =
    "graph g (\n"
    "  %x[FLOAT, batchx3x?]\n"
    ") initializers (\n"
    "  %w[FLOAT, 3x2]\n"
    ") {\n"
    "  %y = Everything[f = 0.5, fs = [0.5, 2], g = <graph inner>, gs = [ <graph inner> ], i = 0, "
    "is = [1, -2], s = '', ss = ['a', ''], t = <Tensor>, tp = <Type Proto optional_type {\n"
    "  elem_type {\n    tensor_type {\n      elem_type: 1\n      shape {\n        dim {\n"
    "          dim_param: \"batch\"\n        }\n        dim {\n          dim_value: 3\n        }\n"
    "        dim {\n        }\n      }\n    }\n  }\n}\n>, ts = [<Tensor>, ...]](%x, %w)\n"
    "  return %y\n"
    "}\n\n"
    "graph inner {\n  return\n}\n\n"
    "graph inner {\n  return\n}";

static void check_listing(const cq_onnx_model *m)
{
    char *text;

    CHECK_OK(cq_onnx_model_print(&text, m));
    CHECK_STR(listing, text);
    cq_buffer_free(text);
}

static void check_weight(const cq_onnx_model *m)
{
    const float want[] = { 1, 4, 2, 5, 3, 6 };
    const char *name;
    cq_tensor  *t;

    CHECK_OK(cq_onnx_model_initializer(&t, &name, m, 0));
    CHECK_STR("w", name);
    for (int i = 0; i < 6; i++)
        CHECK(cq_tensor_get_f64(t, i) == (double)want[i]);
    cq_tensor_release(t);
}

TEST(model, a_built_model_is_read_back_unchanged)
{
    cq_onnx_model *m = build(), *back;
    void          *data;
    size_t         size;

    CHECK_OK(m->status);
    check_listing(m);
    CHECK_OK(cq_onnx_model_encode(&data, &size, m));
    cq_onnx_model_free(m);
    CHECK_OK(cq_onnx_model_decode(&back, data, size));
    cq_buffer_free(data);
    check_listing(back);
    check_weight(back);
    CHECK_INT(17, cq_onnx_model_opset(back, "ai.onnx"));
    CHECK_INT(0, cq_onnx_model_opset(back, "other"));
    CHECK_STR("calque", cq_onnx_model_producer(back));
    CHECK_STR("batch", cq_onnx_model_value_axis(back, CQ_ONNX_INPUTS, 0, 0));
    CHECK_INT(3, cq_onnx_model_value_size(back, CQ_ONNX_INPUTS, 0, 1));
    CHECK_INT(-1, cq_onnx_model_value_size(back, CQ_ONNX_INPUTS, 0, 2));
    CHECK_INT(-1, cq_onnx_model_value_rank(back, CQ_ONNX_OUTPUTS, 0));
    CHECK(cq_onnx_model_has_initializer(back, "w") && !cq_onnx_model_has_initializer(back, "x"));
    CHECK_STR("a", back->functions.items[0]->node.items[0]->attribute.items[0]->ref_attr_name);
    cq_onnx_model_free(back);
}

/* Saves m with flags into folder/name and reads it back. */
static cq_onnx_model *save_and_load(const cq_onnx_model *m, const char *folder, const char *name,
                                    uint32_t flags)
{
    cq_onnx_save_options opts;
    cq_onnx_model       *back;
    char                 path[96];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    cq_onnx_save_options_init(&opts);
    opts.flags     = flags;
    opts.threshold = 1;
    CHECK_OK(cq_onnx_model_save(m, path, &opts));
    CHECK_OK(cq_onnx_model_load(&back, path));
    return back;
}

static long size_of(const char *folder, const char *name)
{
    struct stat st;
    char        path[96];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

TEST(model, external_data_moves_out_and_in_again)
{
    char           folder[] = "/tmp/calque_model_XXXXXX", path[96];
    cq_onnx_model *m        = build(), *out, *as_is, *in;

    CHECK(mkdtemp(folder) != NULL);
    out = save_and_load(m, folder, "out.onnx", CQ_ONNX_SAVE_EXTERNAL);
    CHECK_INT(24, size_of(folder, "out.onnx.data"));
    CHECK_INT(CQ_ONNX_LOCATION_EXTERNAL, out->graph->initializer.items[0]->data_location);
    check_weight(out);
    as_is = save_and_load(out, folder, "as_is.onnx", CQ_ONNX_SAVE_AS_IS);
    check_weight(as_is); /* still read from out.onnx.data */
    in = save_and_load(out, folder, "in.onnx", 0);
    CHECK_INT(-1, size_of(folder, "in.onnx.data"));
    CHECK(!cq_onnx_has(in->graph->initializer.items[0], CQ_ONNX_TENSOR_DATA_LOCATION));
    check_weight(in);
    check_listing(in);
    cq_onnx_model_free(m);
    cq_onnx_model_free(out);
    cq_onnx_model_free(as_is);
    cq_onnx_model_free(in);
    for (const char *const *name =
             (const char *const[]){ "out.onnx", "out.onnx.data", "as_is.onnx", "in.onnx", NULL };
         *name; name++) {
        snprintf(path, sizeof path, "%s/%s", folder, *name);
        CHECK_INT(0, unlink(path));
    }
    CHECK_INT(0, rmdir(folder)); /* no other file was left there */
}

TEST(model, more_than_2_gb_is_refused_where_external_data_cannot_help)
{
    cq_onnx_save_options opts;
    cq_onnx_model       *m;
    cq_tensor           *one, *many;
    void                *data;
    size_t               size;

    CHECK_OK(cq_onnx_model_new(&m, "g"));
    CHECK_OK(cq_tensor_new(&one, CQ_DTYPE_U8, 0, NULL, NULL));
    CHECK_OK(cq_tensor_new_view(&many, one, CQ_DTYPE_U8, 1, (cq_int[]){ cq_i(INT32_MAX) },
                                (int64_t[]){ 0 }, 0));
    cq_onnx_graph_add_initializer(m, NULL, "w", many);
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_onnx_model_encode(&data, &size, m));
    CHECK_STR("the model takes 2147483679 bytes but protobuf stops at 2147483647",
              cq_last_error()->message);
    cq_onnx_save_options_init(&opts);
    opts.flags = CQ_ONNX_SAVE_AS_IS;
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_onnx_model_save(m, "/nowhere/x.onnx", &opts));
    cq_tensor_release(one);
    cq_tensor_release(many);
    cq_onnx_model_free(m);
}

TEST(model, a_fake_tensor_fails_when_it_is_saved)
{
    cq_onnx_model *m;
    cq_tensor     *t;
    void          *data;
    size_t         size;

    CHECK_OK(cq_onnx_model_new(&m, "g"));
    CHECK_OK(cq_tensor_new_fake(&t, CQ_DTYPE_F32, 0, NULL));
    CHECK(cq_onnx_graph_add_initializer(m, NULL, "w", t) == NULL);
    CHECK(cq_onnx_graph_add_node(m, NULL, "Relu", NULL, NULL) == NULL); /* all builder calls accept
                                                                         * NULL */
    CHECK_STATUS(CQ_E_ARGUMENT, cq_onnx_model_encode(&data, &size, m));
    cq_tensor_release(t);
    cq_onnx_model_free(m);
}

TEST(model, every_failing_allocation_while_building_is_kept)
{
    cq_status status;
    long      n = 0;

    do {
        cq_onnx_model    *m;
        cq_onnx_findings *findings = NULL;
        void             *data     = NULL;
        char             *text     = NULL;
        size_t            size;

        cq_alloc_fail_at(++n);
        m      = build();
        status = m ? cq_onnx_model_encode(&data, &size, m) : CQ_E_NO_MEMORY;
        if (status == CQ_OK)
            status = cq_onnx_model_print(&text, m);
        if (status == CQ_OK)
            status = cq_onnx_model_check(&findings, m);
        cq_alloc_fail_at(0);
        CHECK(status == CQ_OK || status == CQ_E_NO_MEMORY);
        cq_onnx_findings_free(findings);
        cq_buffer_free(data);
        cq_buffer_free(text);
        cq_onnx_model_free(m);
    } while (status != CQ_OK);
    CHECK(n > 20);
}

/* What a progress handler received: the last amounts, and the number of completions. */
typedef struct told {
    uint64_t done, total;
    int      n_over;
    bool     went_back;
} told;

static void hear(void *user, const char *what, uint64_t done, uint64_t total)
{
    told *t = user;

    t->n_over += what == NULL;
    t->went_back |= done < t->done || done > total;
    t->done  = done;
    t->total = total;
}

TEST(model, saving_reports_progress_and_completion)
{
    char           folder[] = "/tmp/calque-test-XXXXXX", path[64];
    told           t        = { 0 };
    cq_onnx_model *m        = build();
    struct stat    st;

    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    cq_set_progress_handler(hear, &t);
    CHECK_OK(cq_onnx_model_save(m, path, NULL));
    CHECK_INT(0, stat(path, &st));
    CHECK_INT(st.st_size, t.total);
    CHECK_INT(st.st_size, t.done);
    CHECK_INT(1, t.n_over);
    CHECK(!t.went_back);
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_onnx_model_save(m, "/nowhere/x.onnx", NULL));
    CHECK_INT(2, t.n_over);
    cq_set_progress_handler(NULL, NULL);
    CHECK_INT(0, unlink(path));
    CHECK_INT(0, rmdir(folder));
    cq_onnx_model_free(m);
}

TEST(model, data_is_not_left_behind_when_the_model_cannot_be_put_in_place)
{
    char                 folder[] = "/tmp/calque-test-XXXXXX", path[64];
    cq_onnx_model       *m        = build();
    cq_onnx_save_options opts;

    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    CHECK_INT(0, mkdir(path, 0777)); /* a folder with that name prevents the write */
    cq_onnx_save_options_init(&opts);
    opts.flags     = CQ_ONNX_SAVE_EXTERNAL;
    opts.threshold = 1;
    CHECK_STATUS(CQ_E_IO, cq_onnx_model_save(m, path, &opts));
    CHECK_INT(0, rmdir(path));
    CHECK_INT(0, rmdir(folder)); /* the folder is empty */
    cq_onnx_model_free(m);
}

RUN_TESTS(TEST_OF(model, a_built_model_is_read_back_unchanged),
          TEST_OF(model, external_data_moves_out_and_in_again),
          TEST_OF(model, more_than_2_gb_is_refused_where_external_data_cannot_help),
          TEST_OF(model, saving_reports_progress_and_completion),
          TEST_OF(model, data_is_not_left_behind_when_the_model_cannot_be_put_in_place),
          TEST_OF(model, a_fake_tensor_fails_when_it_is_saved),
          TEST_OF(model, every_failing_allocation_while_building_is_kept))
