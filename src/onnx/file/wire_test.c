/* The codec, tested with handwritten bytes, so that an error of the encoder cannot hide an error of
 * the decoder. */
#include "onnx/file/wire.h"

#include "base/str.h"
#include "test.h"

/* A literal with its size, which may contain zero bytes. */
#define BYTES(literal) literal, sizeof(literal) - 1

static cq_onnx_model *decode(const char *bytes, size_t size)
{
    cq_onnx_model *m;

    CHECK_OK(cq_onnx_model_decode(&m, bytes, size));
    return m;
}

/* Decodes, encodes, and expects the bytes want. */
static void check_rewritten(const char *bytes, size_t size, const char *want, size_t want_size)
{
    cq_onnx_model *m = decode(bytes, size);
    void          *data;
    size_t         n;

    CHECK_OK(cq_onnx_model_encode(&data, &n, m));
    assert_int_equal(want_size, n);
    assert_memory_equal(want, data, n);
    cq_buffer_free(data);
    cq_onnx_model_free(m);
}

static void check_kept(const char *bytes, size_t size)
{
    check_rewritten(bytes, size, bytes, size);
}

static void check_refused(const char *bytes, size_t size)
{
    cq_onnx_model *m;

    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_model_decode(&m, bytes, size));
    CHECK(m == NULL);
}

TEST(wire, an_empty_file_is_an_empty_model)
{
    check_kept(BYTES(""));
}

TEST(wire, optional_numbers_have_a_flag)
{
    cq_onnx_model *m = decode(BYTES("\x08\x00"));

    CHECK(cq_onnx_has(m, CQ_ONNX_MODEL_IR_VERSION));
    CHECK(!cq_onnx_has(m, CQ_ONNX_MODEL_MODEL_VERSION));
    cq_onnx_model_free(m);
    check_kept(BYTES("\x08\x00\x28\x00"));
}

TEST(wire, numbers_take_up_to_ten_bytes_and_no_more)
{
    cq_onnx_model *m = decode(BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));

    CHECK_INT(-1, m->ir_version);
    cq_onnx_model_free(m);
    check_refused(BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
}

TEST(wire, the_last_of_a_number_and_the_sum_of_messages_count)
{
    /* graph { name: "a" } graph { doc_string: "d" node {} } */
    cq_onnx_model *m = decode(BYTES("\x08\x03\x08\x04\x3a\x03\x12\x01"
                                    "a\x3a\x05\x52\x01"
                                    "d\x0a\x00"));

    CHECK_INT(4, m->ir_version);
    CHECK_STR("a", m->graph->name);
    CHECK_STR("d", m->graph->doc_string);
    CHECK_INT(1, m->graph->node.n);
    cq_onnx_model_free(m);
}

TEST(wire, fields_go_out_in_order_and_unknown_ones_last)
{
    /* field 100 (bytes), producer_name, field 101 (number), ir_version */
    check_rewritten(BYTES("\xa2\x06\x02xy\x12\x01p\xa8\x06\x07\x08\x08"),
                    BYTES("\x08\x08\x12\x01p\xa2\x06\x02xy\xa8\x06\x07"));
}

TEST(wire, fields_of_an_unexpected_wire_type_are_kept_as_unknown)
{
    check_kept(BYTES("\x0a\x01z"));            /* ir_version as bytes */
    check_kept(BYTES("\x0d\x01\x02\x03\x04")); /* ir_version as 32 bits */
    check_kept(BYTES("\x10\x05"));             /* producer_name as a number */
}

TEST(wire, groups_are_skipped_whole)
{
    check_kept(BYTES("\xab\x06\x08\x01\xb3\x06\x12\x01x\xb4\x06\xac\x06"));
    check_refused(BYTES("\xab\x06\x08\x01")); /* a group without an end */
    check_refused(BYTES("\xab\x06\xb4\x06")); /* a group with the end of another one */
    check_refused(BYTES("\xac\x06"));         /* an end without a beginning */
}

TEST(wire, groups_nest_as_deep_as_the_limit)
{
    for (int past = 0; past <= 1; past++) {
        cq_str         s = { 0 };
        cq_onnx_model *m = NULL;

        for (int i = 0; i < CQ_ONNX_MAX_DEPTH + past; i++)
            cq_str_add_n(&s, "\xab\x06", 2);
        for (int i = 0; i < CQ_ONNX_MAX_DEPTH + past; i++)
            cq_str_add_n(&s, "\xac\x06", 2);
        CHECK_STATUS(past ? CQ_E_FORMAT : CQ_OK, cq_onnx_model_decode(&m, s.text, s.len));
        cq_onnx_model_free(m);
        cq_str_clear(&s);
    }
}

/* Appends a message of depth levels: a graph, then a node, attribute and graph, repeatedly. The
 * innermost level is empty. */
static void add_nested(cq_str *s, int depth)
{
    static const char tags[] = { 0x3a, 0x0a, 0x2a, 0x32 }; /* graph, node, attribute, g */
    cq_str            inner  = { 0 };

    for (int level = depth - 1; level-- > 0;) {
        cq_str outer = { 0 };
        size_t n     = inner.len;

        cq_str_add_char(&outer, tags[level == 0 ? 0 : (level - 1) % 3 + 1]);
        for (; n > 127; n >>= 7)
            cq_str_add_char(&outer, (char)(n | 0x80));
        cq_str_add_char(&outer, (char)n);
        cq_str_add_n(&outer, cq_str_text(&inner), inner.len);
        cq_str_clear(&inner);
        inner = outer;
    }
    *s = inner;
}

TEST(wire, messages_nest_as_deep_as_the_limit)
{
    for (int past = 0; past <= 1; past++) {
        cq_onnx_model *m = NULL;
        cq_str         s;

        add_nested(&s, CQ_ONNX_MAX_DEPTH + past);
        CHECK_STATUS(past ? CQ_E_FORMAT : CQ_OK, cq_onnx_model_decode(&m, s.text, s.len));
        if (past)
            CHECK(strstr(cq_last_error()->message, "nested deeper than the limit of 100"));
        cq_onnx_model_free(m);
        cq_str_clear(&s);
    }
}

TEST(wire, memory_stays_below_a_multiple_of_the_file)
{
    /* Attributes of two bytes each, which take a hundred times as much memory. */
    size_t         n = 200000, node = 2 * n;
    char          *data = cq_alloc(node + 16);
    cq_onnx_model *m;

    memset(data, 0, node + 16);
    memcpy(data, "\x3a\x84\xb5\x18\x0a\x80\xb5\x18", 8); /* graph of 4 + node, node of 400,000 */
    for (size_t i = 0; i < n; i++)
        data[8 + 2 * i] = 0x2a;
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_model_decode(&m, data, 8 + node));
    CHECK(strstr(cq_last_error()->message, "more than 64 times the memory"));
    cq_free(data);
}

TEST(wire, packed_and_plain_lists_are_the_same)
{
    /* graph { node { attribute { ints: 1, 2, 300 } } }, and a tensor { dims, int32_data } */
    check_rewritten(BYTES(":\x0a\x0a\x08*\x06\x42\x04\x01\x02\xac\x02"),
                    BYTES(":\x0b\x0a\x09*\x07@\x01@\x02@\xac\x02"));
    check_rewritten(BYTES("\x3a\x06\x2a\x04\x28\x05\x28\x06"),
                    BYTES("\x3a\x06\x2a\x04\x2a\x02\x05\x06"));
    check_refused(BYTES("\x3a\x06\x2a\x04\x2a\x02\x05\x86"));     /* the last number is truncated */
    check_refused(BYTES("\x3a\x07\x2a\x05\x22\x03\x00\x00\x00")); /* a truncated float */
}

TEST(wire, negative_int32_keep_their_sign)
{
    cq_onnx_model *m =
        decode(BYTES("\x3a\x0d\x2a\x0b\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));

    CHECK_INT(-1, m->graph->initializer.items[0]->data_type);
    cq_onnx_model_free(m);
    check_kept(BYTES("\x3a\x0d\x2a\x0b\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
}

TEST(wire, the_last_field_of_a_oneof_counts)
{
    /* graph { input { type { tensor_type { shape { dim { dim_value: 3 dim_param: "n" } } } } } } */
    cq_onnx_model *m = decode(BYTES(":\x0fZ\x0d\x12\x0b\x0a\x09\x12\x07\x0a\x05\x08\x03\x12\x01n"));
    const cq_onnx_dim *dim = m->graph->input.items[0]->type->tensor_type->shape->dim.items[0];

    CHECK(!cq_onnx_has(dim, CQ_ONNX_DIM_VALUE));
    CHECK_STR("n", dim->dim_param);
    cq_onnx_model_free(m);
}

TEST(wire, texts_with_zero_bytes_are_refused_and_bytes_with_them_kept)
{
    check_refused(BYTES("\x12\x03"
                        "a\0b"));
    check_kept(BYTES("\x3a\x09\x0a\x07\x2a\x05\x22\x03"
                     "a\0b"));
}

TEST(wire, field_number_0_and_unknown_wire_types_are_refused)
{
    check_refused(BYTES("\x00\x01"));
    check_refused(BYTES("\x0e\x01"));
    check_refused(BYTES("\x0f\x01"));
    check_refused(BYTES("\xf8\xff\xff\xff\xff\x0f\x01")); /* a number that exceeds 32 bits */
}

/* Every kind of field: a graph with names, a node, a tensor with bytes, floats, doubles. */
static const char sample[] =
    "\x08\x08\x12\x01p:9\x0a\x14\x0a\x01x\x12\x01y\x22\x02Op*\x08\x0a\x01k\x15\x00\x00\x80?"
    "\x12\x01g*\x1e\x08\x02\x10\x01\x22\x04\x00\x00\x80?2\x01sB\x01tJ\x02\x00\x01R\x08\x00"
    "\x00\x00\x00\x00\x00\xf0?B\x02\x10\x11";

TEST(wire, a_file_cut_anywhere_is_an_error_or_a_shorter_model)
{
    size_t size = sizeof sample - 1, n_refused = 0;

    check_kept(sample, size);
    for (size_t n = 0; n < size; n++) {
        char *copy = cq_alloc(n); /* a separate block, so that the sanitizer detects reads
                                   * past the end */
        cq_onnx_model *m;
        cq_status      status;

        memcpy(copy, sample, n);
        status = cq_onnx_model_decode(&m, copy, n);
        CHECK(status == CQ_OK || status == CQ_E_FORMAT);
        n_refused += status != CQ_OK;
        cq_onnx_model_free(m);
        cq_free(copy);
    }
    CHECK(n_refused > size / 2);
}

TEST(wire, every_failing_allocation_is_reported)
{
    cq_onnx_model *m = NULL;
    void          *data;
    size_t         size;
    cq_status      status;
    long           n = 0;

    do {
        cq_alloc_fail_at(++n);
        status = cq_onnx_model_decode(&m, sample, sizeof sample - 1);
        if (status == CQ_OK) {
            status = cq_onnx_model_encode(&data, &size, m);
            if (status == CQ_OK)
                cq_buffer_free(data);
        }
        cq_alloc_fail_at(0);
        cq_onnx_model_free(m);
        CHECK(status == CQ_OK || status == CQ_E_NO_MEMORY);
    } while (status != CQ_OK);
    CHECK(n > 5);
}

/* A graph with an initializer of 2,000 floats in float_data, at an odd offset. */
TEST(wire, many_floats_stay_where_they_are)
{
    static const char head[] = "\x3a\xce\x3e\x2a\xcb\x3e\x08\xd0\x0f\x10\x01\x22\xc0\x3e";
    static char       bytes[sizeof head - 1 + 8000 + 3];
    cq_onnx_model    *m;
    cq_onnx_tensor   *t;
    float             half = 0.5f;

    memcpy(bytes, head, sizeof head - 1);
    memcpy(bytes + sizeof head - 1 + 4 * 1999, &half, 4);
    memcpy(bytes + sizeof bytes - 3, "\x42\x01w", 3); /* its name */
    check_kept(bytes, sizeof bytes);
    m = decode(bytes, sizeof bytes);
    t = m->graph->initializer.items[0];
    CHECK_INT(2000, t->float_data.n);
    CHECK(t->float_data.cap == 0);
    CHECK(t->float_data.items[1999] == 0.5f);
    cq_onnx_list_push(m, &t->float_data, 2.0f); /* pushing copies the list */
    CHECK_INT(2001, t->float_data.n);
    CHECK(t->float_data.items[1999] == 0.5f && t->float_data.items[2000] == 2);
    cq_onnx_model_free(m);
}

RUN_TESTS(TEST_OF(wire, an_empty_file_is_an_empty_model),
          TEST_OF(wire, many_floats_stay_where_they_are),
          TEST_OF(wire, optional_numbers_have_a_flag),
          TEST_OF(wire, numbers_take_up_to_ten_bytes_and_no_more),
          TEST_OF(wire, the_last_of_a_number_and_the_sum_of_messages_count),
          TEST_OF(wire, fields_go_out_in_order_and_unknown_ones_last),
          TEST_OF(wire, fields_of_an_unexpected_wire_type_are_kept_as_unknown),
          TEST_OF(wire, groups_are_skipped_whole), TEST_OF(wire, groups_nest_as_deep_as_the_limit),
          TEST_OF(wire, messages_nest_as_deep_as_the_limit),
          TEST_OF(wire, memory_stays_below_a_multiple_of_the_file),
          TEST_OF(wire, packed_and_plain_lists_are_the_same),
          TEST_OF(wire, negative_int32_keep_their_sign),
          TEST_OF(wire, the_last_field_of_a_oneof_counts),
          TEST_OF(wire, texts_with_zero_bytes_are_refused_and_bytes_with_them_kept),
          TEST_OF(wire, field_number_0_and_unknown_wire_types_are_refused),
          TEST_OF(wire, a_file_cut_anywhere_is_an_error_or_a_shorter_model),
          TEST_OF(wire, every_failing_allocation_is_reported))
