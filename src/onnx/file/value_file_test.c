#include "onnx/file/value_file.h"

#include "base/file.h"
#include "tensor/text.h"
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/calque_value_XXXXXX";

static cq_onnx_type         tensor_type   = { 0 };
static cq_onnx_element_type of_tensor     = { .elem_type = &tensor_type };
static cq_onnx_type         sequence_type = { .sequence_type = &of_tensor };
static cq_onnx_element_type of_sequence   = { .elem_type = &sequence_type };
static cq_onnx_type         nested_type   = { .sequence_type = &of_sequence };
static cq_onnx_map_type     to_anything   = { 0 };
static cq_onnx_type         map_type      = { .map_type = &to_anything };
static cq_onnx_type         optional_type = { .optional_type = &of_sequence };

/* [1, 2, ..., n] as a list of scalars. */
static cq_val list_of(int n)
{
    cq_list *list;

    CHECK_OK(cq_list_new(&list, 0));
    for (int i = 1; i <= n; i++) {
        float      f = (float)i;
        cq_tensor *t;

        CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, 0, NULL, &f));
        CHECK_OK(cq_list_push(list, cq_val_of_tensor(t)));
        cq_tensor_release(t);
    }
    return cq_val_of_list(list);
}

static void check_list(int n, cq_val v)
{
    CHECK_INT(CQ_VAL_LIST, v.kind);
    CHECK_INT(n, v.u.list->n);
    for (int i = 0; i < n; i++)
        CHECK(cq_tensor_get_f64(v.u.list->items[i].u.tensor, 0) == i + 1);
}

/* Saves and reads a sequence, with each allocation failing in turn; each failure must be
 * reported. */
static cq_val back_in_spite_of_failures(cq_val v)
{
    cq_val    back = CQ_NONE;
    cq_status status;
    long      n = 0;

    do {
        cq_alloc_fail_at(++n);
        status = cq_onnx_value_save(v, path, "s", &sequence_type);
        if (status == CQ_OK)
            status = cq_onnx_value_load(&back, path, &sequence_type);
        cq_alloc_fail_at(0);
        CHECK(status == CQ_OK || status == CQ_E_NO_MEMORY);
    } while (status != CQ_OK);
    return back;
}

TEST(value_file, sequences_of_sequences_are_read_back)
{
    cq_list *outer;
    cq_val   v, back;

    CHECK_OK(cq_list_new(&outer, 2));
    outer->items[0] = list_of(2);
    outer->items[1] = list_of(1);
    v               = cq_val_of_list(outer);
    CHECK_OK(cq_onnx_value_save(v, path, "s", &nested_type));
    CHECK_OK(cq_onnx_value_load(&back, path, &nested_type));
    CHECK_INT(2, back.u.list->n);
    check_list(2, back.u.list->items[0]);
    check_list(1, back.u.list->items[1]);
    cq_val_release(v);
    cq_val_release(back);
}

TEST(value_file, optionals_have_a_value_or_none)
{
    cq_val v = list_of(3), back;

    CHECK_OK(cq_onnx_value_save(v, path, "o", &optional_type));
    CHECK_OK(cq_onnx_value_load(&back, path, &optional_type));
    check_list(3, back);
    cq_val_release(back);
    CHECK_OK(cq_onnx_value_save(CQ_NONE, path, "o", &optional_type));
    CHECK_OK(cq_onnx_value_load(&back, path, &optional_type));
    CHECK_INT(CQ_VAL_NONE, back.kind);
    cq_val_release(v);
}

TEST(value_file, values_without_an_onnx_message_are_refused_and_leave_no_file)
{
    unlink(path);
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_onnx_value_save(cq_val_of_i64(1), path, NULL, NULL));
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_onnx_value_save(CQ_NONE, path, NULL, &sequence_type));
    CHECK(access(path, F_OK) != 0);
}

/* { "a": 1, "": 2 } or, if turned is set, { 1: "a", 2: "" }. */
static cq_val map_of(bool turned)
{
    const int64_t two = 2;
    cq_texts     *texts;
    cq_tensor    *numbers;
    cq_list      *pair;

    CHECK_OK(cq_list_new(&pair, 2));
    CHECK_OK(cq_texts_new(&texts, 1, &two));
    CHECK_OK(cq_texts_set(texts, 0, "a", 1));
    if (turned)
        CHECK_OK(cq_tensor_new(&numbers, CQ_DTYPE_I64, 1, &two, (int64_t[]){ 1, 2 }));
    else
        CHECK_OK(cq_tensor_new(&numbers, CQ_DTYPE_F32, 1, &two, (float[]){ 1, 2 }));
    pair->items[turned ? 1 : 0] = cq_val_of_texts(texts);
    pair->items[turned ? 0 : 1] = cq_val_of_tensor(numbers);
    return (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = pair };
}

static void check_map(cq_val v, bool turned)
{
    const cq_texts  *texts;
    const cq_tensor *numbers;

    CHECK_INT(CQ_VAL_TUPLE, v.kind);
    texts   = cq_val_texts(v.u.list->items[turned ? 1 : 0]);
    numbers = v.u.list->items[turned ? 0 : 1].u.tensor;
    CHECK_STR("a", cq_texts_at(texts, 0));
    CHECK_STR("", cq_texts_at(texts, 1));
    CHECK_INT(turned ? CQ_DTYPE_I64 : CQ_DTYPE_F32, numbers->dtype);
    CHECK(cq_tensor_numel(numbers) == 2 && cq_tensor_get_f64(numbers, 1) == 2);
}

TEST(value_file, maps_and_sequences_of_them_are_read_back)
{
    cq_val   both[] = { map_of(false), map_of(true) }, v, back = CQ_NONE;
    cq_list *list;

    for (int i = 0; i < 2; i++) {
        CHECK_OK(cq_onnx_value_save(both[i], path, "m", &map_type));
        CHECK_OK(cq_onnx_value_load(&back, path, &map_type));
        check_map(back, i);
        cq_val_release(back);
    }
    CHECK_OK(cq_list_new(&list, 2));
    memcpy(list->items, both, sizeof both);
    v    = cq_val_of_list(list);
    back = back_in_spite_of_failures(v);
    check_map(back.u.list->items[0], false);
    check_map(back.u.list->items[1], true);
    cq_val_release(back);
    cq_val_release(v);
}

TEST(value_file, a_map_has_as_many_keys_as_values)
{
    /* a key 7 without a value; and a value without a key or a type */
    static const char lonely[] = { 0x10, 7, 0x18, 7 }, keyless[] = { 0x10, 7, 0x2a, 2, 0x1a, 0 };
    cq_val            v;

    CHECK_OK(cq_file_write(path, lonely, sizeof lonely));
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_value_load(&v, path, &map_type));
    CHECK_STR(path, cq_last_error()->where);
    CHECK_OK(cq_file_write(path, keyless, sizeof keyless));
    CHECK(cq_onnx_value_load(&v, path, &map_type) != CQ_OK);
}

TEST(value_file, strings_are_no_tensor_of_numbers)
{
    static const char strings[] = { 0x08, 1, 0x10, 8, 0x32, 1, 'a' };
    cq_tensor        *t;
    cq_val            v;

    CHECK_OK(cq_file_write(path, strings, sizeof strings));
    CHECK_OK(cq_onnx_value_load(&v, path, NULL));
    CHECK(v.kind != CQ_VAL_TENSOR);
    cq_val_release(v);
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_tensor_load_pb(&t, path));
    CHECK(t == NULL);
}

TEST(value_file, every_failing_allocation_is_reported)
{
    cq_val v = list_of(2), back = back_in_spite_of_failures(v);

    check_list(2, back);
    cq_val_release(back);
    cq_val_release(v);
    unlink(path);
}

static int setup(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 || close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(value_file, sequences_of_sequences_are_read_back),
        TEST_OF(value_file, optionals_have_a_value_or_none),
        TEST_OF(value_file, values_without_an_onnx_message_are_refused_and_leave_no_file),
        TEST_OF(value_file, maps_and_sequences_of_them_are_read_back),
        TEST_OF(value_file, a_map_has_as_many_keys_as_values),
        TEST_OF(value_file, strings_are_no_tensor_of_numbers),
        TEST_OF(value_file, every_failing_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
