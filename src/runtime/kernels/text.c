/* Operators on strings. */
#include "runtime/kernels/families.h"
#include "runtime/plan/work.h"

#include "base/regex.h"
#include "base/str.h"

#include <inttypes.h>
#include <string.h>

static cq_status set_texts(cq_texts **out, cq_rt *rt, size_t i, size_t rank, const int64_t *sizes)
{
    CQ_TRY(cq_texts_new(out, rank, sizes));
    return cq_rt_set(rt, i, cq_val_of_texts(*out));
}

/* ---- StringNormalizer ---- */

/* Changes the case of ASCII letters, and of Latin-1 letters in UTF-8 (0xc3 and a second byte);
 * others are unchanged. */
static char changed_case(char c, char before, bool upper)
{
    unsigned char u     = (unsigned char)c;
    bool          latin = (unsigned char)before == 0xc3;

    if (upper && ((c >= 'a' && c <= 'z') || (latin && u >= 0xa0 && u <= 0xbe && u != 0xb7)))
        return (char)(u - 0x20);
    if (!upper && ((c >= 'A' && c <= 'Z') || (latin && u >= 0x80 && u <= 0x9e && u != 0x97)))
        return (char)(u + 0x20);
    return c;
}

static void change_case(char *text, size_t len, bool upper)
{
    char before = 0;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        text[i] = changed_case(c, before, upper);
        before  = c;
    }
}

static bool same_text(const char *a, size_t a_len, const cq_onnx_bytes *b, bool case_matters)
{
    char a_before = 0, b_before = 0;

    if (a_len != b->size)
        return false;
    for (size_t i = 0; i < a_len; i++) {
        char x = a[i], y = ((const char *)b->data)[i];

        if (case_matters ? x != y
                         : changed_case(x, a_before, false) != changed_case(y, b_before, false))
            return false;
        a_before = x;
        b_before = y;
    }
    return true;
}

/* The comparison of long strings is charged up to the first difference. */
static cq_status find_stopword(bool *found, cq_rt *rt, const cq_onnx_attribute *words,
                               const cq_texts *x, size_t i, bool case_matters)
{
    const size_t len  = cq_texts_len(x, i);
    double       work = 0;

    *found = false;
    for (uint32_t k = 0; words && k < words->strings.n; k++)
        work += 16 + (words->strings.items[k].size == len ? 4 * (double)len : 0);
    CQ_TRY(cq_rt_spend_on_elements(rt, work));
    for (uint32_t k = 0; words && k < words->strings.n && !*found; k++)
        *found = same_text(cq_texts_at(x, i), len, &words->strings.items[k], case_matters);
    return CQ_OK;
}

static cq_status string_normalizer(cq_rt *rt)
{
    const cq_texts          *x            = cq_val_texts(rt->in[0]);
    const cq_onnx_attribute *words        = cq_rt_attr_given(rt, "stopwords");
    bool                     case_matters = cq_rt_int(rt, "is_case_sensitive");
    bool                     upper        = cq_rt_is(rt, "case_change_action", "UPPER");
    bool                     lower        = cq_rt_is(rt, "case_change_action", "LOWER");
    bool                     found;
    int64_t                  sizes[2] = { 1, 1 }, n = 0;
    cq_texts                *y;

    if (x->rank < 1 || x->rank > 2 || (x->rank == 2 && x->sizes[0] != 1))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "X has rank %u, expected [C] or [1, C]", x->rank);
    for (size_t i = 0; i < x->n; i++) {
        CQ_TRY(find_stopword(&found, rt, words, x, i, case_matters));
        n += !found;
    }
    sizes[x->rank - 1] = n ? n : 1; /* one empty string represents an empty list */
    CQ_TRY(set_texts(&y, rt, 0, x->rank, sizes));
    for (size_t i = 0, to = 0; i < x->n; i++) {
        CQ_TRY(find_stopword(&found, rt, words, x, i, case_matters));
        if (found)
            continue;
        CQ_TRY(cq_texts_set(y, to, cq_texts_at(x, i), cq_texts_len(x, i)));
        if (upper || lower)
            change_case(y->items[to]->text, y->items[to]->len, upper);
        to++;
    }
    return CQ_OK;
}

/* ---- TfIdfVectorizer ---- */

#define NO_ITEM UINT32_MAX

/* An n-gram of the pool: n items from index first on. */
typedef struct gram {
    uint32_t first, n;
    uint32_t output; /* index of its output */
} gram;

typedef struct vectorizer {
    const cq_onnx_attribute *counts, *indexes, *ints, *strings, *weights;
    const cq_texts          *texts; /* only one of the two is used */
    const cq_tensor         *numbers;
    int64_t                  shortest, longest, max_skip, n_out;

    /* Items as numbers. Equal items of the pool have the number of the first of them; items of the
     * input that are not in the pool have no number. */
    uint32_t *pool, *items;
    uint32_t *found; /* hash table of the items of the pool: number + 1 */
    gram     *grams;
    uint32_t *by_items; /* hash table of the n-grams: index + 1 */
    size_t    mask;     /* of both tables */
    uint32_t  n_grams;
    uint32_t *key; /* items of an n-gram of the input */
} vectorizer;

static uint32_t pool_size(const vectorizer *v)
{
    return v->texts ? v->strings->strings.n : v->ints->ints.n;
}

/* The bytes of an item: a string or an integer. */
static cq_onnx_bytes pool_item(const vectorizer *v, uint32_t i)
{
    if (v->texts)
        return v->strings->strings.items[i];
    return (cq_onnx_bytes){ &v->ints->ints.items[i], sizeof(int64_t) };
}

/* The slot of an item in the table, or the empty slot for it. */
static size_t slot_of_item(const vectorizer *v, const void *data, size_t size)
{
    size_t slot = (size_t)cq_hash_bytes(data, size) & v->mask;

    for (; v->found[slot]; slot = (slot + 1) & v->mask) {
        const cq_onnx_bytes item = pool_item(v, v->found[slot] - 1);

        if (item.size == size && (!size || memcmp(item.data, data, size) == 0))
            break;
    }
    return slot;
}

static size_t slot_of_gram(const vectorizer *v, const uint32_t *items, uint32_t n)
{
    size_t slot = (size_t)cq_hash_bytes(items, n * sizeof *items) & v->mask;

    for (; v->by_items[slot]; slot = (slot + 1) & v->mask) {
        const gram *g = &v->grams[v->by_items[slot] - 1];

        if (g->n == n && memcmp(v->pool + g->first, items, n * sizeof *items) == 0)
            break;
    }
    return slot;
}

static void number_pool(vectorizer *v)
{
    for (uint32_t i = 0; i < pool_size(v); i++) {
        const cq_onnx_bytes item = pool_item(v, i);
        const size_t        slot = slot_of_item(v, item.data, item.size);

        if (!v->found[slot])
            v->found[slot] = i + 1;
        v->pool[i] = v->found[slot] - 1;
    }
}

static void number_items(vectorizer *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t number = v->texts ? 0 : cq_tensor_get_i64(v->numbers, i);
        const size_t  slot   = v->texts ? slot_of_item(v, cq_texts_at(v->texts, (size_t)i),
                                                       cq_texts_len(v->texts, (size_t)i))
                                        : slot_of_item(v, &number, sizeof number);

        v->items[i] = v->found[slot] ? v->found[slot] - 1 : NO_ITEM;
    }
}

/* The first of equal n-grams counts. */
static void number_grams(vectorizer *v)
{
    uint32_t output = 0;

    for (uint32_t c = 0; c < v->counts->ints.n; c++) {
        const uint32_t n = c + 1, first = (uint32_t)v->counts->ints.items[c];
        const uint32_t last =
            c + 1 < v->counts->ints.n ? (uint32_t)v->counts->ints.items[c + 1] : pool_size(v);

        for (uint32_t i = first; (uint64_t)i + n <= last; i += n, output++) {
            const size_t slot = slot_of_gram(v, v->pool + i, n);

            if (v->by_items[slot])
                continue;
            v->grams[v->n_grams++] = (gram){ i, n, output };
            v->by_items[slot]      = v->n_grams;
        }
    }
}

/* The output of the n-gram of n items from `at` on, step apart; -1: none. */
static int64_t find_gram(const vectorizer *v, int64_t at, int64_t step, uint32_t n)
{
    const gram *g;
    size_t      slot;

    for (uint32_t k = 0; k < n; k++) {
        v->key[k] = v->items[at + k * step];
        if (v->key[k] == NO_ITEM)
            return -1;
    }
    slot = slot_of_gram(v, v->key, n);
    g    = v->by_items[slot] ? &v->grams[v->by_items[slot] - 1] : NULL;
    return g && g->output < v->indexes->ints.n ? v->indexes->ints.items[g->output] : -1;
}

static cq_status count_grams(const vectorizer *v, cq_rt *rt, float *to, int64_t row, int64_t length)
{
    for (uint32_t n = 1; n <= v->counts->ints.n; n++)
        /* N-grams of one item have no gaps. */
        for (int64_t skip = 0; n >= v->shortest && n <= v->longest &&
                               skip <= (n == 1 ? 0 : v->max_skip) && (n - 1) * (skip + 1) < length;
             skip++) {
            CQ_TRY(cq_rt_spend_on_elements(rt, (double)length * (32 + n)));
            for (int64_t at = 0; at + (n - 1) * (skip + 1) < length; at++) {
                int64_t found = find_gram(v, row * length + at, skip + 1, n);

                if (found >= 0)
                    to[found]++;
            }
        }
    return CQ_OK;
}

/* Builds the tables for the pool and n items of the input. */
static cq_status vectorizer_begin(vectorizer *v, cq_rt *rt, int64_t n)
{
    const uint32_t size = pool_size(v);
    double         work = 64.0 * ((double)size + (double)n);

    for (uint32_t i = 0; v->texts && i < size; i++)
        work += (double)v->strings->strings.items[i].size;
    for (int64_t i = 0; v->texts && i < n; i++)
        work += (double)cq_texts_len(v->texts, (size_t)i);
    CQ_TRY(cq_rt_spend_on_elements(rt, work));
    for (v->mask = 15; v->mask / 2 < size;)
        v->mask = 2 * v->mask + 1;
    v->pool     = cq_alloc_array(size, sizeof *v->pool);
    v->items    = cq_alloc_array((size_t)n, sizeof *v->items);
    v->found    = cq_zalloc((v->mask + 1) * sizeof *v->found);
    v->grams    = cq_alloc_array(size, sizeof *v->grams);
    v->by_items = cq_zalloc((v->mask + 1) * sizeof *v->by_items);
    v->key      = cq_alloc_array(v->counts->ints.n, sizeof *v->key);
    if (!v->pool || !v->items || !v->found || !v->grams || !v->by_items || !v->key)
        return CQ_E_NO_MEMORY;
    number_pool(v);
    number_items(v, n);
    number_grams(v);
    return CQ_OK;
}

static void vectorizer_end(vectorizer *v)
{
    cq_free(v->pool);
    cq_free(v->items);
    cq_free(v->found);
    cq_free(v->grams);
    cq_free(v->by_items);
    cq_free(v->key);
}

static cq_status vectorizer_init(vectorizer *v, cq_rt *rt)
{
    *v = (vectorizer){ .counts   = cq_rt_attr_given(rt, "ngram_counts"),
                       .indexes  = cq_rt_attr_given(rt, "ngram_indexes"),
                       .ints     = cq_rt_attr_given(rt, "pool_int64s"),
                       .strings  = cq_rt_attr_given(rt, "pool_strings"),
                       .weights  = cq_rt_attr_given(rt, "weights"),
                       .texts    = cq_val_texts(rt->in[0]),
                       .numbers  = cq_rt_in(rt, 0),
                       .shortest = cq_rt_int(rt, "min_gram_length"),
                       .longest  = cq_rt_int(rt, "max_gram_length"),
                       .max_skip = cq_rt_int(rt, "max_skip_count") };
    if (!v->counts || !v->indexes || !(v->texts ? v->strings : v->ints))
        return cq_fail(CQ_E_INVALID, NULL, NULL, "the n-gram pool for the input type is missing");
    for (uint32_t i = 0; i < v->counts->ints.n; i++)
        if (v->counts->ints.items[i] < (i ? v->counts->ints.items[i - 1] : 0) ||
            v->counts->ints.items[i] > pool_size(v))
            return cq_fail(CQ_E_INVALID, NULL, NULL, "ngram_counts has %" PRId64 ", the pool %u",
                           v->counts->ints.items[i], pool_size(v));
    for (uint32_t i = 0; i < v->indexes->ints.n; i++) {
        int64_t index = v->indexes->ints.items[i];

        if (index < 0 || index > INT32_MAX)
            return cq_fail(CQ_E_INVALID, NULL, NULL, "ngram_indexes has %" PRId64, index);
        v->n_out = index >= v->n_out ? index + 1 : v->n_out;
    }
    return CQ_OK;
}

/* The weight of an output is that of the n-gram that maps to it. */
static void weigh(const vectorizer *v, float *row, bool counts_matter)
{
    for (int64_t i = 0; !counts_matter && i < v->n_out; i++)
        row[i] = row[i] > 0;
    for (uint32_t i = 0; v->weights && i < v->indexes->ints.n && i < v->weights->floats.n; i++)
        row[v->indexes->ints.items[i]] *= v->weights->floats.items[i];
}

static cq_status tfidf_vectorizer(cq_rt *rt)
{
    vectorizer v;
    int64_t    sizes[2], rank, rows = 1, length;
    float     *to;
    cq_tensor *y;
    cq_status  status;

    CQ_TRY(vectorizer_init(&v, rt));
    rank = v.texts ? v.texts->rank : v.numbers->rank;
    if (rank < 1 || rank > 2)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "X has rank %" PRId64 ", expected 1 or 2", rank);
    for (int64_t i = 0; i < rank; i++)
        sizes[i] = v.texts ? v.texts->sizes[i] : cq_size_of(v.numbers, (size_t)i);
    rows            = rank == 2 ? sizes[0] : 1;
    length          = sizes[rank - 1];
    sizes[rank - 1] = v.n_out;
    CQ_TRY(cq_rt_out(&y, rt, 0, CQ_DTYPE_F32, (size_t)rank, sizes));
    CQ_TRY(cq_kernel_fill_i64(y, 0));
    to     = cq_tensor_data(y);
    status = vectorizer_begin(&v, rt, rows * length);
    for (int64_t i = 0; i < rows && status == CQ_OK; i++, to += v.n_out) {
        status = cq_rt_spend_on_elements(rt, 64 + (double)v.indexes->ints.n);
        if (status == CQ_OK)
            status = count_grams(&v, rt, to, i, length);
        if (status == CQ_OK && !cq_rt_is(rt, "mode", "TF"))
            weigh(&v, to, cq_rt_is(rt, "mode", "TFIDF"));
    }
    vectorizer_end(&v);
    return status;
}

/* ---- StringConcat and StringSplit ---- */

/* The index in t of element i of sizes, to which t broadcasts. */
static size_t broadcast_place(const cq_texts *t, const cq_rt_sizes *sizes, size_t i)
{
    size_t index = 0, step = 1;

    for (uint32_t d = 0; d < sizes->rank; d++) { /* from the last dimension */
        size_t  size = (size_t)sizes->at[sizes->rank - 1 - d], at = i % size;
        int64_t own = d < t->rank ? t->sizes[t->rank - 1 - d] : 1;

        i /= size;
        if (own != 1)
            index += at * step;
        step *= (size_t)own;
    }
    return index;
}

static cq_status string_concat(cq_rt *rt)
{
    const cq_texts *a = cq_val_texts(rt->in[0]), *b = cq_val_texts(rt->in[1]), *both[] = { a, b };
    cq_int          plain[CQ_MAX_RANK];
    cq_rt_sizes     sizes = { 0 };
    cq_texts       *y;

    for (int k = 0; k < 2; k++) {
        cq_tensor shape = { .rank = both[k]->rank, .sizes = plain };

        for (uint32_t i = 0; i < shape.rank; i++)
            plain[i] = cq_i(both[k]->sizes[i]);
        CQ_TRY(cq_rt_broadcast_with(&sizes, &shape));
    }
    CQ_TRY(set_texts(&y, rt, 0, sizes.rank, sizes.at));
    for (size_t i = 0; i < y->n; i++) {
        cq_str    text = { 0 };
        cq_status status;

        for (int k = 0; k < 2; k++) {
            size_t at = broadcast_place(both[k], &sizes, i);

            cq_str_add_n(&text, cq_texts_at(both[k], at), cq_texts_len(both[k], at));
        }
        status = text.status;
        if (status == CQ_OK)
            status = cq_texts_set(y, i, cq_str_text(&text), text.len);
        cq_str_clear(&text);
        CQ_TRY(status);
    }
    return CQ_OK;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Finds the next piece: *from is advanced behind it, and *end is its end. Returns false after the
 * last. An empty delimiter means any white space. rest takes all remaining text. */
static bool next_piece(const char *text, size_t len, const char *delimiter, bool rest, size_t *from,
                       size_t *begin, size_t *end)
{
    size_t width = strlen(delimiter);

    if (!width) {
        while (*from < len && is_space(text[*from]))
            ++*from;
        if (*from == len)
            return false;
        *begin = *end = *from;
        while (*end < len && (rest || !is_space(text[*end])))
            ++*end;
        while (rest && *end > *begin && is_space(text[*end - 1]))
            --*end;
        *from = rest ? len : *end;
        return true;
    }
    if (*from > len)
        return false;
    *begin = *end = *from;
    while (*end < len && (rest || len - *end < width || memcmp(text + *end, delimiter, width) != 0))
        ++*end;
    *from = *end == len ? len + 1 : *end + width;
    return true;
}

/* Splits element i. If y is not NULL, the pieces are stored in it from index at on. */
static cq_status split_one(int64_t *n, cq_texts *y, size_t at, const cq_texts *x, size_t i,
                           const char *delimiter, int64_t limit)
{
    size_t from = 0, begin, end;

    *n = 0;
    if (!cq_texts_len(x, i))
        return CQ_OK;
    while (next_piece(cq_texts_at(x, i), cq_texts_len(x, i), delimiter, limit >= 0 && *n == limit,
                      &from, &begin, &end)) {
        if (y)
            CQ_TRY(cq_texts_set(y, at + (size_t)*n, cq_texts_at(x, i) + begin, end - begin));
        ++*n;
    }
    return CQ_OK;
}

static cq_status string_split(cq_rt *rt)
{
    const cq_texts *x         = cq_val_texts(rt->in[0]);
    const char     *delimiter = cq_rt_string(rt, "delimiter");
    int64_t         limit     = cq_rt_attr_given(rt, "maxsplit") ? cq_rt_int(rt, "maxsplit") : -1;
    int64_t         sizes[CQ_MAX_RANK], most = 0, n;
    cq_tensor      *counts;
    cq_texts       *y;

    if (x->rank == CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "X has rank %u", x->rank);
    CQ_TRY(cq_rt_scratch(&counts, rt, CQ_DTYPE_I64, x->rank, x->sizes));
    for (size_t i = 0; i < x->n; i++) {
        (void)split_one(&n, NULL, 0, x, i, delimiter, limit);
        ((int64_t *)cq_tensor_data(counts))[i] = n;
        most                                   = n > most ? n : most;
    }
    if (cq_rt_wants(rt, 1))
        CQ_TRY(cq_rt_pass(rt, 1, counts));
    memcpy(sizes, x->sizes, x->rank * sizeof *sizes);
    sizes[x->rank] = most;
    CQ_TRY(set_texts(&y, rt, 0, x->rank + 1, sizes));
    for (size_t i = 0; i < x->n; i++)
        CQ_TRY(split_one(&n, y, i * (size_t)most, x, i, delimiter, limit));
    return CQ_OK;
}

static cq_status regex_full_match(cq_rt *rt)
{
    const cq_texts *x       = cq_val_texts(rt->in[0]);
    const char     *pattern = cq_rt_string(rt, "pattern");
    cq_status       status  = CQ_OK;
    cq_tensor      *y;
    cq_regex       *re;
    bool           *to;

    CQ_TRY(cq_rt_out(&y, rt, 0, CQ_DTYPE_BOOL, x->rank, x->sizes));
    to = cq_tensor_data(y);
    CQ_TRY(cq_regex_new(&re, pattern, strlen(pattern)));
    for (size_t i = 0; i < x->n && status == CQ_OK; i++)
        if ((status = cq_rt_spend_on_elements(rt, 8 * (double)cq_regex_size(re) *
                                                      (double)cq_texts_len(x, i))) == CQ_OK)
            status = cq_regex_matches(&to[i], re, cq_texts_at(x, i), cq_texts_len(x, i));
    cq_regex_free(re);
    return status;
}

const cq_rt_row cq_rt_rows_text[] = {
    { "StringNormalizer", 10, string_normalizer, CQ_RT_TEXT_OWN, 0 },
    { "TfIdfVectorizer", 9, tfidf_vectorizer, CQ_RT_TEXT_OWN, 0 },
    { "StringConcat", 20, string_concat, CQ_RT_TEXT_OWN, 0 },
    { "RegexFullMatch", 20, regex_full_match, CQ_RT_TEXT_OWN, 0 },
    { "StringSplit", 20, string_split, CQ_RT_TEXT_OWN, 0 },
    { 0 },
};
