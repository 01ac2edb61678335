/* Conversion between TensorProto and cq_tensor, and valid locations of external data. */
#include "onnx/file/external.h"
#include "onnx/tensor.h"
#include "onnx/file/wire.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static cq_onnx_model *m;

static int setup(void **state)
{
    (void)state;
    return cq_onnx_model_new(&m, "g");
}

static int teardown(void **state)
{
    (void)state;
    cq_onnx_model_free(m);
    return 0;
}

/* A message for two elements whose typed field is still empty. */
static cq_onnx_tensor message(int32_t data_type)
{
    cq_onnx_tensor t = { .data_type = data_type };

    cq_onnx_list_push(m, &t.dims, 2);
    return t;
}

static void check_elements(const cq_onnx_tensor *from, cq_dtype dtype, const void *want)
{
    cq_tensor *t;

    CHECK_OK(cq_onnx_tensor_to_tensor(&t, m, from));
    CHECK_INT(dtype, cq_tensor_dtype(t));
    CHECK_INT(1, cq_tensor_rank(t));
    CHECK_INT(2, cq_tensor_size(t, 0));
    assert_memory_equal(want, cq_tensor_data(t), 2 * cq_dtype_size(dtype));
    cq_tensor_release(t);
}

/* Integers up to 16 bits, bool, and half-precision numbers share int32_data. */
static void check_in_int32(int32_t data_type, cq_dtype dtype, int32_t a, int32_t b,
                           const void *want)
{
    cq_onnx_tensor t = message(data_type);

    cq_onnx_list_push(m, &t.int32_data, a);
    cq_onnx_list_push(m, &t.int32_data, b);
    check_elements(&t, dtype, want);
}

TEST(tensor, two_bits_lie_four_in_a_byte)
{
    cq_onnx_tensor t = message(CQ_ONNX_INT2);

    cq_onnx_list_push(m, &t.int32_data, 0x36);
    check_elements(&t, CQ_DTYPE_I2, "\xfe\x01");
    t.int32_data.n = 0;
    t.raw_data     = (cq_onnx_bytes){ "\x07", 1 };
    check_elements(&t, CQ_DTYPE_I2, "\xff\x01");
    t.data_type = CQ_ONNX_UINT2;
    check_elements(&t, CQ_DTYPE_U2, "\x03\x01");
}

TEST(tensor, four_bits_lie_two_in_a_byte)
{
    cq_onnx_tensor t = message(CQ_ONNX_INT4);

    cq_onnx_list_push(m, &t.int32_data, 0x7f);
    check_elements(&t, CQ_DTYPE_I4, "\xff\x07");
    t.int32_data.n = 0;
    t.raw_data     = (cq_onnx_bytes){ "\x8a", 1 };
    check_elements(&t, CQ_DTYPE_I4, "\xfa\xf8");
    t.data_type = CQ_ONNX_UINT4;
    check_elements(&t, CQ_DTYPE_U4, "\x0a\x08");
    t.data_type = CQ_ONNX_FLOAT4E2M1;
    check_elements(&t, CQ_DTYPE_F4E2M1, "\x0a\x08");
    t.raw_data = (cq_onnx_bytes){ "\x8a", 2 };
    {
        cq_tensor *out;

        CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &t));
    }
}

TEST(tensor, small_types_are_read_from_int32_data)
{
    check_in_int32(CQ_ONNX_INT32, CQ_DTYPE_I32, INT32_MIN, INT32_MAX,
                   (int32_t[]){ INT32_MIN, INT32_MAX });
    check_in_int32(CQ_ONNX_INT16, CQ_DTYPE_I16, -32768, 32767, (int16_t[]){ -32768, 32767 });
    check_in_int32(CQ_ONNX_UINT16, CQ_DTYPE_U16, 0, 65535, (uint16_t[]){ 0, 65535 });
    check_in_int32(CQ_ONNX_INT8, CQ_DTYPE_I8, -128, 127, (int8_t[]){ -128, 127 });
    check_in_int32(CQ_ONNX_UINT8, CQ_DTYPE_U8, 0, 255, (uint8_t[]){ 0, 255 });
    check_in_int32(CQ_ONNX_BOOL, CQ_DTYPE_BOOL, 0, 7, (uint8_t[]){ 0, 1 });
    check_in_int32(CQ_ONNX_FLOAT16, CQ_DTYPE_F16, 0x3c00, 0xc000, (uint16_t[]){ 0x3c00, 0xc000 });
    check_in_int32(CQ_ONNX_BFLOAT16, CQ_DTYPE_BF16, 0x3f80, 0xc000, (uint16_t[]){ 0x3f80, 0xc000 });
}

TEST(tensor, floats_and_complex_numbers_share_their_fields)
{
    cq_onnx_tensor f = message(CQ_ONNX_FLOAT), c = message(CQ_ONNX_COMPLEX64);
    cq_onnx_tensor d = message(CQ_ONNX_DOUBLE), e = message(CQ_ONNX_COMPLEX128);

    for (int i = 0; i < 4; i++) {
        cq_onnx_list_push(m, &c.float_data, (float)i);
        cq_onnx_list_push(m, &e.double_data, i);
        if (i < 2) {
            cq_onnx_list_push(m, &f.float_data, (float)i);
            cq_onnx_list_push(m, &d.double_data, i);
        }
    }
    check_elements(&f, CQ_DTYPE_F32, (float[]){ 0, 1 });
    check_elements(&c, CQ_DTYPE_C64, (float[]){ 0, 1, 2, 3 });
    check_elements(&d, CQ_DTYPE_F64, (double[]){ 0, 1 });
    check_elements(&e, CQ_DTYPE_C128, (double[]){ 0, 1, 2, 3 });
}

TEST(tensor, wide_integers_have_their_own_fields)
{
    cq_onnx_tensor i = message(CQ_ONNX_INT64), u = message(CQ_ONNX_UINT64);
    cq_onnx_tensor v = message(CQ_ONNX_UINT32);

    cq_onnx_list_push(m, &i.int64_data, INT64_MIN);
    cq_onnx_list_push(m, &i.int64_data, INT64_MAX);
    cq_onnx_list_push(m, &u.uint64_data, 0);
    cq_onnx_list_push(m, &u.uint64_data, UINT64_MAX);
    cq_onnx_list_push(m, &v.uint64_data, 0);
    cq_onnx_list_push(m, &v.uint64_data, UINT32_MAX);
    check_elements(&i, CQ_DTYPE_I64, (int64_t[]){ INT64_MIN, INT64_MAX });
    check_elements(&u, CQ_DTYPE_U64, (uint64_t[]){ 0, UINT64_MAX });
    check_elements(&v, CQ_DTYPE_U32, (uint32_t[]){ 0, UINT32_MAX });
}

TEST(tensor, numbers_that_do_not_fit_their_type_are_refused)
{
    cq_onnx_tensor t = message(CQ_ONNX_UINT8), v = message(CQ_ONNX_UINT32);
    cq_tensor     *out;

    cq_onnx_list_push(m, &t.int32_data, 0);
    cq_onnx_list_push(m, &t.int32_data, 256);
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &t));
    CHECK_STR("number 1 of the data is too large for type UINT8", cq_last_error()->message);
    cq_onnx_list_push(m, &v.uint64_data, UINT64_C(1) << 32);
    cq_onnx_list_push(m, &v.uint64_data, 0);
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &v));
}

TEST(tensor, data_that_does_not_match_dims_is_refused)
{
    cq_onnx_tensor t = message(CQ_ONNX_FLOAT);
    cq_tensor     *out;

    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &t)); /* unknown */
    t.raw_data = (cq_onnx_bytes){ "1234567", 7 };
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &t));
    CHECK_STR("raw_data has 7 bytes, its type and dimensions need 8", cq_last_error()->message);
    t.dims.items[0] = -1;
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &t));
    t.dims.items[0] = INT64_MAX / 2;
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &t));
    t.dims.items[0] = INT64_MAX / 32; /* exceeds memory; checked before the allocation */
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &t));
    t.data_type = CQ_ONNX_STRING;
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_onnx_tensor_to_tensor(&out, m, &t));
}

/* A model with one initializer of two floats, at offset bytes into the file. */
static void write_model(char *file, size_t offset)
{
    memset(file, 0, 64);
    file[0] = 0x12; /* producer_name, padded to shift the rest */
    file[1] = (char)offset;
    memset(file + 2, 'p', offset);
    memcpy(file + 2 + offset,
           "\x3a\x10\x2a\x0e\x08\x02\x10\x01\x4a\x08\x00\x00\x80\x3f\x00\x00\x00\x40", 18);
}

TEST(tensor, raw_data_is_a_view_when_aligned_and_a_copy_when_not)
{
    int n_views = 0;

    for (size_t offset = 1; offset <= 4; offset++) {
        char           file[64];
        cq_onnx_model *read;
        cq_tensor     *t;

        write_model(file, offset);
        CHECK_OK(cq_onnx_model_decode(&read, file, 20 + offset));
        CHECK_OK(cq_onnx_model_initializer(&t, NULL, read, 0));
        n_views += cq_tensor_data(t) == read->graph->initializer.items[0]->raw_data.data;
        cq_onnx_model_free(read); /* the tensor outlives it */
        CHECK(cq_tensor_get_f64(t, 1) == 2.0);
        cq_tensor_release(t);
    }
    CHECK_INT(1, n_views);
}

TEST(tensor, files_hold_every_dtype_and_any_strides)
{
    char path[] = "/tmp/calque_tensor_XXXXXX";
    int  fd     = mkstemp(path);

    CHECK(fd >= 0);
    close(fd);
    for (int d = 1; d < CQ_DTYPE_COUNT; d++) {
        cq_tensor *t, *turned, *back;
        int64_t    sizes[] = { 2, 3 };
        char       data[6 * 16], want[6 * 16];
        size_t     size = cq_dtype_size((cq_dtype)d);

        if (!cq_dtype_to_onnx((cq_dtype)d))
            continue; /* ONNX has no such type */
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (char)(d == CQ_DTYPE_BOOL || cq_dtype_bits((cq_dtype)d) == 2 ? i % 2 : i);
        for (size_t i = 0; i < 6; i++) /* element i of the transpose */
            memcpy(want + i * size, data + (i % 2 * 3 + i / 2) * size, size);
        CHECK_OK(cq_tensor_new(&t, (cq_dtype)d, 2, sizes, data));
        CHECK_OK(cq_tensor_new_view(&turned, t, (cq_dtype)d, 2, (cq_int[]){ cq_i(3), cq_i(2) },
                                    (int64_t[]){ 1, 3 }, 0));
        CHECK_OK(cq_tensor_save_pb(turned, path, "x"));
        CHECK_OK(cq_tensor_load_pb(&back, path));
        CHECK_INT(d, cq_tensor_dtype(back));
        CHECK_INT(3, cq_tensor_size(back, 0));
        assert_memory_equal(want, cq_tensor_data(back), 6 * size);
        cq_tensor_release(back);
        cq_tensor_release(turned);
        cq_tensor_release(t);
    }
    unlink(path);
}

TEST(tensor, external_locations_stay_in_the_folder)
{
    CHECK(cq_onnx_location_fault("weights.data") == NULL);
    CHECK(cq_onnx_location_fault("a/b..c/..d") == NULL);
    CHECK(cq_onnx_location_fault(NULL) != NULL);
    CHECK(cq_onnx_location_fault("") != NULL);
    CHECK(cq_onnx_location_fault("/etc/passwd") != NULL);
    CHECK(cq_onnx_location_fault("..") != NULL);
    CHECK(cq_onnx_location_fault("../x") != NULL);
    CHECK(cq_onnx_location_fault("a/../../x") != NULL);
    CHECK(cq_onnx_location_fault("a/..") != NULL);
}

/* A limit depends on the size of the files that a model reads: a file counts once, however many
 * tensors refer to it. */
TEST(tensor, a_file_of_external_data_counts_once)
{
    char            folder[]  = "/tmp/calque_external_XXXXXX", path[64];
    float           numbers[] = { 1, 2, 3, 4 };
    cq_onnx_tensor  one = message(CQ_ONNX_FLOAT), two = message(CQ_ONNX_FLOAT);
    cq_onnx_tensor *both[] = { &one, &two };

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/w.data", folder);
    CHECK_OK(cq_file_write(path, numbers, sizeof numbers));
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    CHECK_OK(cq_onnx_files_new(&m->files, path));
    one.data_location = two.data_location = CQ_ONNX_LOCATION_EXTERNAL;
    cq_onnx_add_entry(m, &one.external_data, "location", "w.data");
    cq_onnx_add_entry(m, &two.external_data, "location", "./w.data");
    m->graph->initializer.items = both;
    m->graph->initializer.n     = 2;
    CHECK(cq_onnx_external_bytes(m) == sizeof numbers);
    two.external_data.items[0]->value = "missing";
    CHECK(cq_onnx_external_bytes(m) == sizeof numbers);
    two.external_data.items[0]->value = "../w.data";
    CHECK(cq_onnx_external_bytes(m) == sizeof numbers);
    m->graph->initializer.items = NULL;
    m->graph->initializer.n     = 0;
    snprintf(path, sizeof path, "%s/w.data", folder);
    unlink(path);
    rmdir(folder);
}

/* A folder with two files, a link to a file inside and a link to a file outside. */
TEST(tensor, external_data_is_found_and_links_do_not_escape)
{
    char           folder[]  = "/tmp/calque_external_XXXXXX", path[64], link[64];
    float          numbers[] = { 1, 2, 3, 4 };
    cq_onnx_tensor t         = message(CQ_ONNX_FLOAT);
    cq_tensor     *out;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/w.data", folder);
    CHECK_OK(cq_file_write(path, numbers, sizeof numbers));
    snprintf(link, sizeof link, "%s/out", folder);
    CHECK_INT(0, symlink("/etc/hostname", link));
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    CHECK_OK(cq_onnx_files_new(&m->files, path));
    t.data_location = CQ_ONNX_LOCATION_EXTERNAL;
    cq_onnx_add_entry(m, &t.external_data, "location", "w.data");
    cq_onnx_add_entry(m, &t.external_data, "offset", "8");
    check_elements(&t, CQ_DTYPE_F32, numbers + 2);
    t.external_data.items[1]->value = "12";
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &t)); /* the file is too short */
    t.external_data.items[1]->value = "99999999999999999999";
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &t));
    t.external_data.items[1]->value = "-8";
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &t));
    t.external_data.items[1]->key   = "length";
    t.external_data.items[1]->value = "4";
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &t));
    t.external_data.n               = 1;
    t.external_data.items[0]->value = "out";
    CHECK_STATUS(CQ_E_FORMAT, cq_onnx_tensor_to_tensor(&out, m, &t));
    t.external_data.items[0]->value = "missing";
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_onnx_tensor_to_tensor(&out, m, &t));
    unlink(link);
    snprintf(path, sizeof path, "%s/w.data", folder);
    unlink(path);
    rmdir(folder);
}

/* Large enough for several blocks of rows; neither size is a multiple of a block. */
TEST(tensor, turned_matrices_are_written_row_by_row)
{
    static const cq_dtype dtypes[] = { CQ_DTYPE_U8, CQ_DTYPE_I16, CQ_DTYPE_F32, CQ_DTYPE_C128 };
    const int64_t         rows = 1031, columns = 517;

    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        const size_t size = cq_dtype_size(dtypes[i]);
        cq_tensor   *t, *turned;
        cq_out      *out;
        char        *bytes, *got;
        size_t       n;

        CHECK_OK(cq_tensor_new(&t, dtypes[i], 2, (const int64_t[]){ columns, rows }, NULL));
        bytes = cq_tensor_data(t);
        for (size_t k = 0; k < (size_t)(rows * columns) * size; k++)
            bytes[k] = (char)(k * 2654435761u >> 24);
        CHECK_OK(cq_tensor_new_view(&turned, t, dtypes[i], 2,
                                    (cq_int[]){ cq_i(rows), cq_i(columns) }, (int64_t[]){ 1, rows },
                                    0));
        CHECK_OK(cq_out_open_memory(&out));
        cq_onnx_write_elements(out, turned);
        CHECK_OK(cq_out_take_memory(out, (void **)&got, &n));
        CHECK_INT((size_t)(rows * columns) * size, n);
        for (int64_t k = 0; k < rows * columns; k++)
            CHECK(memcmp(got + (size_t)k * size,
                         bytes + (size_t)(k / columns + k % columns * rows) * size, size) == 0);
        cq_buffer_free(got);
        cq_tensor_release(turned);
        cq_tensor_release(t);
    }
}

#define WITH_MODEL(sentence) cmocka_unit_test_setup_teardown(tensor_##sentence, setup, teardown)

RUN_TESTS(WITH_MODEL(two_bits_lie_four_in_a_byte), WITH_MODEL(four_bits_lie_two_in_a_byte),
          WITH_MODEL(small_types_are_read_from_int32_data),
          WITH_MODEL(floats_and_complex_numbers_share_their_fields),
          WITH_MODEL(wide_integers_have_their_own_fields),
          WITH_MODEL(numbers_that_do_not_fit_their_type_are_refused),
          WITH_MODEL(data_that_does_not_match_dims_is_refused),
          TEST_OF(tensor, raw_data_is_a_view_when_aligned_and_a_copy_when_not),
          TEST_OF(tensor, files_hold_every_dtype_and_any_strides),
          TEST_OF(tensor, turned_matrices_are_written_row_by_row),
          TEST_OF(tensor, external_locations_stay_in_the_folder),
          WITH_MODEL(a_file_of_external_data_counts_once),
          WITH_MODEL(external_data_is_found_and_links_do_not_escape))
