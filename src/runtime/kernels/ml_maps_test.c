/* Maps of ai.onnx.ml. The expected values are results of ONNX Runtime 1.23. */
#include "onnx/model.h"
#include "test.h"

#include <calque/session.h>

#include <stdio.h>
#include <string.h>

static cq_onnx_model *model; /* of the session, which borrows it */

static void close_session(cq_session *s)
{
    cq_session_free(s);
    cq_onnx_model_free(model);
}

/* Creates a session for one node of ai.onnx.ml, from the texts of its input, output and call. */
static cq_session *session_of(const char *input, const char *output, const char *call)
{
    char        text[1024];
    cq_session *s;

    snprintf(text, sizeof text,
             "<ir_version: 8, opset_import: [\"\" : 17, \"ai.onnx.ml\" : 1]>\n"
             "g (%s) => (%s) {\n  y = ai.onnx.ml.%s\n}\n",
             input, output, call);
    CHECK_OK(cq_onnx_model_parse(&model, text, strlen(text), "test"));
    CHECK_OK(cq_session_prepare(&s, model, NULL));
    return s;
}

static cq_onnx_value *tensor_of(cq_dtype dtype, int64_t n, const void *data)
{
    cq_onnx_value *v;
    cq_tensor     *t;

    CHECK_OK(cq_tensor_new(&t, dtype, 1, &n, data));
    CHECK_OK(cq_onnx_value_new_tensor(&v, t));
    cq_tensor_release(t);
    return v;
}

static cq_onnx_value *texts_of(int64_t n, const char *const *texts)
{
    cq_onnx_value *v;

    CHECK_OK(cq_onnx_value_new_strings(&v, 1, &n, texts, NULL));
    return v;
}

/* Runs the session on a map and releases the inputs. Returns the result, or NULL after the expected
 * failure. */
static cq_onnx_value *run_on_map(cq_session *s, cq_onnx_value *keys, cq_onnx_value *values,
                                 cq_status want)
{
    cq_onnx_value *x, *y = NULL;

    CHECK_OK(cq_onnx_value_new_map(&x, keys, values));
    CHECK_STATUS(want, cq_session_run(s, NULL, &x, 1, &y));
    cq_onnx_value_release(x);
    cq_onnx_value_release(keys);
    cq_onnx_value_release(values);
    close_session(s);
    return y;
}

static void check_numbers(cq_onnx_value *y, size_t n, const double *want)
{
    cq_tensor *t = cq_onnx_value_tensor(y);

    CHECK_INT(2, cq_tensor_rank(t));
    CHECK_INT(1, cq_tensor_size(t, 0));
    CHECK_INT((int64_t)n, cq_tensor_size(t, 1));
    for (size_t i = 0; i < n; i++)
        CHECK(cq_tensor_get_f64(t, (int64_t)i) == want[i]);
    cq_onnx_value_release(y);
}

static void check_texts(cq_onnx_value *y, size_t n, const char *const *want)
{
    CHECK_INT((int64_t)n, (int64_t)cq_onnx_value_count(y));
    for (size_t i = 0; i < n; i++)
        CHECK_STR(want[i], cq_onnx_value_string(y, i, NULL));
    cq_onnx_value_release(y);
}

TEST(ml_maps, a_vocabulary_orders_values)
{
    const char *const words[] = { "a", "c" }, *const names[] = { "one", "five" };
    cq_session *s;

    s = session_of("map(string, float) x", "float[1,3] y",
                   "DictVectorizer <string_vocabulary: strings = [\"c\", \"b\", \"a\"]> (x)");
    check_numbers(
        run_on_map(s, texts_of(2, words), tensor_of(CQ_DTYPE_F32, 2, (float[]){ 1.5f, 3 }), CQ_OK),
        3, (double[]){ 3, 0, 1.5 });
    s = session_of("map(int64, string) x", "string[1,3] y",
                   "DictVectorizer <int64_vocabulary: ints = [5, 2, 1]> (x)");
    check_texts(
        run_on_map(s, tensor_of(CQ_DTYPE_I64, 2, (int64_t[]){ 1, 5 }), texts_of(2, names), CQ_OK),
        3, (const char *[]){ "five", "", "one" });
    s = session_of("map(int64, float) x", "float[1,1] y",
                   "DictVectorizer <string_vocabulary: strings = [\"c\"]> (x)");
    CHECK(!run_on_map(s, tensor_of(CQ_DTYPE_I64, 1, (int64_t[]){ 1 }),
                      tensor_of(CQ_DTYPE_F32, 1, (float[]){ 1 }), CQ_E_INVALID));
}

static cq_onnx_value *cast(const char *output, const char *attributes, cq_onnx_value *values,
                           cq_status want)
{
    bool        is_text = cq_onnx_value_kind(values) == CQ_ONNX_VALUE_STRINGS;
    char        call[256];
    cq_session *s;

    snprintf(call, sizeof call, "CastMap <%s> (x)", attributes);
    s = session_of(is_text ? "map(int64, string) x" : "map(int64, float) x", output, call);
    return run_on_map(s, tensor_of(CQ_DTYPE_I64, 3, (int64_t[]){ 3, 0, 1 }), values, want);
}

TEST(ml_maps, keys_order_values)
{
    const float       numbers[] = { 1.5f, -2.75f, 1e-7f };
    const char *const texts[] = { "15", "-2.75", "7" }, *const words[] = { "15", "x", "7" };
    const char *sparse = "cast_to: string = \"TO_INT64\", map_form: string = \"SPARSE\", "
                         "max_map: int = 5";

    check_numbers(cast("float[1,3] y", "cast_to: string = \"TO_FLOAT\"",
                       tensor_of(CQ_DTYPE_F32, 3, numbers), CQ_OK),
                  3, (double[]){ -2.75, (double)1e-7f, 1.5 });
    check_texts(cast("string[1,3] y", "cast_to: string = \"TO_STRING\"",
                     tensor_of(CQ_DTYPE_F32, 3, numbers), CQ_OK),
                3, (const char *[]){ "-2.750000", "0.000000", "1.500000" });
    check_numbers(cast("int64[1,5] y", sparse, tensor_of(CQ_DTYPE_F32, 3, numbers), CQ_OK), 5,
                  (double[]){ -2, 0, 0, 1, 0 });
    check_numbers(cast("int64[1,5] y", sparse, texts_of(3, texts), CQ_OK), 5,
                  (double[]){ -2, 7, 0, 15, 0 });
    CHECK(!cast("int64[1,5] y", sparse, texts_of(3, words), CQ_E_TYPE));
}

TEST(ml_maps, columns_become_maps)
{
    const float    scores[] = { 1, 2, 3, 4 };
    cq_onnx_value *x, *y, *map, *keys;
    cq_tensor     *t;
    cq_session    *s = session_of("float[2,2] x", "seq(map(string, float)) y",
                                  "ZipMap <classlabels_strings: strings = [\"a\", \"b\"]> (x)");

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, 2, (int64_t[]){ 2, 2 }, scores));
    CHECK_OK(cq_onnx_value_new_tensor(&x, t));
    CHECK_OK(cq_session_run(s, NULL, &x, 1, &y));
    CHECK_INT(2, (int64_t)cq_onnx_value_count(y));
    CHECK_OK(cq_onnx_value_item(&map, y, 1));
    CHECK_OK(cq_onnx_value_item(&keys, map, 0));
    CHECK_STR("b", cq_onnx_value_string(keys, 1, NULL));
    cq_onnx_value_release(keys);
    CHECK_OK(cq_onnx_value_item(&keys, map, 1));
    CHECK(cq_tensor_get_f64(cq_onnx_value_tensor(keys), 1) == 4);
    cq_onnx_value_release(keys);
    cq_onnx_value_release(map);
    cq_onnx_value_release(x);
    cq_onnx_value_release(y);
    cq_tensor_release(t);
    close_session(s);
}

RUN_TESTS(TEST_OF(ml_maps, a_vocabulary_orders_values), TEST_OF(ml_maps, keys_order_values),
          TEST_OF(ml_maps, columns_become_maps))
