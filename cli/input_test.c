#include "input.h"

#include "test.h"

static cli_input in;

TEST(input, sizes_apart_by_x_are_float32)
{
    CHECK(cli_input_parse(&in, "1x3x224x16") == NULL);
    CHECK_INT(CQ_DTYPE_F32, in.dtype);
    CHECK_INT(CLI_RANDOM, in.fill);
    CHECK_INT(4, in.rank);
    CHECK_INT(224, in.axes[2].size);
    CHECK_STR("", in.axes[2].name);
}

TEST(input, brackets_name_the_dtype_and_may_be_empty)
{
    CHECK(cli_input_parse(&in, "int64[2,3]") == NULL);
    CHECK_INT(CQ_DTYPE_I64, in.dtype);
    CHECK_INT(2, in.rank);
    CHECK(cli_input_parse(&in, "f16[1,8]=zeros") == NULL);
    CHECK_INT(CQ_DTYPE_F16, in.dtype);
    CHECK_INT(CLI_ZEROS, in.fill);
    CHECK(cli_input_parse(&in, "bool[]=ones") == NULL);
    CHECK_INT(0, in.rank);
}

TEST(input, names_make_axes_dynamic)
{
    CHECK(cli_input_parse(&in, "batchx3xhx8") == NULL);
    CHECK_STR("batch", in.axes[0].name);
    CHECK_INT(CLI_DYNAMIC_EXAMPLE, in.axes[0].size);
    CHECK_STR("h", in.axes[2].name);
    CHECK(cli_input_parse(&in, "float32[max_len,3]") == NULL);
    CHECK_STR("max_len", in.axes[0].name);
}

TEST(input, a_name_may_come_with_its_size)
{
    CHECK(cli_input_parse(&in, "1x3xh=64xw=48") == NULL);
    CHECK_STR("h", in.axes[2].name);
    CHECK_INT(64, in.axes[2].size);
    CHECK_STR("w", in.axes[3].name);
    CHECK_INT(48, in.axes[3].size);
    CHECK_INT(CLI_RANDOM, in.fill);
    CHECK(cli_input_parse(&in, "batch=2x3") == NULL);
    CHECK_STR("batch", in.axes[0].name);
    CHECK_INT(2, in.axes[0].size);
    CHECK_INT(3, in.axes[1].size);
    CHECK(cli_input_parse(&in, "nx4=ones") == NULL);
    CHECK(!in.axes[0].is_sized);
    CHECK(cli_input_parse(&in, "int64[batch=4,seq=7]=zeros") == NULL);
    CHECK_INT(4, in.axes[0].size);
    CHECK_INT(7, in.axes[1].size);
    CHECK_INT(CLI_ZEROS, in.fill);
}

TEST(input, files_are_recognised_by_name)
{
    CHECK(cli_input_parse(&in, "some/x=1.npy") == NULL);
    CHECK_STR("some/x=1.npy", in.path);
    CHECK(cli_input_parse(&in, "2x3") == NULL);
    CHECK(in.path == NULL);
}

TEST(input, nonsense_is_refused)
{
    static const char *const bad[] = {
        "",
        "1x",
        "x",
        "1xx2",
        "-1x2",
        "3.5x2",
        "int64[2",
        "int64[2,]",
        "what[2]",
        "1x2=two",
        "f32[2]x3",
        "1x3x99999999999999999999",
        "f32[2,-1]",
        "[2]",
        "1x2=",
        "3a",
        "float32[a b]",
        "1x2=3,",
        "=3",
        "n=-2x3",
        "n=x3",
        "n=3=4x2",
        "int64[n=2",
        "2=uniform(1)",
        "2=normal(1,x)",
        "2=uniform(0,inf)",
        "2=onesy",
        "int64[2,3]=7.5",
        "uint8[2]=256",
        "int8[]=-129",
        "int64[]=9223372036854775808",
        "bool[2]=0.5",
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (!cli_input_parse(&in, bad[i]))
            fail_msg("%s was accepted", bad[i]);
}

TEST(input, tensors_have_the_numbers_that_were_asked_for)
{
    static const struct {
        const char *spec;
        cq_dtype    dtype;
        double      last;
    } rows[] = {
        { "2x3=range", CQ_DTYPE_F32, 5 },      { "i8[2,3]=ones", CQ_DTYPE_I8, 1 },
        { "f16[2,3]=range", CQ_DTYPE_F16, 5 }, { "bool[2,3]=ones", CQ_DTYPE_BOOL, 1 },
        { "f64[2,3]=zeros", CQ_DTYPE_F64, 0 }, { "bf16[2,3]=range", CQ_DTYPE_BF16, 5 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cq_tensor *t;

        CHECK(cli_input_parse(&in, rows[i].spec) == NULL);
        CHECK_OK(cli_input_tensor(&t, &in, 0));
        CHECK_INT(rows[i].dtype, cq_tensor_dtype(t));
        CHECK_INT(6, cq_tensor_numel(t));
        CHECK(cq_tensor_get_f64(t, 5) == rows[i].last);
        cq_tensor_release(t);
    }
}

TEST(input, messages_name_what_was_found_and_what_is_expected)
{
    static const struct {
        const char *spec, *why;
    } rows[] = {
        { "1,3,4",
          "expected a size (a number or a name) but got '1,3,4'; sizes are separated by x, "
          "as in 1x3x224x224" },
        { "int64[2,3]=7.5", "expected an integer for int64, got 7.5" },
        { "uint8[2]=256", "256 is out of range for uint8, which holds 0 to 255" },
        { "bool[]=2.5", "expected true or false for bool, got 2.5" },
        { "[2,3]", "a dtype is missing before [, as in int64[2,3]" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(rows[i].why, cli_input_parse(&in, rows[i].spec));
    CHECK(strstr(cli_input_parse(&in, "flot[2]"),
                 "unknown dtype 'flot'; expected one of bool, uint8"));
}

TEST(input, a_declared_input_gives_its_dtype_and_may_be_a_number)
{
    const cli_input vector = { .dtype = CQ_DTYPE_I64, .rank = 1 };
    const cli_input scalar = { .dtype = CQ_DTYPE_F16 }, flag = { .dtype = CQ_DTYPE_BOOL };
    const cli_input any = { .dtype = CQ_DTYPE_F32, .has_any_rank = true };

    CHECK(cli_input_parse_as(&in, "2x3", &vector) == NULL);
    CHECK(in.dtype == CQ_DTYPE_I64 && in.rank == 2);
    CHECK(cli_input_parse_as(&in, "int32[3]=1", &vector) == NULL);
    CHECK(in.dtype == CQ_DTYPE_I32);
    CHECK(cli_input_parse_as(&in, "3", &vector) == NULL);
    CHECK(in.rank == 1 && in.axes[0].size == 3);
    CHECK_STR("expected an integer for int64, got 2.5", cli_input_parse_as(&in, "2.5", &vector));
    CHECK_STR("expected a tensor of 1 dimension, got the number -3; 3=-3 would fill one",
              cli_input_parse_as(&in, "-3", &vector));
    CHECK(cli_input_parse_as(&in, "3", &scalar) == NULL);
    CHECK(in.rank == 0 && in.dtype == CQ_DTYPE_F16 && in.fill == CLI_CONSTANT && in.a == 3);
    CHECK(cli_input_parse_as(&in, "true", &flag) == NULL);
    CHECK(in.rank == 0 && in.dtype == CQ_DTYPE_BOOL && in.a == 1);
    CHECK(cli_input_parse_as(&in, "2.5", &any) == NULL);
    CHECK(in.rank == 0 && in.dtype == CQ_DTYPE_F32);
    CHECK(cli_input_parse_as(&in, "3", &any) == NULL);
    CHECK(in.rank == 1);
}

TEST(input, whole_numbers_are_exact)
{
    cq_tensor *t;

    CHECK(cli_input_parse(&in, "int64[2]=9007199254740993") == NULL);
    CHECK_OK(cli_input_tensor(&t, &in, 0));
    CHECK_INT(9007199254740993, cq_tensor_get_i64(t, 1));
    cq_tensor_release(t);
}

TEST(input, random_numbers_depend_on_the_seed_alone)
{
    cq_tensor *a, *b, *c;

    CHECK(cli_input_parse(&in, "100") == NULL);
    CHECK_OK(cli_input_tensor(&a, &in, 1));
    CHECK_OK(cli_input_tensor(&b, &in, 1));
    CHECK_OK(cli_input_tensor(&c, &in, 2));
    CHECK(memcmp(cq_tensor_data(a), cq_tensor_data(b), 400) == 0);
    CHECK(memcmp(cq_tensor_data(a), cq_tensor_data(c), 400) != 0);
    cq_tensor_release(a);
    cq_tensor_release(b);
    cq_tensor_release(c);
}

/* float32 numbers are drawn lazily, in pieces: they must equal the numbers drawn for float64. */
TEST(input, random_numbers_do_not_depend_on_the_dtype)
{
    cq_tensor *narrow, *wide;

    CHECK(cli_input_parse(&in, "7x11") == NULL);
    CHECK_OK(cli_input_tensor(&narrow, &in, 3));
    CHECK(cli_input_parse(&in, "f64[7,11]") == NULL);
    CHECK_OK(cli_input_tensor(&wide, &in, 3));
    for (int64_t i = 0; i < 77; i++)
        CHECK((float)cq_tensor_get_f64(wide, i) == (float)cq_tensor_get_f64(narrow, i));
    cq_tensor_release(narrow);
    cq_tensor_release(wide);
}

/* The mean and the mean square of the generated numbers. */
static void moments(const char *spec, double *mean, double *square)
{
    cq_tensor *t;
    int64_t    n;

    CHECK(cli_input_parse(&in, spec) == NULL);
    CHECK_OK(cli_input_tensor(&t, &in, 1));
    n     = cq_tensor_numel(t);
    *mean = *square = 0;
    for (int64_t i = 0; i < n; i++) {
        *mean += cq_tensor_get_f64(t, i) / (double)n;
        *square += cq_tensor_get_f64(t, i) * cq_tensor_get_f64(t, i) / (double)n;
    }
    cq_tensor_release(t);
}

TEST(input, random_numbers_are_normal_by_default)
{
    double mean, square;

    moments("10000", &mean, &square);
    CHECK(mean > -0.05 && mean < 0.05 && square > 0.95 && square < 1.05);
    moments("10000=normal(3,2)", &mean, &square);
    CHECK(mean > 2.9 && mean < 3.1 && square > 12.5 && square < 13.5);
    moments("10000=uniform(-1,1)", &mean, &square);
    CHECK(mean > -0.05 && mean < 0.05 && square > 0.31 && square < 0.36);
    moments("int64[10000]", &mean, &square);
    CHECK(mean > 4.3 && mean < 4.7);
    moments("int64[2,3]=7", &mean, &square);
    CHECK(mean > 6.99 && mean < 7.01 && square > 48.9 && square < 49.1);
    moments("n=2=-1.5", &mean, &square);
    CHECK(mean == -1.5);
}

TEST(input, a_file_may_come_with_names_of_axes)
{
    CHECK(cli_input_parse(&in, "batchx3=some/x.npy") == NULL);
    CHECK_STR("some/x.npy", in.path);
    CHECK_STR("batch", in.axes[0].name);
    CHECK_INT(2, in.rank);
}

TEST(input, too_many_dimensions_are_refused)
{
    char spec[2 * (CQ_MAX_RANK + 1) + 1] = "";

    for (int i = 0; i < CQ_MAX_RANK; i++)
        strcat(spec, i ? "x1" : "1");
    CHECK(cli_input_parse(&in, spec) == NULL);
    strcat(spec, "x1");
    CHECK(cli_input_parse(&in, spec) != NULL);
}

RUN_TESTS(TEST_OF(input, sizes_apart_by_x_are_float32),
          TEST_OF(input, brackets_name_the_dtype_and_may_be_empty),
          TEST_OF(input, names_make_axes_dynamic), TEST_OF(input, a_name_may_come_with_its_size),
          TEST_OF(input, files_are_recognised_by_name), TEST_OF(input, nonsense_is_refused),
          TEST_OF(input, tensors_have_the_numbers_that_were_asked_for),
          TEST_OF(input, messages_name_what_was_found_and_what_is_expected),
          TEST_OF(input, a_declared_input_gives_its_dtype_and_may_be_a_number),
          TEST_OF(input, whole_numbers_are_exact),
          TEST_OF(input, random_numbers_depend_on_the_seed_alone),
          TEST_OF(input, random_numbers_do_not_depend_on_the_dtype),
          TEST_OF(input, random_numbers_are_normal_by_default),
          TEST_OF(input, a_file_may_come_with_names_of_axes),
          TEST_OF(input, too_many_dimensions_are_refused))
