#define _DEFAULT_SOURCE /* mkstemps */
#include "testcase/strip.h"

#include "onnx/file/external.h"
#include "onnx/tensor.h"
#include "tensors.h"

#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/calque_strip_XXXXXX.pb";

/* 0.1, 0.2, … of n elements; the tests contain numpy 1.24's results for them. */
static cq_tensor *tenths(cq_dtype dtype, int64_t n)
{
    cq_tensor *t = tensor_of(CQ_DTYPE_F64, 1, &n, NULL), *out = NULL;

    for (int64_t i = 0; i < n; i++)
        ((double *)cq_tensor_data(t))[i] = (double)(i % 1000 + 1) / 10;
    CHECK_OK(cq_tensor_clone(&out, t, dtype));
    cq_tensor_release(t);
    return out;
}

static void check_stats(double mean, double variance, cq_dtype dtype, int64_t n)
{
    cq_tensor *t     = tenths(dtype, n);
    cq_stats   stats = cq_stats_of(cq_tensor_data(t), dtype, n);

    if (stats.mean != mean || stats.variance != variance)
        fail_msg("%d: %.17g %.17g", (int)n, stats.mean, stats.variance);
    cq_tensor_release(t);
}

TEST(stats, digits_equal_numpys)
{
    check_stats(0.4000000059604645, 0.04000000283122063, CQ_DTYPE_F32, 7);
    check_stats(5.050000190734863, 8.332500457763672, CQ_DTYPE_F32, 100);
    check_stats(6.900000095367432, 15.639999389648438, CQ_DTYPE_F32, 137);
    check_stats(50.04999923706055, 833.33251953125, CQ_DTYPE_F32, 9000);
    check_stats(0.39999999999999997, 0.039999999999999994, CQ_DTYPE_F64, 7);
    check_stats(5.05, 8.3325, CQ_DTYPE_F64, 100);
    check_stats(6.9, 15.640000000000002, CQ_DTYPE_F64, 137);
    check_stats(50.05, 833.3325, CQ_DTYPE_F64, 9000);
    check_stats(0.0, 0.0, CQ_DTYPE_I32, 7);
    check_stats(4.6, 8.34, CQ_DTYPE_I32, 100);
    check_stats(6.452554744525547, 15.678405882039531, CQ_DTYPE_I32, 137);
    check_stats(49.6, 833.34, CQ_DTYPE_I32, 9000);
}

/* A file with a tensor at location, of n float32 elements that take length bytes. */
static void write_stripped(const char *location, const char *length, int64_t n)
{
    cq_onnx_model *m;
    cq_onnx_tensor t = { .data_type     = CQ_ONNX_FLOAT,
                         .data_location = CQ_ONNX_LOCATION_EXTERNAL,
                         .name          = "w" };

    CHECK_OK(cq_onnx_model_new(&m, NULL));
    cq_onnx_set_has(&t, CQ_ONNX_TENSOR_DATA_TYPE);
    cq_onnx_set_has(&t, CQ_ONNX_TENSOR_DATA_LOCATION);
    cq_onnx_list_push(m, &t.dims, n);
    cq_onnx_add_entry(m, &t.external_data, "location", location);
    cq_onnx_add_entry(m, &t.external_data, "length", length);
    CHECK_OK(m->status);
    CHECK_OK(cq_write_tensor_message(path, &t));
    cq_onnx_model_free(m);
}

#define LOCATION(average, variance)                                                                \
    "{\"type\": \"stripped\", \"average\": " average ", \"variance\": " variance "}"

TEST(unstrip, order_of_keys_and_spaces_do_not_matter)
{
    cq_tensor *t;

    write_stripped("{\"variance\":0,\"average\":2.5,\"type\":\"stripped\"}", "12", 3);
    CHECK_OK(cq_unstrip(path, NULL, 0));
    CHECK_OK(cq_tensor_load_pb(&t, path));
    check_values(t, (double[]){ 2.5, 2.5, 2.5 });
}

TEST(unstrip, invalid_statistics_are_refused)
{
    write_stripped(LOCATION("0", "-1"), "12", 3);
    CHECK_STATUS(CQ_E_FORMAT, cq_unstrip(path, NULL, 0));
    CHECK_STR("the variance of a stripped tensor is -1, which is negative",
              cq_last_error()->message);
    write_stripped(LOCATION("\"x\"", "1"), "12", 3);
    CHECK_STATUS(CQ_E_FORMAT, cq_unstrip(path, NULL, 0));
    write_stripped("{\"type\": \"stripped\"}", "12", 3);
    CHECK_STATUS(CQ_E_FORMAT, cq_unstrip(path, NULL, 0));
    write_stripped(LOCATION("0", "1"), "16", 3);
    CHECK_STATUS(CQ_E_FORMAT, cq_unstrip(path, NULL, 0));
    write_stripped(LOCATION("0", "1"), "4000000000000", 1000000000000);
    CHECK_STATUS(CQ_E_FORMAT, cq_unstrip(path, NULL, 0));
    CHECK_STR("a stripped tensor claims 4000000000000 bytes but protobuf stops at 2147483647",
              cq_last_error()->message);
}

TEST(unstrip, other_external_data_is_left_alone)
{
    char  *before, *after;
    size_t n_before, n_after;

    write_stripped("weights.bin", "12", 3);
    CHECK_OK(cq_file_read(&before, &n_before, path));
    CHECK_OK(cq_unstrip(path, NULL, 0));
    CHECK_OK(cq_file_read(&after, &n_after, path));
    CHECK_INT(n_before, n_after);
    CHECK(memcmp(before, after, n_before) == 0);
    cq_free(before);
    cq_free(after);
}

/* Strips a model with one weight in memory; the caller frees it. */
static cq_status strip_model(cq_onnx_model **out, uint32_t flags, int64_t opset)
{
    cq_tensor       *t = tenths(CQ_DTYPE_F32, 200);
    cq_strip_options options;
    cq_status        status = cq_onnx_model_new(out, "g");

    cq_strip_options_init(&options);
    options.flags = flags;
    if (status == CQ_OK) {
        cq_onnx_model_add_opset(*out, "", opset);
        cq_onnx_graph_add_node(*out, NULL, "Last", NULL, NULL);
        cq_onnx_graph_add_initializer(*out, NULL, "w", t);
        status = cq_onnx_model_strip(*out, &options);
    }
    cq_tensor_release(t);
    return status;
}

TEST(strip, mean_and_variance_take_the_place_of_data)
{
    cq_onnx_model        *m;
    const cq_onnx_tensor *w;

    CHECK_OK(strip_model(&m, 0, 13));
    w = m->graph->initializer.items[0];
    CHECK(cq_onnx_is_external(w) && !w->tensor && !w->raw_data.data);
    CHECK_STR("{\"type\": \"stripped\", \"average\": 10.049999237060547, \"variance\": "
              "33.33250045776367}",
              cq_onnx_entry_get(&w->external_data, "location"));
    CHECK_STR("800", cq_onnx_entry_get(&w->external_data, "length"));
    cq_onnx_model_free(m);
}

TEST(strip, nodes_that_make_a_weight_come_first)
{
    cq_onnx_model *m;
    uint32_t       n;

    CHECK_OK(strip_model(&m, CQ_STRIP_RUNNABLE, 9));
    n = m->graph->node.n;
    CHECK_INT(0, m->graph->initializer.n);
    CHECK_STR("Last", m->graph->node.items[n - 1]->op_type);
    CHECK_STR("w", m->graph->node.items[n - 2]->output.items[0]);
    cq_onnx_model_free(m);
}

TEST(strip, a_runnable_model_needs_opset_9)
{
    cq_onnx_model *m;

    CHECK_STATUS(CQ_E_UNSUPPORTED, strip_model(&m, CQ_STRIP_RUNNABLE, 8));
    CHECK_STR("a runnable model needs opset 9, but this one has 8", cq_last_error()->message);
    cq_onnx_model_free(m);
}

TEST(strip, no_allocation_may_fail_unnoticed)
{
    for (uint32_t flags = 0; flags <= CQ_STRIP_RUNNABLE; flags++) {
        cq_tensor *t = tenths(CQ_DTYPE_F32, 200);
        cq_status  status;
        long       at = 0;

        do {
            cq_strip_options options;
            cq_onnx_model   *m = NULL;

            cq_strip_options_init(&options);
            options.flags = flags;
            cq_alloc_fail_at(++at);
            status = cq_onnx_model_new(&m, "g");
            if (status == CQ_OK) {
                cq_onnx_model_add_opset(m, "", 13);
                cq_onnx_graph_add_initializer(m, NULL, "w", t);
                status = cq_onnx_model_strip(m, &options);
            }
            cq_alloc_fail_at(0);
            cq_onnx_model_free(m);
            CHECK(status == CQ_OK || status == CQ_E_NO_MEMORY);
        } while (status != CQ_OK);
        CHECK(at > 3);
        cq_tensor_release(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(stats, digits_equal_numpys),
        TEST_OF(unstrip, order_of_keys_and_spaces_do_not_matter),
        TEST_OF(unstrip, invalid_statistics_are_refused),
        TEST_OF(unstrip, other_external_data_is_left_alone),
        TEST_OF(strip, mean_and_variance_take_the_place_of_data),
        TEST_OF(strip, nodes_that_make_a_weight_come_first),
        TEST_OF(strip, a_runnable_model_needs_opset_9),
        TEST_OF(strip, no_allocation_may_fail_unnoticed),
    };
    int fd = mkstemps(path, 3);
    int failed;

    if (fd >= 0)
        close(fd);
    failed = fd < 0 || cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
