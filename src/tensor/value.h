/* Values of any kind: arguments and results of operators, contents of archives, values of the
 * evaluator.
 *
 * A cq_val is small and copied freely; what it points to is refcounted. Functions borrow their
 * arguments, and a function that keeps one calls cq_val_retain. Lists and texts may also be on a
 * caller's stack during a call (refs 0: they must not be kept). */
#ifndef CQ_TENSOR_VALUE_H
#define CQ_TENSOR_VALUE_H

#include "tensor/tensor.h"

typedef enum cq_val_kind {
    CQ_VAL_NONE,
    CQ_VAL_TENSOR,
    CQ_VAL_INT,
    CQ_VAL_FLOAT,
    CQ_VAL_BOOL,
    CQ_VAL_COMPLEX,
    CQ_VAL_STR,
    CQ_VAL_LIST,
    CQ_VAL_TUPLE, /* a list that does not change */
    CQ_VAL_DICT,
    CQ_VAL_DEVICE, /* its text: "cpu" */
    CQ_VAL_OBJECT  /* an instance of a class, a module, a function, an enum member: box */
} cq_val_kind;

typedef struct cq_list       cq_list;
typedef struct cq_dict       cq_dict;
typedef struct cq_dict_index cq_dict_index;
typedef struct cq_text       cq_text;
typedef struct cq_box        cq_box;

typedef struct cq_val {
    cq_val_kind kind;
    union {
        cq_tensor *tensor;
        cq_int     i;
        struct { /* like cq_int: a number, and the graph value it came from if it is not fixed */
            double           value;
            struct cq_value *origin;
        } f;
        struct {
            bool             value;
            struct cq_value *origin;
        } b;
        struct {
            double re, im;
        } c;
        cq_text *text;
        cq_list *list; /* LIST and TUPLE */
        cq_dict *dict;
        cq_box  *box;
    } u;
} cq_val;

struct cq_text {
    atomic_int refs;
    bool       open; /* its numbers are those of the example: they depend on data */
    size_t     len;
    char       text[]; /* terminated; may hold any bytes */
};

struct cq_list {
    atomic_int refs;
    size_t     n;
    union {
        size_t   cap;
        cq_list *next_dead; /* once it is unreferenced */
    };
    cq_val *items;
    bool    is_size; /* of a tuple of Python source: it is a torch.Size */

    /* The graph value of the items, if the length is data-dependent: the list has no items then.
     * NULL: an ordinary list. */
    const struct cq_sequence *origin;
};

/* In insertion order, as Python's. Keys are strings, ints, floats or bools. */
struct cq_dict {
    atomic_int refs;
    size_t     n;
    union {
        size_t   cap;
        cq_dict *next_dead;
    };
    struct cq_dict_entry {
        cq_val   key, value;
        uint64_t number;      /* of dict.c */
    } * entries;              /* in the order in which their keys came */
    size_t         n_skipped; /* free elements before entries, of removed ones */
    cq_dict_index *index;     /* finds keys; NULL: few entries, or not yet made */
};

/* Any other shared value; the owner of the kind defines the data after the header. */
struct cq_box {
    atomic_int refs;
    void (*free)(cq_box *box);
    cq_box *next_dead;
};

cq_val cq_val_retain(cq_val v); /* returns v */
void   cq_val_release(cq_val v);
void   cq_val_set(cq_val *slot, cq_val v); /* retains v, and releases the old value */

cq_status cq_text_new(cq_text **out, const char *text, size_t len);
bool      cq_text_is_same(const cq_text *a, const cq_text *b); /* the same bytes */
cq_status cq_list_new(cq_list **out, size_t n);                /* n times None */
cq_status cq_list_push(cq_list *list, cq_val v);               /* retains v */
cq_status cq_list_add(cq_list *list, const cq_list *from);     /* all of its items */
void      cq_list_swap(cq_list *a, cq_list *b);                /* their contents */
void      cq_list_clear(cq_list *list);
cq_status cq_dict_new(cq_dict **out);
cq_status cq_dict_set(cq_dict *dict, cq_val key, cq_val value); /* retains both */
cq_status cq_dict_add(cq_dict *dict, const cq_dict *from);      /* all of its entries */
void      cq_dict_swap(cq_dict *a, cq_dict *b);                 /* their contents */
cq_val   *cq_dict_get(const cq_dict *dict, cq_val key);         /* NULL: not there */
cq_val   *cq_dict_get_text(const cq_dict *dict, const char *key);
bool      cq_dict_remove(cq_dict *dict, cq_val key);
void      cq_dict_clear(cq_dict *dict); /* takes all entries out */

/* Appends a key that is known to be new; retains both. It is found by a scan until the next
 * cq_dict_set. */
cq_status cq_dict_push(cq_dict *dict, cq_val key, cq_val value);

/* A box with one reference, zeroed after its header; NULL without memory. The free function
 * identifies the kind: NULL if v is not of that kind. */
void *cq_box_new(size_t size, void (*free)(cq_box *box));
void *cq_box_of(cq_val v, void (*free)(cq_box *box));

const char *cq_val_kind_name(cq_val_kind kind); /* "Tensor", "int", … as in schemas */

#define CQ_NONE ((cq_val){ .kind = CQ_VAL_NONE })

static inline cq_val cq_val_of_tensor(const cq_tensor *t)
{
    return t ? (cq_val){ .kind = CQ_VAL_TENSOR, .u.tensor = (cq_tensor *)t } : CQ_NONE;
}

static inline cq_val cq_val_of_int(cq_int i)
{
    return (cq_val){ .kind = CQ_VAL_INT, .u.i = i };
}

static inline cq_val cq_val_of_i64(int64_t i)
{
    return cq_val_of_int((cq_int){ i, NULL });
}

static inline cq_val cq_val_of_f64(double f)
{
    return (cq_val){ .kind = CQ_VAL_FLOAT, .u.f.value = f };
}

static inline cq_val cq_val_of_bool(bool b)
{
    return (cq_val){ .kind = CQ_VAL_BOOL, .u.b.value = b };
}

static inline cq_val cq_val_of_list(cq_list *list)
{
    return list ? (cq_val){ .kind = CQ_VAL_LIST, .u.list = list } : CQ_NONE;
}

/* A list or tuple with known items. */
static inline bool cq_val_is_list(cq_val v)
{
    return (v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE) && !v.u.list->origin;
}

static inline cq_val cq_val_of_text(cq_text *text)
{
    return text ? (cq_val){ .kind = CQ_VAL_STR, .u.text = text } : CQ_NONE;
}

static inline cq_val cq_val_of_box(cq_box *box)
{
    return box ? (cq_val){ .kind = CQ_VAL_OBJECT, .u.box = box } : CQ_NONE;
}

static inline cq_val cq_val_of_dict(cq_dict *dict)
{
    return dict ? (cq_val){ .kind = CQ_VAL_DICT, .u.dict = dict } : CQ_NONE;
}

#endif
