/* Scans the opcodes of a pickle with tokens: the stack holds the kinds of values, not the values. A
 * token and its cost take 32 bytes, and an opcode makes at most one, so memory is in proportion to
 * the file. Nothing is imported, called or built. */
#include "audit/audit.h"

#include "base/alloc.h"
#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Objects that share parts, as a DAG of depth n with 2^n paths: a reader that copies or walks it
 * without noticing takes all memory or time. An opcode that is not a reference takes a byte or
 * more, so honest files have less than one value for each byte. */
#define MIN_COPIES      1e5
#define COPIES_PER_BYTE 20.0

#define PATH_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

/* A call that claims more bytes than this has the size as an argument, not the data. */
#define MAX_CLAIMED 0x1p28

/* Longer texts would be compared, copied or printed once for each of a few bytes of the file. */
enum { MAX_NAME = 256, MAX_KEY = 100, MAX_RANK = 64 };

typedef enum token_kind {
    OTHER, /* a number, None, bytes, … */
    INT,
    TEXT,
    MARK,
    LIST,
    DICT,
    SET,
    TUPLE,
    GLOBAL,
    STORAGE,
    TENSOR,
    OBJECT /* the result of an unknown or harmless class */
} token_kind;

typedef struct token {
    token_kind kind;
    uint32_t   n; /* of TEXT: bytes; of TUPLE: items; of GLOBAL, STORAGE: index */
    union {
        int64_t     i;
        const char *text;
        size_t      first; /* of TUPLE: in items */
    } u;
    uint32_t cost; /* of containers and objects: 1 + index in costs; 0: a single value */
} token;

typedef struct global {
    const char    *module, *name; /* in the arena */
    cq_audit_class kind;
} global;

typedef struct scan {
    cq_audit            *a;
    const char          *where;
    const unsigned char *data;
    size_t               size, at;
    CQ_VEC(token) stack;
    CQ_VEC(token) items;  /* of tuples */
    CQ_VEC(double) costs; /* values that a copy without sharing would have */
    CQ_VEC(token) memo;
    cq_ptr_map sparse_memo; /* indices beyond the array to index + 1 in far */
    CQ_VEC(token) far;
    CQ_VEC(global) globals;
    cq_map           imports; /* "MODULE.NAME" to index + 1 in globals */
    cq_audit_pickle *out;
    const char      *damage; /* NULL: none so far */
    bool             is_silent;
} scan;

#define ADD(s, ...)                                                                                \
    do {                                                                                           \
        if (!(s)->is_silent)                                                                       \
            cq_audit_add((s)->a, __VA_ARGS__);                                                     \
    } while (0)

static void fail(scan *s, const char *why)
{
    if (!s->damage)
        s->damage = why;
}

static void no_memory(scan *s)
{
    s->a->status = CQ_E_NO_MEMORY;
    fail(s, "out of memory");
}

static void push(scan *s, token t)
{
    if (cq_vec_push(&s->stack, t) != CQ_OK)
        no_memory(s);
}

static token pop(scan *s)
{
    if (!s->stack.n) {
        fail(s, "an opcode takes more than the stack has");
        return (token){ OTHER, 0, { 0 }, 0 };
    }
    return s->stack.items[--s->stack.n];
}

static token *top(scan *s)
{
    static token nothing;

    if (!s->stack.n) {
        fail(s, "an opcode takes more than the stack has");
        nothing = (token){ OTHER, 0, { 0 }, 0 };
        return &nothing;
    }
    return &s->stack.items[s->stack.n - 1];
}

/* ---- how many values an object is for a reader that does not share them ---- */

static double cost_of(const scan *s, token t)
{
    return t.cost && t.cost <= s->costs.n ? s->costs.items[t.cost - 1] : 1;
}

/* A container or object; all copies of the token have its cost. */
static token with_cost(scan *s, token t, double cost)
{
    if (s->costs.n < UINT32_MAX && cq_vec_push(&s->costs, cost) != CQ_OK)
        no_memory(s);
    t.cost = (uint32_t)s->costs.n;
    return t;
}

static void push_container(scan *s, token_kind kind)
{
    push(s, with_cost(s, (token){ kind, 0, { 0 }, 0 }, 1));
}

static double cost_from(const scan *s, size_t first)
{
    double cost = 0;

    for (size_t i = first; i < s->stack.n; i++)
        cost += cost_of(s, s->stack.items[i]);
    return cost;
}

/* The value below becomes part of the container or object at the top. */
static void add_cost(scan *s, double cost)
{
    token *t = top(s);

    if (t->cost && t->cost <= s->costs.n)
        s->costs.items[t->cost - 1] += cost;
    else if (t->kind == OBJECT || t->kind == TENSOR)
        *t = with_cost(s, *t, 1 + cost);
}

/* The start of the items after the last mark; the caller removes the mark with them. */
static size_t find_mark(scan *s)
{
    for (size_t i = s->stack.n; i-- > 0;)
        if (s->stack.items[i].kind == MARK)
            return i + 1;
    fail(s, "a mark is missing");
    return s->stack.n;
}

static uint64_t take(scan *s, size_t n)
{
    uint64_t v = 0;

    if (s->size - s->at < n) {
        fail(s, "the pickle is cut short");
        s->at = s->size;
        return 0;
    }
    for (size_t i = n; i-- > 0;)
        v = v << 8 | s->data[s->at + i];
    s->at += n;
    return v;
}

static const char *take_bytes(scan *s, uint64_t n)
{
    const char *p = (const char *)s->data + s->at;

    if (s->size - s->at < n) {
        fail(s, "the pickle is cut short");
        s->at = s->size;
        return NULL;
    }
    s->at += (size_t)n;
    return p;
}

static token take_line(scan *s)
{
    const unsigned char *p   = s->data + s->at;
    const unsigned char *end = s->size > s->at ? memchr(p, '\n', s->size - s->at) : NULL;

    if (!end) {
        fail(s, "the pickle is cut short");
        s->at = s->size;
        return (token){ TEXT, 0, { .text = "" }, 0 };
    }
    s->at += (size_t)(end - p) + 1;
    return (token){ TEXT, (uint32_t)(end - p), { .text = (const char *)p }, 0 };
}

static token decoded(scan *s, token t, bool has_quotes)
{
    if (!cq_audit_decode_text(s->a->arena, &t.u.text, &t.n, has_quotes))
        no_memory(s);
    return t;
}

static void push_text(scan *s, uint64_t n, token_kind kind)
{
    const char *p = take_bytes(s, n);

    push(s, (token){ kind, p ? (uint32_t)n : 0, { .text = p ? p : "" }, 0 });
}

/* ---- the memo ---- */

static void put(scan *s, uint64_t index)
{
    const token t = *top(s);

    if (index < s->memo.n) {
        s->memo.items[index] = t;
    } else if (index == s->memo.n) {
        if (cq_vec_push(&s->memo, t) != CQ_OK)
            no_memory(s);
    } else {
        uintptr_t at = (uintptr_t)cq_ptr_map_get(&s->sparse_memo, (void *)(uintptr_t)(index + 1));

        if (at)
            s->far.items[at - 1] = t;
        else if (cq_vec_push(&s->far, t) != CQ_OK ||
                 cq_ptr_map_set(&s->sparse_memo, (void *)(uintptr_t)(index + 1),
                                (void *)(uintptr_t)s->far.n) != CQ_OK)
            no_memory(s);
    }
}

static void get(scan *s, uint64_t index)
{
    uintptr_t at = index < UINTPTR_MAX
                       ? (uintptr_t)cq_ptr_map_get(&s->sparse_memo, (void *)(uintptr_t)(index + 1))
                       : 0;

    if (index < s->memo.n)
        push(s, s->memo.items[index]);
    else if (at)
        push(s, s->far.items[at - 1]);
    else
        fail(s, "the memo has no such item");
}

static uint64_t line_number(scan *s)
{
    const token t = take_line(s);
    uint64_t    v = 0;

    for (uint32_t i = 0; i < t.n && v < UINT32_MAX; i++) {
        if (t.u.text[i] < '0' || t.u.text[i] > '9') {
            fail(s, "an index is not a number");
            return 0;
        }
        v = v * 10 + (uint64_t)(t.u.text[i] - '0');
    }
    return v;
}

/* ---- imports and calls ---- */

static const char *copy(scan *s, token t)
{
    const char *text = cq_arena_strndup(s->a->arena, t.u.text, t.n);

    if (!text)
        no_memory(s);
    return text ? text : "";
}

/* The index of a global, which a pickle may import many times. */
static uint32_t intern(scan *s, token module, token name)
{
    char      key[2 * MAX_NAME + 2];
    uintptr_t at;
    global    g;

    snprintf(key, sizeof key, "%.*s\n%.*s", (int)module.n, module.u.text, (int)name.n, name.u.text);
    at = (uintptr_t)cq_map_get(&s->imports, key);
    if (at)
        return (uint32_t)at - 1;
    g.module = copy(s, module);
    g.name   = copy(s, name);
    g.kind   = cq_audit_classify(g.module, g.name);
    if (cq_vec_push(&s->globals, g) != CQ_OK ||
        cq_map_set(&s->imports, key, (void *)(uintptr_t)s->globals.n) != CQ_OK)
        no_memory(s);
    return (uint32_t)s->globals.n - 1;
}

/* Of a limited length: one long text may be the name of many imports. */
static bool is_path(token t)
{
    if (t.kind != TEXT || !t.n || t.n > MAX_NAME)
        return false;
    for (uint32_t i = 0; i < t.n; i++)
        if (!strchr(PATH_BYTES, t.u.text[i]) || !t.u.text[i])
            return false;
    return true;
}

static token import(scan *s, token module, token name)
{
    const global *g;
    token         t = { GLOBAL, 0, { 0 }, 0 };

    s->out->n_globals++;
    s->out->n_named += is_path(module) && is_path(name);
    if (module.kind != TEXT || name.kind != TEXT) {
        ADD(s, CQ_VERDICT_HOSTILE, "computed-global", s->where,
            "the name of an import is computed while the pickle is read");
        return (token){ OBJECT, 0, { 0 }, 0 };
    }
    if (module.n > MAX_NAME || name.n > MAX_NAME) {
        ADD(s, CQ_VERDICT_HOSTILE, "long-global", s->where,
            "the name of an import has more than %d bytes", MAX_NAME);
        return (token){ OBJECT, 0, { 0 }, 0 };
    }
    t.n = intern(s, module, name);
    if (s->damage)
        return t;
    g = &s->globals.items[t.n];
    if (g->kind == CQ_AUDIT_GLOBAL_DANGEROUS)
        ADD(s, CQ_VERDICT_HOSTILE, "dangerous-global", s->where, "imports %s.%s", g->module,
            g->name);
    else if (g->kind == CQ_AUDIT_GLOBAL_UNKNOWN)
        ADD(s, CQ_VERDICT_UNKNOWN, "unknown-global", s->where, "imports %s.%s", g->module, g->name);
    else
        ADD(s, CQ_VERDICT_SAFE, "global", s->where, "imports %s.%s", g->module, g->name);
    return t;
}

static bool is_text(token t, const char *text)
{
    return t.kind == TEXT && strlen(text) == t.n && memcmp(t.u.text, text, t.n) == 0;
}

/* ('storage', torch.FloatStorage, '0', 'cpu', 16) */
static token persistent(scan *s, token id)
{
    cq_audit_storage st = { 0 };
    const token     *item;

    if (id.kind != TUPLE || !id.n)
        ADD(s, CQ_VERDICT_UNKNOWN, "persistent-id", s->where,
            "a persistent id that PyTorch does not write");
    if (id.kind != TUPLE || id.n < 5)
        return (token){ OBJECT, 0, { 0 }, 0 };
    item = &s->items.items[id.u.first];
    if (!is_text(item[0], "storage") || item[2].kind != TEXT || item[4].kind != INT)
        return (token){ OBJECT, 0, { 0 }, 0 };
    if (item[1].kind == GLOBAL && item[1].n < s->globals.n)
        st.element = cq_audit_storage_element(s->globals.items[item[1].n].module,
                                              s->globals.items[item[1].n].name);
    st.key      = item[2].u.text;
    st.key_size = item[2].n;
    st.numel    = item[4].u.i < 0 ? 0 : (uint64_t)item[4].u.i;
    if (item[4].u.i < 0)
        ADD(s, CQ_VERDICT_HOSTILE, "negative-size", s->where, "a storage has %" PRId64 " elements",
            item[4].u.i);
    if (cq_vec_push(&s->out->storages, st) != CQ_OK)
        no_memory(s);
    return (token){ STORAGE, (uint32_t)s->out->storages.n - 1, { 0 }, 0 };
}

/* The elements that a tensor reaches, or false if they cannot be counted. */
static bool extent(scan *s, int64_t offset, token sizes, token strides, uint64_t *out)
{
    uint64_t last  = (uint64_t)offset;
    int64_t  numel = 16; /* the largest element, so that bytes do not overflow either */

    if (offset < 0)
        return false;
    for (uint32_t i = 0; i < sizes.n; i++) {
        const token size   = s->items.items[sizes.u.first + i];
        const token stride = s->items.items[strides.u.first + i];
        uint64_t    reach;

        if (size.kind != INT || stride.kind != INT || size.u.i < 0 || stride.u.i < 0)
            return false;
        if (size.u.i == 0) {
            *out = 0;
            return true;
        }
        if (__builtin_mul_overflow(numel, size.u.i, &numel))
            return false;
        if (__builtin_mul_overflow((uint64_t)(size.u.i - 1), (uint64_t)stride.u.i, &reach) ||
            __builtin_add_overflow(last, reach, &last))
            return false;
    }
    return !__builtin_add_overflow(last, (uint64_t)1, out);
}

/* (storage, offset, sizes, strides, …) of _rebuild_tensor, _v2, _v3. */
static void check_tensor(scan *s, token args)
{
    const token *item = args.kind == TUPLE && args.n >= 4 ? &s->items.items[args.u.first] : NULL;
    cq_audit_storage st;
    uint64_t         need = 0;

    if (!item || item[0].kind != STORAGE || item[0].n >= s->out->storages.n ||
        item[1].kind != INT || item[2].kind != TUPLE || item[3].kind != TUPLE)
        return;
    st = s->out->storages.items[item[0].n];
    if (item[2].n > MAX_RANK) {
        ADD(s, CQ_VERDICT_UNKNOWN, "tensor-rank", s->where, "a tensor has %u dimensions",
            item[2].n);
    } else if (item[2].n != item[3].n) {
        ADD(s, CQ_VERDICT_HOSTILE, "tensor-strides", s->where,
            "a tensor has %u sizes and %u strides", item[2].n, item[3].n);
    } else if (!extent(s, item[1].u.i, item[2], item[3], &need)) {
        ADD(s, CQ_VERDICT_HOSTILE, "tensor-size", s->where,
            "a tensor has sizes, strides or an offset that are negative or overflow");
    } else if (need > st.numel) {
        ADD(s, CQ_VERDICT_HOSTILE, "tensor-beyond-storage", s->where,
            "a tensor reaches element %" PRIu64 " of storage '%.*s', which has %" PRIu64, need,
            st.key_size < MAX_KEY ? (int)st.key_size : MAX_KEY, st.key, st.numel);
    }
}

static bool is_named(const global *g, const char *module, const char *name)
{
    return strcmp(g->module, module) == 0 && strcmp(g->name, name) == 0;
}

/* The product of the numbers of a tuple, whose negative numbers count as 0. */
static double product_of(const scan *s, token tuple)
{
    double product = 1;

    for (uint32_t i = 0; i < tuple.n; i++) {
        const token item = s->items.items[tuple.u.first + i];

        product *= item.kind == INT && item.u.i > 0 ? (double)item.u.i : 0;
    }
    return tuple.n ? product : 0;
}

/* Classes that allocate as many elements as an argument says: bytearray(1 << 40). */
static void check_claim(scan *s, const global *g, token args)
{
    static const char *const names[] = { "bytes",          "bytearray",    "range",
                                         "array",          "deque",        "ndarray",
                                         "UntypedStorage", "_reconstruct", "Tensor" };

    if (args.kind != TUPLE || !(CQ_IS_AMONG(g->name, names) || cq_ends_with(g->name, "Tensor")))
        return;
    for (uint32_t i = 0; i < args.n; i++) {
        const token  item = s->items.items[args.u.first + i];
        const double n    = item.kind == INT     ? (double)item.u.i
                            : item.kind == TUPLE ? product_of(s, item)
                                                 : 0;

        if (n > MAX_CLAIMED)
            ADD(s, CQ_VERDICT_UNKNOWN, "large-allocation", s->where,
                "%s.%s allocates %.3g elements that the file does not have", g->module, g->name, n);
    }
}

/* The result of a call. The import is a finding already. */
static token called(scan *s, token callee, token args)
{
    const global *g;

    if (callee.kind != GLOBAL || callee.n >= s->globals.n) {
        if (callee.kind != OBJECT)
            ADD(s, CQ_VERDICT_HOSTILE, "call-of-data", s->where,
                "a call of something that is not a function");
        return (token){ OBJECT, 0, { 0 }, 0 };
    }
    g = &s->globals.items[callee.n];
    if (g->kind == CQ_AUDIT_GLOBAL_DANGEROUS) {
        const token *first = args.kind == TUPLE && args.n ? &s->items.items[args.u.first] : NULL;

        if (first && first->kind == TEXT)
            ADD(s, CQ_VERDICT_HOSTILE, "dangerous-call", s->where, "calls %s.%s('%.*s', …)",
                g->module, g->name, first->n > 80 ? 80 : (int)first->n, first->u.text);
        else
            ADD(s, CQ_VERDICT_HOSTILE, "dangerous-call", s->where, "calls %s.%s", g->module,
                g->name);
        return (token){ OBJECT, 0, { 0 }, 0 };
    }
    check_claim(s, g, args);
    if (strncmp(g->name, "_rebuild_tensor", 15) == 0) {
        check_tensor(s, args);
        return (token){ TENSOR, 0, { 0 }, 0 };
    }
    if (strncmp(g->name, "_rebuild_", 9) == 0)
        return (token){ TENSOR, 0, { 0 }, 0 };
    if (is_named(g, "collections", "OrderedDict") || is_named(g, "collections", "Counter") ||
        is_named(g, "collections", "defaultdict") || is_named(g, "builtins", "dict") ||
        is_named(g, "__builtin__", "dict"))
        return (token){ DICT, 0, { 0 }, 0 };
    if (is_named(g, "builtins", "list") || is_named(g, "collections", "deque"))
        return (token){ LIST, 0, { 0 }, 0 };
    if (is_named(g, "builtins", "set") || is_named(g, "__builtin__", "set"))
        return (token){ SET, 0, { 0 }, 0 };
    return (token){ OBJECT, 0, { 0 }, 0 };
}

static const char *kind_name(token_kind kind)
{
    static const char *const names[] = { "a plain value", "a number",  "a text",   "a mark",
                                         "a list",        "a dict",    "a set",    "a tuple",
                                         "a class",       "a storage", "a tensor", "an object" };

    return names[kind];
}

/* SETITEM(S), APPEND(S), ADDITEMS: readers that do not check write to memory that is not a
 * container's. Objects of unknown classes may be dicts. */
static void check_container(scan *s, token_kind wanted, const char *opcode)
{
    const token t = *top(s);

    if (t.kind == wanted || t.kind == OBJECT)
        return;
    if (s->damage)
        return;
    ADD(s, CQ_VERDICT_HOSTILE, "wrong-container", s->where, "%s is applied to %s", opcode,
        kind_name(t.kind));
}

static void make_tuple(scan *s, size_t from)
{
    token t = with_cost(s, (token){ TUPLE, 0, { .first = s->items.n }, 0 }, 1 + cost_from(s, from));

    for (size_t i = from; i < s->stack.n; i++) {
        if (cq_vec_push(&s->items, s->stack.items[i]) != CQ_OK)
            no_memory(s);
        t.n++;
    }
    s->stack.n = from;
    push(s, t);
}

static void make_small_tuple(scan *s, size_t n)
{
    if (s->stack.n < n)
        fail(s, "an opcode takes more than the stack has");
    else
        make_tuple(s, s->stack.n - n);
}

static void drop_to_mark(scan *s)
{
    const size_t from = find_mark(s);

    s->stack.n = from ? from - 1 : 0;
}

static void collect(scan *s, token_kind kind)
{
    const double cost = 1 + cost_from(s, find_mark(s));

    drop_to_mark(s);
    push(s, with_cost(s, (token){ kind, 0, { 0 }, 0 }, cost));
}

/* Items above a mark, or the uppermost n values, become part of the container below. */
static void add_items(scan *s, size_t n)
{
    const size_t first = n ? (s->stack.n > n ? s->stack.n - n : s->stack.n) : find_mark(s);
    const double cost  = cost_from(s, first);

    if (!n)
        drop_to_mark(s);
    for (size_t i = 0; i < n; i++)
        pop(s);
    add_cost(s, cost);
}

static void tuple_from_mark(scan *s)
{
    const size_t from = find_mark(s);

    if (s->damage)
        return;
    make_tuple(s, from);
    s->stack.items[s->stack.n - 2] = s->stack.items[s->stack.n - 1]; /* over the mark */
    s->stack.n--;
}

/* LONG1 of up to 8 bytes is a number; torch's magic number has 10. */
static void push_long(scan *s, uint64_t n)
{
    static const unsigned char magic[] = { 0x6c, 0xfc, 0x9c, 0x46, 0xf9,
                                           0x20, 0x6a, 0xa8, 0x50, 0x19 };
    const unsigned char       *p       = (const unsigned char *)take_bytes(s, n);
    uint64_t                   v       = 0;

    if (!p)
        return;
    if (n == sizeof magic && memcmp(p, magic, n) == 0 && s->out->n_opcodes <= 3)
        s->out->is_legacy_magic = true;
    for (size_t i = n < 8 ? (size_t)n : 8; i-- > 0;)
        v = v << 8 | p[i];
    if (n && n < 8 && (p[n - 1] & 0x80))
        v |= ~UINT64_C(0) << (8 * n);
    push(s, (token){ n <= 8 ? INT : OTHER, 0, { .i = (int64_t)v }, 0 });
}

static void extension(scan *s, size_t n)
{
    ADD(s, CQ_VERDICT_UNKNOWN, "extension-code", s->where,
        "imports number %" PRIu64 " of the reader's extension registry", take(s, n));
    push(s, (token){ OBJECT, 0, { 0 }, 0 });
}

static void push_decimal(scan *s)
{
    const token t = take_line(s);
    int64_t     v = 0;
    uint32_t    i = t.n && t.u.text[0] == '-';

    for (; i < t.n && t.u.text[i] >= '0' && t.u.text[i] <= '9' && v < INT64_MAX / 16; i++)
        v = v * 10 + (t.u.text[i] - '0');
    push(s, (token){ INT, 0, { .i = t.n && t.u.text[0] == '-' ? -v : v }, 0 });
}

/* INST and OBJ: a class and its arguments after a mark. */
static void instantiate(scan *s, token callee)
{
    const size_t from = find_mark(s);

    if (s->damage)
        return;
    make_tuple(s, from);
    const token args = pop(s);

    pop(s); /* the mark */
    push(s, called(s, callee, args));
}

static void object(scan *s)
{
    const size_t from = find_mark(s);
    token        callee;

    if (s->damage || from >= s->stack.n) {
        fail(s, "OBJ without a class");
        return;
    }
    callee = s->stack.items[from];
    instantiate(s, callee);
}

/* One opcode; false at STOP. */
static bool step(scan *s)
{
    const unsigned char op = (unsigned char)take(s, 1);
    token               a, b;

    if (s->damage)
        return false;
    s->out->n_opcodes++;
    switch (op) {
    case '(': push(s, (token){ MARK, 0, { 0 }, 0 }); break;
    case '.': s->out->is_whole = s->stack.n > 0; return false;
    case '0': pop(s); break;
    case '1': drop_to_mark(s); break;
    case '2': push(s, *top(s)); break;
    case 'F':
        take_line(s);
        push(s, (token){ OTHER, 0, { 0 }, 0 });
        break;
    case 'G':
        take(s, 8);
        push(s, (token){ OTHER, 0, { 0 }, 0 });
        break;
    case 'I':
    case 'L': push_decimal(s); break;
    case 'J': push(s, (token){ INT, 0, { .i = (int32_t)take(s, 4) }, 0 }); break;
    case 'K': push(s, (token){ INT, 0, { .i = (int64_t)take(s, 1) }, 0 }); break;
    case 'M': push(s, (token){ INT, 0, { .i = (int64_t)take(s, 2) }, 0 }); break;
    case 0x8a: push_long(s, take(s, 1)); break;
    case 0x8b: push_long(s, take(s, 4)); break;
    case 'N': push(s, (token){ OTHER, 0, { 0 }, 0 }); break;
    case 0x88:
    case 0x89: push(s, (token){ INT, 0, { .i = op == 0x88 }, 0 }); break;
    case 'S':
    case 'V': push(s, decoded(s, take_line(s), op == 'S')); break;
    case 'X':
    case 'T': push_text(s, take(s, 4), TEXT); break;
    case 0x8c:
    case 'U': push_text(s, take(s, 1), TEXT); break;
    case 0x8d: push_text(s, take(s, 8), TEXT); break;
    case 'C': push_text(s, take(s, 1), OTHER); break;
    case 'B': push_text(s, take(s, 4), OTHER); break;
    case 0x8e:
    case 0x96: push_text(s, take(s, 8), OTHER); break;
    case 0x97: push(s, (token){ OTHER, 0, { 0 }, 0 }); break; /* NEXT_BUFFER */
    case 0x98: top(s); break;                                 /* READONLY_BUFFER */
    case ']': push_container(s, LIST); break;
    case '}': push_container(s, DICT); break;
    case 0x8f: push_container(s, SET); break;
    case ')': push(s, (token){ TUPLE, 0, { .first = s->items.n }, 0 }); break;
    case 'l': collect(s, LIST); break;
    case 'd': collect(s, DICT); break;
    case 0x91: collect(s, OTHER); break; /* FROZENSET */
    case 't': tuple_from_mark(s); break;
    case 0x85: make_small_tuple(s, 1); break;
    case 0x86: make_small_tuple(s, 2); break;
    case 0x87: make_small_tuple(s, 3); break;
    case 'a':
        add_items(s, 1);
        check_container(s, LIST, "APPEND");
        break;
    case 'e':
        add_items(s, 0);
        check_container(s, LIST, "APPENDS");
        break;
    case 's':
        add_items(s, 2);
        check_container(s, DICT, "SETITEM");
        break;
    case 'u':
        add_items(s, 0);
        check_container(s, DICT, "SETITEMS");
        break;
    case 0x90:
        add_items(s, 0);
        check_container(s, SET, "ADDITEMS");
        break;
    case 'p': put(s, line_number(s)); break;
    case 'q': put(s, take(s, 1)); break;
    case 'r': put(s, take(s, 4)); break;
    case 0x94: put(s, s->memo.n + s->far.n); break; /* MEMOIZE */
    case 'g': get(s, line_number(s)); break;
    case 'h': get(s, take(s, 1)); break;
    case 'j': get(s, take(s, 4)); break;
    case 'c':
        a = take_line(s);
        b = take_line(s);
        if (!s->damage)
            push(s, import(s, a, b));
        break;
    case 0x93: /* STACK_GLOBAL */
        b = pop(s);
        a = pop(s);
        if (!s->damage)
            push(s, import(s, a, b));
        break;
    case 'i':
        a = take_line(s);
        b = take_line(s);
        if (!s->damage)
            instantiate(s, import(s, a, b));
        break;
    case 'o': object(s); break;
    case 'R':
    case 0x81:
        b = pop(s);
        a = pop(s);
        push(s, with_cost(s, called(s, a, b), cost_of(s, b)));
        break;
    case 0x92: /* NEWOBJ_EX */
        pop(s);
        b = pop(s);
        a = pop(s);
        push(s, with_cost(s, called(s, a, b), cost_of(s, b)));
        break;
    case 'b': /* BUILD */
        add_items(s, 1);
        if (!s->damage && top(s)->kind == GLOBAL)
            ADD(s, CQ_VERDICT_HOSTILE, "build-on-class", s->where,
                "BUILD changes attributes of a class or a module");
        break;
    case 0x82: extension(s, 1); break;
    case 0x83: extension(s, 2); break;
    case 0x84: extension(s, 4); break;
    case 'P': push(s, persistent(s, take_line(s))); break;
    case 'Q': push(s, persistent(s, pop(s))); break;
    case 0x80: take(s, 1); break;
    case 0x95: take(s, 8); break; /* FRAME */
    default: fail(s, "an opcode is unknown"); return false;
    }
    return !s->damage;
}

static void run(cq_audit *a, cq_audit_pickle *out, const unsigned char *data, size_t size,
                const char *where, bool is_silent)
{
    scan s = {
        .a = a, .where = where, .data = data, .size = size, .out = out, .is_silent = is_silent
    };

    memset(out, 0, sizeof *out);
    while (s.at < s.size && step(&s))
        if (s.stack.n + s.items.n + s.memo.n + s.far.n > a->max_values)
            fail(&s, "it has more values than a file of this size may have");
    out->used = s.at;
    if (out->is_whole && cost_of(&s, *top(&s)) > fmax(MIN_COPIES, COPIES_PER_BYTE * (double)s.at))
        ADD(&s, CQ_VERDICT_UNKNOWN, "amplification", where,
            "%zu bytes with shared objects are %.3g objects for a reader that copies them", s.at,
            cost_of(&s, *top(&s)));
    if (!out->is_whole)
        ADD(&s, CQ_VERDICT_UNKNOWN, "damaged-pickle", where,
            "the pickle is damaged at byte %zu: %s", s.at, s.damage ? s.damage : "it has no end");
    cq_vec_clear(&s.stack);
    cq_vec_clear(&s.items);
    cq_vec_clear(&s.costs);
    cq_vec_clear(&s.memo);
    cq_vec_clear(&s.far);
    cq_vec_clear(&s.globals);
    cq_ptr_map_clear(&s.sparse_memo);
    cq_map_clear(&s.imports);
}

void cq_audit_scan_pickle(cq_audit *a, cq_audit_pickle *out, const unsigned char *data, size_t size,
                          const char *where)
{
    run(a, out, data, size, where, false);
}

/* The counts of a scan without findings. */
static cq_audit_pickle scan_silently(const cq_audit *a, const unsigned char *data, size_t size)
{
    cq_audit        scratch = { .arena = cq_arena_new(), .max_values = a->max_values };
    cq_audit_pickle p       = { 0 };

    if (!scratch.arena)
        return p;
    run(&scratch, &p, data, size, "", true);
    cq_vec_clear(&p.storages);
    cq_arena_free(scratch.arena);
    return p;
}

bool cq_audit_is_pickle(const cq_audit *a, const unsigned char *data, size_t size)
{
    const cq_audit_pickle p = scan_silently(a, data, size);

    return (p.is_whole && p.n_opcodes > 2) || p.n_globals > 0;
}

bool cq_audit_is_hidden_pickle(const cq_audit *a, const unsigned char *data, size_t size)
{
    const cq_audit_pickle p = scan_silently(a, data, size);

    return p.is_whole && p.n_globals > 0 && p.n_named == p.n_globals;
}

void cq_audit_scan_pickles(cq_audit *a, const unsigned char *data, size_t size, const char *where)
{
    size_t          at = 0, n = 0;
    bool            is_legacy = false;
    cq_audit_pickle p;
    double          bytes = 0;

    while (at < size && !(is_legacy && n == 5)) { /* magic, protocol, system, object, keys */
        if (n && data[at] != 0x80 && !is_legacy) {
            cq_audit_add(a, CQ_VERDICT_UNKNOWN, "trailing-bytes", where,
                         "%zu bytes follow the pickle", size - at);
            break;
        }
        cq_audit_scan_pickle(a, &p, data + at, size - at, where);
        is_legacy |= n == 0 && p.is_legacy_magic;
        for (size_t i = 0; i < p.storages.n; i++) {
            bool seen = false; /* a storage may be named once for each tensor */

            for (size_t k = i; k-- > 0 && i - k < 64 && !seen;)
                seen = p.storages.items[i].key_size <= MAX_KEY &&
                       p.storages.items[k].key_size == p.storages.items[i].key_size &&
                       memcmp(p.storages.items[k].key, p.storages.items[i].key,
                              p.storages.items[i].key_size) == 0;
            bytes = seen ? bytes
                         : bytes + (double)p.storages.items[i].numel *
                                       (double)p.storages.items[i].element;
        }
        cq_vec_clear(&p.storages);
        at += p.used;
        n++;
        if (!p.is_whole)
            return;
    }
    if (is_legacy && bytes > (double)(size - at))
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "storage-missing", where,
                     "storages need %.0f bytes but %zu are left", bytes, size - at);
}
