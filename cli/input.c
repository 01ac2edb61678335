/* Parses inputs of the command line. Random floats are normally distributed, like most inputs of
 * models. Random integers are from 0 to 9, small enough to be valid indices. */
#include "input.h"
#include "cli.h"

#include <calque/nn.h>
#include <calque/system.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MADE_UP = 256 << 20 }; /* bytes of generated inputs, for sizes that a file declares */

bool cli_is_tensor_file(const char *path)
{
    return cli_ends_with(path, ".npy") || cli_ends_with(path, ".pb") || cli_is_stdin(path);
}

bool cli_is_npy(const char *path)
{
    char   head[6] = "";
    size_t n;

    if (!cli_is_stdin(path) || !cq_path_read_start(path, head, sizeof head, &n))
        return cli_ends_with(path, ".npy");
    return memcmp(head, "\x93NUMPY", sizeof head) == 0;
}

cq_status cli_load_tensor(cq_tensor **out, const char *path)
{
    return cli_is_npy(path) ? cq_tensor_load_npy(out, path) : cq_tensor_load_pb(out, path);
}

static bool read_size(cli_axis *axis, const char *text)
{
    char *end;

    errno          = 0;
    axis->size     = isdigit((unsigned char)text[0]) ? strtoll(text, &end, 10) : -1;
    axis->is_sized = true;
    return axis->size >= 0 && !*end && !errno;
}

/* Formats the error in a spec; the text is valid until the next spec is parsed. */
static const char *because(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *because(const char *format, ...)
{
    static char text[512];
    va_list     args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

static const char *bad_size(const char *text, size_t len)
{
    return because("expected a size (a number or a name) but got '%.*s'; sizes are separated by x, "
                   "as in 1x3x224x224",
                   (int)(len < 64 ? len : 64), text);
}

/* Parses SIZE, NAME or NAME=SIZE. */
static const char *read_axis(cli_axis *axis, const char *text, size_t len)
{
    const char *wrong = bad_size(text, len);
    char       *equals;

    *axis = (cli_axis){ .size = CLI_DYNAMIC_EXAMPLE };
    if (len == 0)
        return "a size is missing; sizes are separated by x, as in 1x3x224x224";
    if (len >= sizeof axis->name)
        return "a size is too long";
    memcpy(axis->name, text, len);
    if (isdigit((unsigned char)axis->name[0])) {
        if (!read_size(axis, axis->name))
            return wrong;
        memset(axis->name, 0, sizeof axis->name);
        return NULL;
    }
    equals = strchr(axis->name, '=');
    if (equals) {
        *equals = '\0';
        if (!axis->name[0] || !read_size(axis, equals + 1))
            return wrong;
        memset(equals, 0, sizeof axis->name - (size_t)(equals - axis->name));
    }
    for (const char *c = axis->name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return wrong;
    return NULL;
}

/* Parses sizes from text to end, separated by separator. */
static const char *read_axes(cli_input *out, const char *text, const char *end, char separator)
{
    for (;;) {
        const char *stop = memchr(text, separator, (size_t)(end - text));
        const char *why;

        if (!stop)
            stop = end;
        if (out->rank == CQ_MAX_RANK)
            return "the input has too many dimensions";
        why = read_axis(&out->axes[out->rank], text, (size_t)(stop - text));
        if (why)
            return why;
        out->rank++;
        if (stop == end)
            return NULL;
        text = stop + 1;
    }
}

/* The words after =. Parameters in parentheses are optional. */
static const struct fill_word {
    const char *name;
    cli_fill    fill;
    bool        has_numbers;
    double      a, b;
} fill_words[] = {
    { "random", CLI_RANDOM, false, 0, 1 }, { "zeros", CLI_ZEROS, false, 0, 1 },
    { "ones", CLI_ONES, false, 0, 1 },     { "range", CLI_RANGE, false, 0, 1 },
    { "normal", CLI_NORMAL, true, 0, 1 },  { "uniform", CLI_UNIFORM, true, 0, 1 },
};

/* Parses (A,B), or nothing. */
static bool read_numbers(cli_input *out, const char *text)
{
    char *end;

    if (!*text)
        return true;
    if (*text != '(')
        return false;
    out->a = strtod(text + 1, &end);
    if (end == text + 1 || *end != ',')
        return false;
    text   = end + 1;
    out->b = strtod(text, &end);
    return end != text && strcmp(end, ")") == 0 && isfinite(out->a) && isfinite(out->b);
}

/* 0x8 is a shape, not a hexadecimal number. */
bool cli_input_number(cli_input *out, const char *text, bool *is_whole)
{
    double number;
    char  *end;

    if (!*text || isspace((unsigned char)*text) || strpbrk(text, "xX"))
        return false;
    number = strtod(text, &end);
    if (*end)
        return false;
    errno      = 0;
    out->whole = strtoll(text, &end, 10);
    *is_whole  = !*end;
    if (*end || errno) /* 1e3 is an integer too */
        out->whole = number == floor(number) && fabs(number) < 9e18 ? (int64_t)number : 0;
    out->fill = CLI_CONSTANT;
    out->a    = number;
    return true;
}

bool cli_input_bool(cli_input *out, const char *text)
{
    static const char *const words[] = { "false", "true", "False", "True" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], text) == 0) {
            out->fill  = CLI_CONSTANT;
            out->whole = (int64_t)(i % 2);
            out->a     = (double)out->whole;
            return true;
        }
    return false;
}

/* The range of a dtype of integers; false if the dtype has fractions. */
static bool integer_range(cq_dtype dtype, double *min, double *max)
{
    static const struct {
        cq_dtype dtype;
        double   min, max;
    } ranges[] = {
        { CQ_DTYPE_U8, 0, 255 },
        { CQ_DTYPE_I8, -128, 127 },
        { CQ_DTYPE_U16, 0, 65535 },
        { CQ_DTYPE_I16, -32768, 32767 },
        { CQ_DTYPE_U32, 0, 4294967295.0 },
        { CQ_DTYPE_I32, -2147483648.0, 2147483647.0 },
        { CQ_DTYPE_U64, 0, 18446744073709551615.0 },
        { CQ_DTYPE_I64, -9223372036854775808.0, 9223372036854775807.0 },
        { CQ_DTYPE_BOOL, 0, 1 },
        { CQ_DTYPE_U4, 0, 15 },
        { CQ_DTYPE_I4, -8, 7 },
        { CQ_DTYPE_U2, 0, 3 },
        { CQ_DTYPE_I2, -2, 1 },
    };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].dtype == dtype) {
            *min = ranges[i].min;
            *max = ranges[i].max;
            return true;
        }
    return false;
}

const char *cli_input_check_number(const cli_input *in)
{
    const char *dtype = cq_dtype_name(in->dtype);
    double      min, max;

    if (in->fill != CLI_CONSTANT || !integer_range(in->dtype, &min, &max))
        return NULL;
    if (in->dtype == CQ_DTYPE_BOOL && in->a != 0 && in->a != 1)
        return because("expected true or false for bool, got %.17g", in->a);
    if (in->a != floor(in->a))
        return because("expected an integer for %s, got %.17g", dtype, in->a);
    if (in->a < min || in->a > max ||
        (in->dtype == CQ_DTYPE_I64 && (double)in->whole != in->a)) /* max is rounded up */
        return because("%.17g is out of range for %s, which holds %.17g to %.17g", in->a, dtype,
                       min, max);
    return NULL;
}

static const char *read_fill(cli_input *out, const char *text)
{
    bool is_whole;

    for (size_t i = 0; i < sizeof fill_words / sizeof fill_words[0]; i++) {
        const struct fill_word *w   = &fill_words[i];
        size_t                  len = strlen(w->name);

        if (strncmp(w->name, text, len) != 0)
            continue;
        out->fill = w->fill;
        out->a    = w->a;
        out->b    = w->b;
        if (w->has_numbers ? read_numbers(out, text + len) : !text[len])
            return NULL;
    }
    if (cli_is_tensor_file(text)) {
        out->path = text;
        return NULL;
    }
    if (cli_input_number(out, text, &is_whole) || cli_input_bool(out, text))
        return NULL;
    return because("expected zeros, ones, range, random, normal(MEAN,DEVIATION), uniform(FROM,TO), "
                   "a number or FILE.npy after =, got '%.64s'",
                   text);
}

static const char *unknown_dtype(const char *name, size_t len)
{
    char names[512] = "";

    for (int d = 1; d < CQ_DTYPE_COUNT; d++) {
        const size_t at = strlen(names);

        snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : "", cq_dtype_name((cq_dtype)d));
    }
    return len ? because("unknown dtype '%.*s'; expected one of %s", (int)(len < 32 ? len : 32),
                         name, names)
               : "a dtype is missing before [, as in int64[2,3]";
}

/* Parses DTYPE[SIZE,…]; bracket points to the [. */
static const char *read_bracketed(cli_input *out, const char *spec, const char *bracket,
                                  const char *end)
{
    char   name[32] = "";
    size_t len      = (size_t)(bracket - spec);

    if (end[-1] != ']')
        return "a ] is missing";
    if (len < sizeof name)
        memcpy(name, spec, len);
    out->dtype = cq_dtype_from_name(name + (strncmp(name, "torch.", 6) == 0 ? 6 : 0));
    if (out->dtype == CQ_DTYPE_NONE)
        return unknown_dtype(spec, len);
    return bracket + 1 == end - 1 ? NULL : read_axes(out, bracket + 1, end - 1, ',');
}

/* Finds the start of the fill: the = after a ] or a size. After a name, = begins its size if a
 * number follows, which the next size may follow. Returns the end of spec if there is no fill. */
static const char *find_fill(const char *spec)
{
    const char *end   = spec + strlen(spec);
    const char *close = strrchr(spec, ']');
    const char *fill  = strrchr(spec, '=');
    const char *digit;

    if (close)
        return close[1] == '=' ? close + 1 : end;
    if (!fill)
        return end;
    for (digit = fill; digit > spec && isdigit((unsigned char)digit[-1]);)
        digit--;
    if (digit < fill && (digit == spec || digit[-1] == 'x' || digit[-1] == '='))
        return fill;
    digit = fill + 1 + strspn(fill + 1, "0123456789");
    return digit > fill + 1 && (!*digit || *digit == 'x') ? end : fill;
}

static const char *parse_made(cli_input *out, const char *spec)
{
    const char *end = find_fill(spec);
    const char *bracket;
    const char *why = *end ? read_fill(out, end + 1) : NULL;

    if (why)
        return why;
    bracket = memchr(spec, '[', (size_t)(end - spec));
    why     = bracket ? read_bracketed(out, spec, bracket, end) : read_axes(out, spec, end, 'x');
    return why ? why : cli_input_check_number(out);
}

/* Parses a single number, true or false. For a declared vector, a number is its size. */
static bool parse_scalar(cli_input *out, const char *spec, const cli_input *declared,
                         const char **why)
{
    cli_input  in       = { .dtype = declared->dtype };
    const bool is_truth = cli_input_bool(&in, spec);
    bool       is_whole = false;
    const bool is_size  = *spec && spec[strspn(spec, "0123456789")] == '\0';

    if (!is_truth && !cli_input_number(&in, spec, &is_whole))
        return false;
    if (is_size && (declared->has_any_rank || declared->rank))
        return false;
    if (in.dtype == CQ_DTYPE_NONE)
        in.dtype = is_truth ? CQ_DTYPE_BOOL : is_whole ? CQ_DTYPE_I64 : CQ_DTYPE_F32;
    *why = cli_input_check_number(&in);
    if (!*why && declared->rank)
        *why =
            because("expected a tensor of %zu dimension%s, got the number %s; %s=%s would fill one",
                    declared->rank, declared->rank == 1 ? "" : "s", spec,
                    declared->rank == 1   ? "3"
                    : declared->rank == 2 ? "2x3"
                                          : "1x3x4",
                    spec);
    *out = in;
    return true;
}

const char *cli_input_parse_as(cli_input *out, const char *spec, const cli_input *declared)
{
    const cq_dtype dtype =
        declared && declared->dtype != CQ_DTYPE_NONE ? declared->dtype : CQ_DTYPE_F32;
    const char *why = NULL;

    if (declared && parse_scalar(out, spec, declared, &why))
        return why;
    *out = (cli_input){ .dtype = dtype };
    if (!cli_is_tensor_file(spec)) {
        why = parse_made(out, spec);
        return why && cq_path_is_readable(spec)
                   ? "expected a file of numpy.save (.npy) or of a TensorProto (.pb)"
                   : why;
    }
    why = cq_path_exists(spec) ? "it is a file" : parse_made(out, spec);
    if (why)
        *out = (cli_input){ .dtype = dtype, .path = spec };
    return NULL;
}

const char *cli_input_parse(cli_input *out, const char *spec)
{
    return cli_input_parse_as(out, spec, NULL);
}

/* SplitMix64: small, and sufficient for example inputs. */
#define RANDOM_STEP 0x9e3779b97f4a7c15u

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += RANDOM_STEP;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A number in [0, 1). */
static double next_uniform(uint64_t *state)
{
    return (double)(next_random(state) >> 40) / (double)(1 << 24);
}

/* The Box-Muller transform. */
static double next_normal(uint64_t *state)
{
    const double pi     = 3.14159265358979323846;
    const double radius = sqrt(-2 * log(1 - next_uniform(state)));

    return radius * cos(2 * pi * next_uniform(state));
}

static double value_at(const cli_input *in, int64_t index, bool whole, uint64_t *state)
{
    switch (in->fill) {
    case CLI_ZEROS: return 0;
    case CLI_ONES: return 1;
    case CLI_RANGE: return (double)index;
    case CLI_CONSTANT: return in->a;
    case CLI_UNIFORM: return in->a + next_uniform(state) * (in->b - in->a);
    case CLI_NORMAL: return in->a + next_normal(state) * in->b;
    default: break;
    }
    if (in->dtype == CQ_DTYPE_BOOL)
        return (double)(next_random(state) & 1);
    return whole ? (double)(next_random(state) % 10) : next_normal(state);
}

static bool is_float(cq_dtype dtype)
{
    return dtype == CQ_DTYPE_F16 || dtype == CQ_DTYPE_BF16 || dtype == CQ_DTYPE_F32 ||
           dtype == CQ_DTYPE_F64 || dtype == CQ_DTYPE_C64 || dtype == CQ_DTYPE_C128;
}

/* The numbers are generated as float64, which represents all of them, and then converted. */
static cq_status convert(cq_tensor **out, cq_tensor *from, cq_dtype dtype)
{
    cq_ctx   *cx = NULL;
    cq_status status;

    if (dtype == cq_tensor_dtype(from)) {
        *out = cq_tensor_retain(from);
        return CQ_OK;
    }
    status = cq_ctx_new(&cx);
    if (status != CQ_OK)
        return status;
    *out   = cq_tensor_retain(cq_to(cx, from, dtype));
    status = cq_ctx_status(cx);
    cq_ctx_free(cx);
    return status;
}

/* Fills a tensor with one int64, whose last digits a float64 might not represent. */
static cq_status make_whole(cq_tensor **out, const cli_input *input, const int64_t *sizes)
{
    cq_status status = cq_tensor_new(out, CQ_DTYPE_I64, input->rank, sizes, NULL);

    for (int64_t i = 0; status == CQ_OK && i < cq_tensor_numel(*out); i++)
        ((int64_t *)cq_tensor_data(*out))[i] = input->whole;
    return status;
}

/* ---- lazy random numbers ---- */

/* The generator adds a constant per number, so the state before any element can be computed. An
 * element uses two numbers. */
static void draw_normal(void *seed, void *to, size_t from, size_t n)
{
    const uint64_t before = 2 * (uint64_t)(from / sizeof(float)) * RANDOM_STEP;
    uint64_t       state  = (uint64_t)cq_tensor_get_i64(seed, 0) + before;

    for (size_t i = 0; i < n / sizeof(float); i++)
        ((float *)to)[i] = (float)next_normal(&state);
}

static void release_seed(void *seed)
{
    cq_tensor_release(seed);
}

/* The numbers are drawn lazily, because most exports never read the numbers of their example. */
static cq_status make_normal(cq_tensor **out, const cli_input *input, const int64_t *sizes,
                             uint64_t seed)
{
    cq_tensor *kept; /* holds the seed until the numbers are drawn */
    cq_status  status = cq_tensor_new(&kept, CQ_DTYPE_I64, 0, NULL, &seed);

    return status != CQ_OK ? status
                           : cq_tensor_new_lazy(out, input->dtype, input->rank, sizes, draw_normal,
                                                release_seed, kept);
}

static cq_status make(cq_tensor **out, const cli_input *input, uint64_t seed)
{
    int64_t    sizes[CQ_MAX_RANK];
    cq_tensor *wide = NULL;
    double    *data;
    cq_status  status;

    for (size_t i = 0; i < input->rank; i++)
        sizes[i] = input->axes[i].size;
    if (input->fill == CLI_CONSTANT && input->dtype == CQ_DTYPE_I64)
        return make_whole(out, input, sizes);
    if (input->fill == CLI_RANDOM && input->dtype == CQ_DTYPE_F32)
        return make_normal(out, input, sizes, seed);
    status = cq_tensor_new(&wide, CQ_DTYPE_F64, input->rank, sizes, NULL);
    if (status != CQ_OK)
        return status;
    data = cq_tensor_data(wide);
    for (int64_t i = 0; i < cq_tensor_numel(wide); i++)
        data[i] = value_at(input, i, !is_float(input->dtype), &seed);
    status = convert(out, wide, input->dtype);
    cq_tensor_release(wide);
    return status;
}

int cli_input_check_size(const cli_input *input, const char *name)
{
    static double made_up; /* bytes generated so far */
    double        size = (double)cq_dtype_size(input->dtype);

    if (!input->is_declared)
        return CLI_DONE;
    for (size_t i = 0; i < input->rank; i++)
        size *= (double)input->axes[i].size;
    made_up += size;
    return made_up <= MOST_MADE_UP
               ? CLI_DONE
               : cli_fail_with("give the inputs, or smaller ones: --input or --example",
                               "the file declares inputs of more than %d MB, at %s, and that much "
                               "is not generated",
                               MOST_MADE_UP >> 20, name);
}

cq_status cli_input_tensor(cq_tensor **out, const cli_input *input, uint64_t seed)
{
    cq_status status;

    *out = NULL;
    if (input->path)
        return cli_load_tensor(out, input->path);
    status = make(out, input, seed);
    if (status == CQ_OK && input->is_declared)
        cq_tensor_set_made_up(*out);
    else if (status == CQ_OK)
        cli_allow_outputs((uint64_t)cq_tensor_numel(*out) * cq_dtype_size(cq_tensor_dtype(*out)));
    return status;
}
