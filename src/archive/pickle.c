/* The unpickling machine: a stack, marks and a memo, and one function per opcode.
 *
 * Values may refer to each other through the memo, also to themselves. To prevent leaks and endless
 * loops, every container is kept in a list, and the result is inspected as a whole
 * (pickle_check.c). */
#include "archive/unpickler.h"

#include <string.h>

/* An opcode is a function, or one of a number: of bytes, or of values on the stack. */
typedef struct opcode {
    cq_status (*fn)(cq_unpickler *u);
    cq_status (*of)(cq_unpickler *u, size_t n);
    size_t n;
    bool   is_python; /* makes a value that only Python has: needs any_class */
} opcode;

#define MARKED SIZE_MAX /* all values above the last mark, which is removed */

cq_status cq_unpickler_fail(const cq_unpickler *u, cq_status status, const char *hint,
                            const char *format, ...)
{
    va_list args;

    va_start(args, format);
    cq_fail_v(status, u->source->where, hint, format, args);
    va_end(args);
    return status;
}

static cq_status damaged(const cq_unpickler *u, const char *what)
{
    return cq_unpickler_fail(u, CQ_E_FORMAT, "the file is damaged, or is not a pickle of PyTorch's",
                             "%s at byte %zu", what, u->at);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static cq_status take(cq_unpickler *u, size_t n, const unsigned char **out)
{
    if (n > u->size - u->at)
        return damaged(u, "the pickle is cut short");
    *out = u->data + u->at;
    u->at += n;
    return CQ_OK;
}

/* A little-endian number of n bytes. */
static cq_status take_number(cq_unpickler *u, size_t n, uint64_t *out)
{
    const unsigned char *bytes;

    CQ_TRY(take(u, n, &bytes));
    *out = 0;
    for (size_t i = n; i-- > 0;)
        *out = *out << 8 | bytes[i];
    return CQ_OK;
}

/* Text up to the end of the line, copied into a buffer. */
static cq_status take_line(cq_unpickler *u, char *out, size_t size)
{
    const unsigned char *start = u->data + u->at;
    const unsigned char *end   = memchr(start, '\n', u->size - u->at);

    if (!end || (size_t)(end - start) >= size || memchr(start, '\0', (size_t)(end - start)))
        return damaged(u, "a name has no end");
    memcpy(out, start, (size_t)(end - start));
    out[end - start] = '\0';
    u->at += (size_t)(end - start) + 1;
    return CQ_OK;
}

/* ---- the stack --------------------------------------------------------------------------------
 */

/* Takes v over, also when it fails. */
static cq_status push(cq_unpickler *u, cq_val v)
{
    cq_status status = cq_vec_push(&u->stack, v);

    if (status != CQ_OK)
        cq_val_release(v);
    return status;
}

/* Below the last mark nothing is taken. */
static size_t bottom(const cq_unpickler *u)
{
    return u->marks.n ? u->marks.items[u->marks.n - 1] : 0;
}

static cq_status need(cq_unpickler *u, size_t n)
{
    return u->stack.n - bottom(u) >= n ? CQ_OK : damaged(u, "a value is missing");
}

static cq_val *top(cq_unpickler *u)
{
    return &u->stack.items[u->stack.n - 1];
}

static void drop(cq_unpickler *u, size_t n)
{
    while (n--)
        cq_val_release(u->stack.items[--u->stack.n]);
}

/* Turns MARKED into a number; there are n values then, and as many below as are needed. */
static cq_status count(cq_unpickler *u, size_t *n, size_t below)
{
    if (*n == MARKED) {
        if (!u->marks.n)
            return damaged(u, "a mark is missing");
        *n = u->stack.n - u->marks.items[--u->marks.n];
    }
    return need(u, *n + below);
}

cq_status cq_unpickler_keep(cq_unpickler *u, cq_val container)
{
    CQ_TRY(cq_vec_push(&u->containers, container));
    cq_val_retain(container);
    return CQ_OK;
}

/* Pushes a new container, which the list of all containers keeps as well. */
static cq_status push_container(cq_unpickler *u, cq_val v)
{
    cq_status status = cq_unpickler_keep(u, v);

    if (status != CQ_OK) {
        cq_val_release(v);
        return status;
    }
    return push(u, v);
}

/* ---- numbers and texts --------------------------------------------------------------------------
 */

static cq_status op_none(cq_unpickler *u)
{
    return push(u, CQ_NONE);
}

static cq_status push_bool(cq_unpickler *u, size_t truth)
{
    return push(u, cq_val_of_bool(truth));
}

static cq_status push_int(cq_unpickler *u, size_t n)
{
    uint64_t value;

    CQ_TRY(take_number(u, n, &value));
    return push(u, cq_val_of_i64(n == 4 ? (int32_t)value : (int64_t)value));
}

/* n bytes in two's complement; those beyond 64 bits may only repeat the sign. */
static bool fits_i64(const unsigned char *bytes, size_t n, int64_t *out)
{
    const unsigned char sign  = n && bytes[n - 1] & 0x80 ? 0xFF : 0;
    uint64_t            value = 0;

    for (size_t i = 8; i < n; i++)
        if (bytes[i] != sign)
            return false;
    for (size_t i = 8; i-- > 0;)
        value = value << 8 | (i < n ? bytes[i] : sign);
    *out = (int64_t)value;
    return n <= 8 || value >> 63 == (sign != 0);
}

/* Seeds and states of random numbers have integers of 128 bits: an object of their bytes. */
static cq_status push_long(cq_unpickler *u, size_t length_size)
{
    const unsigned char *bytes;
    uint64_t             n;
    int64_t              value;
    cq_val               out;

    CQ_TRY(take_number(u, length_size, &n));
    CQ_TRY(take(u, n, &bytes));
    if (fits_i64(bytes, n, &value))
        return push(u, cq_val_of_i64(value));
    if (!u->source->any_class)
        return damaged(u, "an integer does not fit in 64 bits");
    CQ_TRY(cq_opaque_bytes(u, "builtins.int", bytes, n, &out));
    return push(u, out);
}

static cq_status op_binfloat(cq_unpickler *u)
{
    const unsigned char *bytes;
    uint64_t             bits = 0;
    double               value;

    CQ_TRY(take(u, 8, &bytes));
    for (size_t i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i];
    memcpy(&value, &bits, sizeof value);
    return push(u, cq_val_of_f64(value));
}

static cq_status push_text(cq_unpickler *u, size_t length_size)
{
    const unsigned char *bytes;
    cq_text             *text;
    uint64_t             n;

    CQ_TRY(take_number(u, length_size, &n));
    CQ_TRY(take(u, n, &bytes));
    CQ_TRY(cq_text_new(&text, (const char *)bytes, n));
    return push(u, cq_val_of_text(text));
}

static cq_status push_bytes_of(cq_unpickler *u, size_t length_size, const char *class_name)
{
    const unsigned char *bytes;
    uint64_t             n;
    cq_val               out;

    CQ_TRY(take_number(u, length_size, &n));
    CQ_TRY(take(u, n, &bytes));
    CQ_TRY(cq_opaque_bytes(u, class_name, bytes, n, &out));
    return push(u, out);
}

static cq_status push_bytes(cq_unpickler *u, size_t length_size)
{
    return push_bytes_of(u, length_size, "builtins.bytes");
}

static cq_status push_bytearray(cq_unpickler *u, size_t length_size)
{
    return push_bytes_of(u, length_size, "builtins.bytearray");
}

/* ---- containers ----------------------------------------------------------------------------- */

/* The n values on top are replaced by a list or tuple of them. */
static cq_status collect(cq_unpickler *u, size_t n, cq_val_kind kind)
{
    cq_list *list;

    CQ_TRY(count(u, &n, 0));
    CQ_TRY(cq_list_new(&list, n));
    u->stack.n -= n;
    if (n)
        memcpy(list->items, u->stack.items + u->stack.n, n * sizeof *list->items);
    return push_container(u, (cq_val){ .kind = kind, .u.list = list });
}

static cq_status collect_list(cq_unpickler *u, size_t n)
{
    return collect(u, n, CQ_VAL_LIST);
}

static cq_status collect_tuple(cq_unpickler *u, size_t n)
{
    return collect(u, n, CQ_VAL_TUPLE);
}

static cq_status op_empty_dict(cq_unpickler *u)
{
    cq_dict *dict;

    CQ_TRY(cq_dict_new(&dict));
    return push_container(u, cq_val_of_dict(dict));
}

static bool is_opaque(const cq_unpickler *u, cq_val v)
{
    return u->source->any_class && cq_instance_of(v);
}

/* The n values on top go to the end of the list below them. */
static cq_status append(cq_unpickler *u, size_t n)
{
    cq_list *list;
    cq_val   to;

    CQ_TRY(count(u, &n, 1));
    to = u->stack.items[u->stack.n - n - 1];
    if (is_opaque(u, to)) {
        CQ_TRY(cq_opaque_append(u, cq_instance_of(to), u->stack.items + u->stack.n - n, n));
        drop(u, n);
        return CQ_OK;
    }
    if (to.kind != CQ_VAL_LIST)
        return damaged(u, "values are appended to an object that is not a list");
    list = to.u.list;
    CQ_TRY(cq_vec_grow((void **)&list->items, &list->cap, list->n + n, sizeof *list->items));
    u->stack.n -= n;
    if (n)
        memcpy(list->items + list->n, u->stack.items + u->stack.n, n * sizeof *list->items);
    list->n += n;
    return CQ_OK;
}

/* The n values on top are keys and values of the dict below them. That no key comes twice is
 * checked at the end, for all at once. */
static cq_status set_items(cq_unpickler *u, size_t n)
{
    cq_dict      *dict;
    const cq_val *from;
    cq_val        to;

    CQ_TRY(count(u, &n, 1));
    to   = u->stack.items[u->stack.n - n - 1];
    from = u->stack.items + u->stack.n - n;
    if (n % 2 == 0 && is_opaque(u, to)) {
        CQ_TRY(cq_opaque_set_items(u, cq_instance_of(to), from, n));
        drop(u, n);
        return CQ_OK;
    }
    if (n % 2 || to.kind != CQ_VAL_DICT)
        return damaged(u, "keys are set in an object that is not a dict");
    dict = to.u.dict;
    for (size_t i = 0; i < n; i += 2)
        CQ_TRY(cq_dict_push(dict, from[i], from[i + 1]));
    drop(u, n);
    return CQ_OK;
}

static cq_status op_dict(cq_unpickler *u)
{
    cq_dict *dict;
    size_t   n = MARKED;
    cq_val   v;

    CQ_TRY(count(u, &n, 0));
    CQ_TRY(cq_dict_new(&dict));
    CQ_TRY(push_container(u, cq_val_of_dict(dict)));
    v = *top(u); /* inserted below its items */
    memmove(u->stack.items + u->stack.n - n, u->stack.items + u->stack.n - n - 1,
            n * sizeof *u->stack.items);
    u->stack.items[u->stack.n - n - 1] = v;
    return set_items(u, n);
}

/* ---- the memo ------------------------------------------------------------------------------- */

/* Ids count up from 0, or from 1 in pickles of Python 2. A larger one than the bytes so far is a
 * lie about how much memory the memo takes. */
static cq_status put(cq_unpickler *u, uint64_t id)
{
    CQ_TRY(need(u, 1));
    if (id > u->memo.n && (!u->source->any_class || id > u->at))
        return damaged(u, "a value is remembered under a number that is not the next");
    while (id >= u->memo.n)
        CQ_TRY(cq_vec_push(&u->memo, CQ_NONE));
    cq_val_set(&u->memo.items[id], *top(u));
    return CQ_OK;
}

static cq_status get(cq_unpickler *u, size_t id_size)
{
    uint64_t id;

    CQ_TRY(take_number(u, id_size, &id));
    if (id >= u->memo.n)
        return damaged(u, "a value is recalled that was not remembered");
    return push(u, cq_val_retain(u->memo.items[id]));
}

static cq_status put_as(cq_unpickler *u, size_t id_size)
{
    uint64_t id;

    CQ_TRY(take_number(u, id_size, &id));
    return put(u, id);
}

static cq_status op_memoize(cq_unpickler *u)
{
    return put(u, u->memo.n);
}

/* ---- globals and objects -------------------------------------------------------------------- */

static cq_status op_global(cq_unpickler *u)
{
    char   module[1024], name[1024];
    cq_val v;

    CQ_TRY(take_line(u, module, sizeof module));
    CQ_TRY(take_line(u, name, sizeof name));
    CQ_TRY(cq_global_find(u, module, name, &v));
    return push(u, v);
}

static cq_status op_stack_global(cq_unpickler *u)
{
    const cq_val *names;
    cq_val        v;

    CQ_TRY(need(u, 2));
    names = top(u) - 1;
    if (names[0].kind != CQ_VAL_STR || names[1].kind != CQ_VAL_STR)
        return damaged(u, "the name of a global is not text");
    CQ_TRY(cq_global_find(u, names[0].u.text->text, names[1].u.text->text, &v));
    drop(u, 2);
    return push(u, v);
}

/* Calls the value below with the value on top: only rows of the table can be called. */
static cq_status op_reduce(cq_unpickler *u)
{
    const cq_global *g;
    cq_val           out = CQ_NONE;

    CQ_TRY(need(u, 2));
    g = cq_global_of(*(top(u) - 1));
    if (!g)
        return damaged(u, "something is called that is not a function");
    CQ_TRY(cq_global_call(u, g, *top(u), &out));
    drop(u, 2);
    return push(u, out);
}

/* Makes an object of the class and the arguments below the n values on top. */
static cq_status new_object(cq_unpickler *u, size_t n)
{
    const cq_val    *class_and_args;
    const cq_global *g;
    cq_instance     *o;
    cq_val           out = CQ_NONE;

    CQ_TRY(need(u, 2 + n));
    class_and_args = &u->stack.items[u->stack.n - n - 2];
    g              = cq_global_of(class_and_args[0]);
    if (cq_global_is_opaque(g)) {
        CQ_TRY(cq_opaque_new(u, g->name, CQ_INSTANCE_OBJECT, class_and_args[1], &out));
    } else if (g && g->row && u->source->any_class) {
        CQ_TRY(cq_global_call(u, g, class_and_args[1], &out));
    } else {
        if (!g || g->row || class_and_args[1].kind != CQ_VAL_TUPLE || class_and_args[1].u.list->n)
            return damaged(u, "an object has a class that is not in the archive");
        CQ_TRY(cq_instance_new(&o, g->name));
        drop(u, 2);
        return push_container(u, cq_val_of_box(&o->box));
    }
    if (n && cq_instance_of(out) && top(u)->kind == CQ_VAL_DICT)
        cq_val_set(&cq_instance_of(out)->state, *top(u)); /* keyword arguments */
    drop(u, 2 + n);
    return push(u, out);
}

static cq_status op_new_set(cq_unpickler *u)
{
    cq_val out;

    CQ_TRY(cq_opaque_new(u, "builtins.set", CQ_INSTANCE_CALL, CQ_NONE, &out));
    return push(u, out);
}

static cq_status op_frozenset(cq_unpickler *u)
{
    size_t n = MARKED;
    cq_val out;

    CQ_TRY(count(u, &n, 0));
    CQ_TRY(cq_opaque_new(u, "builtins.frozenset", CQ_INSTANCE_CALL, CQ_NONE, &out));
    if (cq_opaque_append(u, cq_instance_of(out), u->stack.items + u->stack.n - n, n) != CQ_OK) {
        cq_val_release(out);
        return CQ_E_NO_MEMORY;
    }
    drop(u, n);
    return push(u, out);
}

static bool has_text_keys(const cq_dict *dict)
{
    for (size_t i = 0; i < dict->n; i++)
        if (dict->entries[i].key.kind != CQ_VAL_STR)
            return false;
    return true;
}

/* Gives an object its state. That of an OrderedDict or a parameter of Python's is ignored. */
static cq_status op_build(cq_unpickler *u)
{
    cq_instance *o;

    CQ_TRY(need(u, 2));
    o = cq_instance_of(*(top(u) - 1));
    if (!o && (top(u) - 1)->kind != CQ_VAL_DICT && !u->source->any_class)
        return damaged(u, "a state is set on a value that is not an object");
    if (o)
        cq_val_set(&o->state, *top(u));
    if (o && top(u)->kind == CQ_VAL_DICT && has_text_keys(top(u)->u.dict)) {
        cq_val_release(cq_val_of_dict(o->attrs));
        o->attrs = cq_val_retain(*top(u)).u.dict;
    }
    drop(u, 1);
    return CQ_OK;
}

static cq_status op_persistent(cq_unpickler *u)
{
    cq_val out;

    CQ_TRY(need(u, 1));
    CQ_TRY(cq_stored_load(u, *top(u), &out));
    drop(u, 1);
    return push(u, out);
}

/* ---- the machine ---------------------------------------------------------------------------- */

static cq_status op_dup(cq_unpickler *u)
{
    CQ_TRY(need(u, 1));
    return push(u, cq_val_retain(*top(u)));
}

static cq_status op_mark(cq_unpickler *u)
{
    return cq_vec_push(&u->marks, u->stack.n);
}

static cq_status pop_all(cq_unpickler *u, size_t n)
{
    CQ_TRY(count(u, &n, 0));
    drop(u, n);
    return CQ_OK;
}

static cq_status op_frame(cq_unpickler *u)
{
    uint64_t size; /* only a hint for readers of streams */

    return take_number(u, 8, &size);
}

static cq_status op_proto(cq_unpickler *u)
{
    uint64_t version;

    CQ_TRY(take_number(u, 1, &version));
    return version >= 2 && version <= 5 ? CQ_OK : damaged(u, "an unknown version of pickle");
}

enum { STOP = '.' };

static const opcode opcodes[256] = {
    ['(']  = { .fn = op_mark },
    [')']  = { .of = collect_tuple, .n = 0 },
    ['0']  = { .of = pop_all, .n = 1 },
    ['1']  = { .of = pop_all, .n = MARKED },
    ['2']  = { .fn = op_dup },
    ['B']  = { .of = push_bytes, .n = 4, .is_python = true },
    ['C']  = { .of = push_bytes, .n = 1, .is_python = true },
    ['G']  = { .fn = op_binfloat },
    ['J']  = { .of = push_int, .n = 4 },
    ['K']  = { .of = push_int, .n = 1 },
    ['M']  = { .of = push_int, .n = 2 },
    ['N']  = { .fn = op_none },
    ['Q']  = { .fn = op_persistent },
    ['R']  = { .fn = op_reduce },
    ['T']  = { .of = push_text, .n = 4 },
    ['U']  = { .of = push_text, .n = 1 },
    ['X']  = { .of = push_text, .n = 4 },
    [']']  = { .of = collect_list, .n = 0 },
    ['a']  = { .of = append, .n = 1 },
    ['b']  = { .fn = op_build },
    ['c']  = { .fn = op_global },
    ['d']  = { .fn = op_dict },
    ['e']  = { .of = append, .n = MARKED },
    ['h']  = { .of = get, .n = 1 },
    ['j']  = { .of = get, .n = 4 },
    ['l']  = { .of = collect_list, .n = MARKED },
    ['q']  = { .of = put_as, .n = 1 },
    ['r']  = { .of = put_as, .n = 4 },
    ['s']  = { .of = set_items, .n = 2 },
    ['t']  = { .of = collect_tuple, .n = MARKED },
    ['u']  = { .of = set_items, .n = MARKED },
    ['}']  = { .fn = op_empty_dict },
    [0x80] = { .fn = op_proto },
    [0x81] = { .of = new_object, .n = 0 },
    [0x85] = { .of = collect_tuple, .n = 1 },
    [0x86] = { .of = collect_tuple, .n = 2 },
    [0x87] = { .of = collect_tuple, .n = 3 },
    [0x88] = { .of = push_bool, .n = true },
    [0x89] = { .of = push_bool, .n = false },
    [0x8a] = { .of = push_long, .n = 1 },
    [0x8b] = { .of = push_long, .n = 4 },
    [0x8c] = { .of = push_text, .n = 1 },
    [0x8d] = { .of = push_text, .n = 8 },
    [0x8e] = { .of = push_bytes, .n = 8, .is_python = true },
    [0x8f] = { .fn = op_new_set, .is_python = true },
    [0x90] = { .of = append, .n = MARKED, .is_python = true },
    [0x91] = { .fn = op_frozenset, .is_python = true },
    [0x92] = { .of = new_object, .n = 1, .is_python = true },
    [0x93] = { .fn = op_stack_global },
    [0x94] = { .fn = op_memoize },
    [0x95] = { .fn = op_frame },
    [0x96] = { .of = push_bytearray, .n = 8, .is_python = true },
};

static cq_status run(cq_unpickler *u)
{
    for (;;) {
        const unsigned char *code;
        const opcode        *op;

        CQ_TRY(take(u, 1, &code));
        if (*code == STOP)
            break;
        op = &opcodes[*code];
        if ((!op->fn && !op->of) || (op->is_python && !u->source->any_class))
            return cq_unpickler_fail(u, CQ_E_FORMAT, "PyTorch does not write such pickles",
                                     "unknown opcode 0x%02x at byte %zu", *code, u->at - 1);
        CQ_TRY(op->fn ? op->fn(u) : op->of(u, op->n));
    }
    return u->stack.n == 1 && !u->marks.n ? CQ_OK : damaged(u, "the pickle is not one value");
}

/* ---- from bytes to a value ------------------------------------------------------------------ */

cq_status cq_unpickle_first(cq_val *out, const cq_pickle_source *source, size_t *used)
{
    cq_unpickler u = { .source = source,
                       .data   = source->data,
                       .size =
                           source->size < CQ_PICKLE_MAX_SIZE ? source->size : CQ_PICKLE_MAX_SIZE };
    cq_status    status;

    *out   = CQ_NONE;
    status = run(&u);
    if (status == CQ_OK)
        status = cq_unpickler_check(&u, &u.stack.items[0]);
    if (status == CQ_OK)
        *out = cq_val_retain(u.stack.items[0]);
    *used = u.at;
    cq_unpickler_clear(&u, status != CQ_OK);
    return status;
}

cq_status cq_unpickle(cq_val *out, const cq_pickle_source *source)
{
    size_t used;

    *out = CQ_NONE;
    if (source->size > CQ_PICKLE_MAX_SIZE)
        return cq_fail(CQ_E_FORMAT, source->where, NULL, "the pickle has %zu bytes, more than %u",
                       source->size, CQ_PICKLE_MAX_SIZE);
    return cq_unpickle_first(out, source, &used);
}
