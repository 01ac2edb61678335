#include "tensor/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static char path[64];

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/calque-npy-%ld", (long)getpid());
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    remove(path);
    return 0;
}

/* A file with this header, unpadded, and data. */
static void write_npy(int version, const char *header, const void *data, size_t size)
{
    size_t        len = strlen(header), start = version == 1 ? 10 : 12;
    unsigned char bytes[4096] = "\x93NUMPY";

    bytes[6] = (unsigned char)version;
    bytes[8] = (unsigned char)(len & 255);
    bytes[9] = (unsigned char)(len >> 8);
    memcpy(bytes + start, header, len);
    memcpy(bytes + start + len, data, size);
    CHECK_OK(cq_file_write(path, bytes, start + len + size));
}

TEST(npy, every_dtype_survives_a_round_trip)
{
    for (int d = 1; d <= CQ_DTYPE_U64; d++) {
        cq_tensor *numbers, *t, *back;

        CHECK_OK(cq_tensor_new(&numbers, CQ_DTYPE_U8, 2, (int64_t[]){ 2, 3 }, "\1\0\3\4\5\6"));
        CHECK_OK(cq_tensor_clone(&t, numbers, (cq_dtype)d));
        CHECK_OK(cq_tensor_save_npy(t, path));
        CHECK_OK(cq_tensor_load_npy(&back, path));
        CHECK_INT(d, cq_tensor_dtype(back));
        CHECK_INT(2, cq_tensor_rank(back));
        CHECK(back->storage->mapped); /* mapped: the header is padded for that */
        for (int i = 0; i < 6; i++)
            CHECK_INT(cq_tensor_get_i64(t, i), cq_tensor_get_i64(back, i));
        cq_tensor_release(numbers);
        cq_tensor_release(t);
        cq_tensor_release(back);
    }
}

TEST(npy, types_that_numpy_does_not_have_are_refused)
{
    for (int d = CQ_DTYPE_U64 + 1; d < CQ_DTYPE_COUNT; d++) {
        cq_tensor *t;

        CHECK_OK(cq_tensor_new(&t, (cq_dtype)d, 0, NULL, NULL));
        CHECK_STATUS(CQ_E_UNSUPPORTED, cq_tensor_save_npy(t, path));
        cq_tensor_release(t);
    }
}

TEST(npy, ranks_zero_and_one_and_no_elements)
{
    static const int64_t sizes[] = { 3, 0, 2 };

    for (size_t rank = 0; rank < 4; rank++) {
        cq_tensor *t, *back;

        CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, rank, sizes, NULL));
        CHECK_OK(cq_tensor_save_npy(t, path));
        CHECK_OK(cq_tensor_load_npy(&back, path));
        CHECK_INT(rank, cq_tensor_rank(back));
        CHECK_INT(cq_tensor_numel(t), cq_tensor_numel(back));
        cq_tensor_release(t);
        cq_tensor_release(back);
    }
}

TEST(npy, other_byte_and_element_orders_are_read)
{
    static const unsigned char big[]  = { 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 0, 4 };
    static const int64_t       want[] = { 1, 256, 2, 4 };
    cq_tensor                 *t;

    write_npy(3, "{\"shape\": (2L,2), 'fortran_order':True ,'descr':'>i4'}\n", big, sizeof big);
    CHECK_OK(cq_tensor_load_npy(&t, path));
    for (int i = 0; i < 4; i++)
        CHECK_INT(want[i], cq_tensor_get_i64(t, i));
    cq_tensor_release(t);
}

TEST(npy, bools_are_made_zero_or_one)
{
    cq_tensor *t;

    write_npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\0\1\7", 3);
    CHECK_OK(cq_tensor_load_npy(&t, path));
    CHECK_INT(1, *((unsigned char *)cq_tensor_data(t) + 2));
    cq_tensor_release(t);
}

TEST(npy, bad_files_are_refused)
{
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", /* 8 bytes follow */
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}",
        "{'descr': '<f4",
        "{'descr': '<O', 'fortran_order': False, 'shape': ()}",
        "{'descr': 'f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': ()}",
    };
    cq_tensor *t;

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        write_npy(1, headers[i], "12345678", 8);
        CHECK(cq_tensor_load_npy(&t, path) != CQ_OK);
        CHECK(t == NULL);
        CHECK_STR(path, cq_last_error()->where);
    }
    write_npy(4, headers[3], "", 0);
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_tensor_load_npy(&t, path));
    CHECK_OK(cq_file_write(path, "\x93NUMPY\1\0\xff\xff", 10));
    CHECK_STATUS(CQ_E_FORMAT, cq_tensor_load_npy(&t, path));
    CHECK_OK(cq_file_write(path, "", 0));
    CHECK_STATUS(CQ_E_FORMAT, cq_tensor_load_npy(&t, path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(npy, every_dtype_survives_a_round_trip),
        TEST_OF(npy, types_that_numpy_does_not_have_are_refused),
        TEST_OF(npy, ranks_zero_and_one_and_no_elements),
        TEST_OF(npy, other_byte_and_element_orders_are_read),
        TEST_OF(npy, bools_are_made_zero_or_one),
        TEST_OF(npy, bad_files_are_refused),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
