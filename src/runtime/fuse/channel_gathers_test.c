/* Concatenating, slicing and shuffling channels of blocked feature maps gives the same numbers as
 * the unfused steps. */
#include "rewrites.h"

#include <stdio.h>

/* Feature maps a with 10 channels and b with 7. */
#define HEAD                                                                                       \
    "<ir_version: 8, opset_import: [\"\" : 17]>\n"                                                 \
    "g (float[n,3,h,w] x) => (float[c,d,e,f] y) {\n"                                               \
    "  zero = Constant <value = float {0}> ()\n"                                                   \
    "  tenth = Constant <value = float {0.1}> ()\n"                                                \
    "  end_a = Constant <value = float {3}> ()\n"                                                  \
    "  end_b = Constant <value = float {2.1}> ()\n"                                                \
    "  flat_a = Range(zero, end_a, tenth)\n"                                                       \
    "  flat_b = Range(zero, end_b, tenth)\n"                                                       \
    "  like_a = Constant <value = int64[4] {-1,3,1,1}> ()\n"                                       \
    "  weight_a = Reshape(flat_a, like_a)\n"                                                       \
    "  weight_b = Reshape(flat_b, like_a)\n"                                                       \
    "  a = Conv(x, weight_a)\n"                                                                    \
    "  conv_b = Conv(x, weight_b)\n"                                                               \
    "  b = Relu(conv_b)\n"                                                                         \
    "  one = Constant <value = int64[1] {1}> ()\n"                                                 \
    "  two = Constant <value = int64[1] {2}> ()\n"                                                 \
    "  six = Constant <value = int64[1] {6}> ()\n"
#define SHUFFLE(x)                                                                                 \
    "  groups = Constant <value = int64[5] {0,2,-1,4,5}> ()\n"                                     \
    "  image = Constant <value = int64[4] {-1,10,4,5}> ()\n"                                       \
    "  parts = Reshape(" x ", groups)\n"                                                           \
    "  turned = Transpose <perm = [0,2,1,3,4]> (parts)\n"                                          \
    "  shuffled = Reshape(turned, image)\n"

static const struct {
    const char *text;
    int         n_steps; /* expected number of channel gathers */
    const char *fetch;
} cases[] = {
    { HEAD "  y = Concat <axis = 1> (a, b, a)\n}\n", 1, NULL },
    { HEAD "  c = Concat <axis = 1> (a, b)\n"
           "  y = Slice(c, two, six, one)\n}\n",
      1, NULL },
    { HEAD "  first = Constant <value = int64[1] {-2}> ()\n"
           "  end = Constant <value = int64[1] {-100}> ()\n"
           "  back = Constant <value = int64[1] {-3}> ()\n"
           "  c = Concat <axis = 1> (a, b)\n"
           "  y = Slice(c, first, end, one, back)\n}\n",
      1, NULL },
    { HEAD "  lengths = Constant <value = int64[3] {3,5,2}> ()\n"
           "  p, q, r = Split <axis = 1> (a, lengths)\n"
           "  y = Concat <axis = 1> (r, b, p, q)\n}\n",
      1, NULL },
    { HEAD "  p, q = Split <axis = -3> (a)\n"
           "  s = Sub(q, p)\n"
           "  y = Concat <axis = 1> (s, p)\n}\n",
      3, "p" },
    { HEAD "  indices = Constant <value = int64[5] {-1,0,3,3,9}> ()\n"
           "  y = Gather <axis = 1> (a, indices)\n}\n",
      1, NULL },
    { HEAD SHUFFLE("a") "  y = Relu(shuffled)\n}\n", 1, NULL },
    { HEAD SHUFFLE("a") "  y = Relu(shuffled)\n}\n", 1, "turned" },
    /* one half of the channels, as torch.chunk is exported */
    { HEAD SHUFFLE("a") "  shape = Shape(shuffled)\n"
                        "  channels = Gather(shape, one)\n"
                        "  half = Div(channels, two)\n"
                        "  y = Slice(shuffled, half, channels, one)\n}\n",
      1, NULL },
    { HEAD "  c = Concat <axis = 1> (b, a)\n"
           "  d = Slice(c, one, six, one)\n"
           "  e = Concat <axis = 1> (d, a, d)\n"
           "  k, l = Split <axis = 1> (e)\n"
           "  y = Concat <axis = 1> (l, b, k, a)\n}\n",
      1, NULL },
    /* an axis that is not the channel axis */
    { HEAD "  y = Slice(a, one, two, two)\n}\n", 0, NULL },
    { HEAD "  y = Gather <axis = 2> (a, one)\n}\n", 0, NULL },
    { HEAD "  p, y = Split <axis = 2> (a)\n}\n", 0, NULL },
    { HEAD "  y = Concat <axis = 3> (a, a)\n}\n", 0, NULL },
};

TEST(channel_gathers, give_the_numbers_of_the_steps)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cq_tensor *x = numbers(4, (int64_t[]){ 2, 3, 4, 5 }, 1);

        expect_same(cases[i].text, &x, 1, "Pick", cases[i].n_steps, cases[i].fetch);
        cq_tensor_release(x);
    }
}

static void expect_refused(const char *text, const int64_t *sizes)
{
    cq_onnx_model *m = parsed(text);
    cq_tensor     *x = numbers(4, sizes, 1), *y = NULL;
    cq_session    *s;

    CHECK_OK(cq_session_prepare(&s, m, NULL));
    CHECK(cq_session_run_tensors(s, &x, 1, &y, 1) != CQ_OK);
    cq_session_free(s);
    cq_onnx_model_free(m);
    cq_tensor_release(x);
}

TEST(channel_gathers, gathers_respect_the_sizes_of_a_reshape)
{
    expect_refused(HEAD SHUFFLE("a") "  y = Relu(shuffled)\n}\n", (int64_t[]){ 2, 3, 4, 6 });
    expect_refused(HEAD SHUFFLE("a") "  y = Slice(shuffled, two, six, one)\n}\n",
                   (int64_t[]){ 2, 3, 5, 4 });
}

/* 10 * 2^60 channels must not be enumerated. */
TEST(channel_gathers, do_not_grow_without_limit)
{
    char           text[8192] = HEAD "  c0 = Relu(a)\n";
    cq_onnx_model *m;
    cq_session    *s;

    for (int i = 0; i < 60; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  c%d = Concat <axis = 1> (c%d, c%d)\n", i + 1, i, i);
    strcat(text, "  y = Relu(c60)\n}\n");
    m = parsed(text);
    CHECK_OK(cq_session_prepare(&s, m, NULL));
    cq_session_free(s);
    cq_onnx_model_free(m);
}

/* Each layer has four times the rows and columns of the previous one. */
TEST(channel_gathers, sizes_computed_in_advance_do_not_overflow)
{
    char           text[8192] = "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                                "g (float[1,1,4,4] v0) => (float[c,d,e,f] v60) {\n"
                                "  flat = Constant <value = float[1] {1}> ()\n"
                                "  sizes = Constant <value = int64[4] {1,1,4,4}> ()\n"
                                "  weight = Expand(flat, sizes)\n";
    cq_onnx_model *m;
    cq_session    *s;

    for (int i = 0; i < 60; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  v%d = ConvTranspose <strides = [4,4]> (v%d, weight)\n", i + 1, i);
    strcat(text, "}\n");
    m = parsed(text);
    CHECK_OK(cq_session_prepare(&s, m, NULL));
    cq_session_free(s);
    cq_onnx_model_free(m);
}

RUN_TESTS(TEST_OF(channel_gathers, sizes_computed_in_advance_do_not_overflow),
          TEST_OF(channel_gathers, give_the_numbers_of_the_steps),
          TEST_OF(channel_gathers, gathers_respect_the_sizes_of_a_reshape),
          TEST_OF(channel_gathers, do_not_grow_without_limit))
