/* Sortable keys, a stable merge sort and a selection on them. */
#include "kernel/key.h"

#include "tensor/convert.h"

enum { CHUNK = 256, SHORT = 16 };

#define SIGN (UINT64_C(1) << 63)

/* The bits of a double grow with its magnitude; those of negative numbers are inverted. */
static uint64_t key_of_f64(double x)
{
    uint64_t bits;

    if (x != x)
        return CQ_KEY_NAN;
    x += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

cq_status cq_keys_load(cq_key *keys, cq_dtype dtype, const char *from, int64_t step, int64_t n,
                       bool flip)
{
    union {
        double  f64[CHUNK];
        int64_t i64[CHUNK];
    } chunk;
    bool        real = cq_dtype_is_float(dtype);
    cq_load_fn *load = cq_load_of(dtype, real ? CQ_WIDE_F64 : CQ_WIDE_I64);
    uint64_t    sign = dtype == CQ_DTYPE_U64 ? 0 : SIGN;

    if (!load)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "elements of type %s cannot be ordered",
                       cq_dtype_name(dtype));
    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t m = n - i < CHUNK ? n - i : CHUNK;

        load(&chunk, from + i * step, step, m);
        for (int64_t k = 0; k < m; k++) {
            uint64_t key = real ? key_of_f64(chunk.f64[k]) : (uint64_t)chunk.i64[k] ^ sign;

            keys[i + k] = (cq_key){ flip ? ~key : key, i + k };
        }
    }
    return CQ_OK;
}

static void insertion_sort(cq_key *keys, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        cq_key  k = keys[i];
        int64_t j = i;

        for (; j > 0 && keys[j - 1].key > k.key; j--)
            keys[j] = keys[j - 1];
        keys[j] = k;
    }
}

static void merge(cq_key *to, const cq_key *a, int64_t n_a, const cq_key *b, int64_t n_b)
{
    while (n_a > 0 && n_b > 0) {
        bool second = b->key < a->key;

        *to++ = second ? *b : *a;
        b += second;
        n_b -= second;
        a += !second;
        n_a -= !second;
    }
    memcpy(to, n_a ? a : b, (size_t)(n_a ? n_a : n_b) * sizeof *to);
}

void cq_keys_sort(cq_key *keys, cq_key *scratch, int64_t n)
{
    cq_key *from = keys, *to = scratch;

    for (int64_t i = 0; i < n; i += SHORT)
        insertion_sort(keys + i, n - i < SHORT ? n - i : SHORT);
    for (int64_t width = SHORT; width < n; width *= 2) {
        cq_key *swap = from;

        for (int64_t i = 0; i < n; i += 2 * width) {
            int64_t a = n - i < width ? n - i : width;
            int64_t b = n - i - a < width ? n - i - a : width;

            merge(to + i, from + i, a, from + i + a, b);
        }
        from = to;
        to   = swap;
    }
    if (from != keys)
        memcpy(keys, from, (size_t)n * sizeof *keys);
}

static bool less(const cq_key *a, const cq_key *b)
{
    return a->key != b->key ? a->key < b->key : a->index < b->index;
}

static void swap_keys(cq_key *a, cq_key *b)
{
    cq_key k = *a;

    *a = *b;
    *b = k;
}

/* Hoare's selection. The pivot is the median of three, so sorted lanes are not a bad case. Indices
 * make all elements distinct, so equal keys are not a bad case either. */
void cq_keys_select(cq_key *keys, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;

    while (low < high && k > low && k <= high) {
        cq_key *middle = &keys[low + (high - low) / 2], pivot;
        int64_t i = low, j = high;

        if (less(middle, &keys[low]))
            swap_keys(middle, &keys[low]);
        if (less(&keys[high], middle))
            swap_keys(&keys[high], middle);
        if (less(middle, &keys[low]))
            swap_keys(middle, &keys[low]);
        pivot = *middle;
        while (i <= j) {
            while (less(&keys[i], &pivot))
                i++;
            while (less(&pivot, &keys[j]))
                j--;
            if (i <= j)
                swap_keys(&keys[i++], &keys[j--]);
        }
        if (k - 1 <= j)
            high = j;
        else if (k - 1 >= i)
            low = i;
        else
            return;
    }
}
