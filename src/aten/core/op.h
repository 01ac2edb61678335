/* The operator table. An ATen operator is one row: PyTorch's schema string, a shape rule, a kernel,
 * a gradient; or a composition of other operators, from which it inherits them. The same rows serve
 * C calls, TorchScript, constant folding and shape propagation.
 *
 * A row computes its results in one of five ways:
 *
 *     shape + run   shape computes dtype and sizes of the results (sizes may be symbolic); run
 *                   fills them if the arguments have data
 *     run alone     with CQ_OP_DYNAMIC: the sizes depend on the data; shape then creates symbols
 *                   for them and is only called without data
 *     view          the results share the memory of the first argument: one function for real
 *                   and fake tensors; unview writes a changed view back into its base
 *     body          calls other operators: a function in lib/aten (body.h), and no row in C
 *     compose       the same in C, for code that is hard to read in Python
 *
 * In-place variants (`relu_`) and copies of views (`expand_copy`) need no rows: they are derived
 * from the plain operators. Where the names differ, lib/aten declares it:
 * derived("aten::pow_.Tensor", of="aten::pow.Tensor_Tensor"). */
#ifndef CQ_ATEN_CORE_OP_H
#define CQ_ATEN_CORE_OP_H

#include "aten/core/schema.h"

typedef struct cq_ctx    cq_ctx;
typedef struct cq_op     cq_op;
typedef struct cq_op_def cq_op_def;
typedef struct cq_opcall cq_opcall;

enum {
    CQ_OP_DYNAMIC = 1 << 0, /* result sizes depend on data */
    CQ_OP_RANDOM  = 1 << 1, /* other numbers every time: never folded or merged */
    CQ_OP_HOST    = 1 << 2, /* a result is a number, read off metadata (size, dim, …) */
    CQ_OP_PARTS   = 1 << 3, /* composed of views: a graph always shows its parts, because a
                             * change of the result must reach the argument */
    CQ_OP_GUESSED = 1 << 4, /* not in the table: its result is a guess */
    CQ_OP_FOREIGN = 1 << 5, /* not in the table: its result is declared by the file */
    CQ_OP_COMPLEX = 1 << 6  /* its body holds for complex tensors, too */
};

struct cq_op_def {
    const char *schema;
    const char *about; /* short description for `calque ops` */
    cq_status (*shape)(cq_opcall *c);
    cq_status (*run)(cq_opcall *c);
    cq_status (*view)(cq_opcall *c);
    cq_status (*compose)(cq_opcall *c);

    uint32_t flags;
    int      variant; /* distinguishes rows that share functions */
};

/* How autocast casts the floating-point arguments of an operator. */
typedef enum cq_autocast {
    CQ_AUTOCAST_NONE,
    CQ_AUTOCAST_LOWER,   /* to the dtype of the region */
    CQ_AUTOCAST_FLOAT32, /* to float32 */
    CQ_AUTOCAST_WIDEST   /* to the widest among them */
} cq_autocast;

/* How an operator is called on tensors with a batch dimension in front that it does not know of. */
typedef enum cq_vmap {
    CQ_VMAP_NONE, /* once for each element of the batch */
    CQ_VMAP_ELEMENTWISE,
    CQ_VMAP_BY_AXES, /* the first argument is batched, and axes are counted from its first one */
    CQ_VMAP_BY_SHAPE,
    CQ_VMAP_JOINED,  /* a list of tensors, along an axis */
    CQ_VMAP_PRODUCT, /* of matrices and vectors */
    CQ_VMAP_LINEAR,  /* a product with a transposed matrix, and a bias */
    CQ_VMAP_TURNED,  /* a transposed matrix */
    CQ_VMAP_LAST,    /* works on the last axes of all arguments, whatever is before them */
    CQ_VMAP_LAYER    /* works on the last axes of its first argument, or on each index */
} cq_vmap;

/* Its cost besides the elements that it reads and writes (work.c). */
typedef enum cq_cost {
    CQ_COST_ELEMENTS, /* no additional cost */
    CQ_COST_FETCHED,  /* elements read at data-dependent indices */
    CQ_COST_FUNCTION,
    CQ_COST_PICKED, /* elements processed one by one */
    CQ_COST_SORTED,
    CQ_COST_MATRIX_PRODUCT,
    CQ_COST_CONVOLUTION,
    CQ_COST_POOL,
    CQ_COST_RECURRENT,
    CQ_COST_BY_LAST_SIZE,
    CQ_COST_PAIRS_OF_BOXES,
    CQ_COST_REGIONS
} cq_cost;

/* How the results of an operator on quantized tensors are quantized (ops/quantized.c). */
typedef enum cq_quantized_rule {
    CQ_QUANTIZED_NONE,   /* PyTorch has no such operator on them; views keep the parameters */
    CQ_QUANTIZED_KEEP,   /* with the argument's parameters: elements are only moved */
    CQ_QUANTIZED_ROUND,  /* rounded with the argument's parameters */
    CQ_QUANTIZED_MEAN,   /* the same, computed on its integers: halves are rounded to even */
    CQ_QUANTIZED_UNIT,   /* with parameters for 0 … 1, regardless of the argument's */
    CQ_QUANTIZED_SIGNED, /* with parameters for -1 … 1 */
    CQ_QUANTIZED_PLAIN,  /* they are not quantized, or the operator itself sets the parameters */
    CQ_QUANTIZED_STORED  /* it accepts stored integers */
} cq_quantized_rule;

/* How calls in archives of old versions are rewritten (script/builtins/upgrade.c). */
typedef enum cq_upgrade {
    CQ_UPGRADE_NONE,
    CQ_UPGRADE_INTEGER_DIVISION,
    CQ_UPGRADE_FLOAT_FILL,
    CQ_UPGRADE_OPTIONAL_STEPS
} cq_upgrade;

/* The operation on sizes that corresponds to an operator on 0-d tensors: traced programs compute
 * with sizes in tensors. */
typedef enum cq_on_sizes {
    CQ_ON_SIZES_NONE,
    CQ_ON_SIZES_COPY,
    CQ_ON_SIZES_ADD,
    CQ_ON_SIZES_SUB,
    CQ_ON_SIZES_MUL,
    CQ_ON_SIZES_FLOORDIV,
    CQ_ON_SIZES_MOD
} cq_on_sizes;

/* Declared in lib/aten (traits.c): traits("aten::cat", autocast="widest", vmap="joined"), or as
 * keys of @operator. Operators that are derived from others have none. */
typedef struct cq_op_traits {
    cq_autocast       autocast;
    cq_vmap           vmap;
    cq_cost           cost;
    cq_quantized_rule quantized;
    cq_upgrade        upgrade;
    cq_on_sizes       on_sizes;
    int               until;         /* the last version of archives that upgrade applies to */
    bool              complex_pairs; /* moves pairs of real numbers, or works on them unchanged */
    bool        with_numbers; /* number constants of a trace are Python numbers, not tensors */
    const char *reflected;    /* the operator of `1 - x`, which takes x first; or NULL */
} cq_op_traits;

/* A row with its parsed schema and its functions in lib/aten, each of which may be NULL. */
struct cq_op {
    const cq_op_def *def;
    const cq_schema *schema;
    const cq_op     *inplace_of; /* for `relu_`: relu; its def is relu's */
    const cq_op     *copy_of;    /* for `expand_copy`: expand, likewise */
    const cq_op     *next;       /* the next overload of the same name, in table order */

    struct cq_lib_function *body;          /* its definition */
    struct cq_lib_function *unview;        /* of a view: the base after a change of the view */
    struct cq_lib_function *complex;       /* its definition for complex tensors */
    struct cq_lib_function *gradient;      /* the gradients of its arguments */
    struct cq_lib_function *tape;          /* the same results, by operators that have gradients */
    struct cq_lib_function *decomposition; /* the same results, by operators that ONNX has */

    cq_op_traits traits;
};

/* The description for `calque ops`; NULL if memory runs out. */
const char *cq_op_about(const cq_op *op);

/* Builds the table on first use; later look-ups need no memory. Creating a context calls it. */
cq_status cq_ops_ready(void);
/* Whether the operator is composed of others; and running them (its body or compose). */
bool      cq_op_is_composed(const cq_op *op);
cq_status cq_op_compose(cq_opcall *c);

/* The base in which the elements shown by the result of view call c (or its index-th item) are
 * replaced by changed; base is the current value of c's first argument. Functions decorated with
 * @unview get them as base, changed and part. NULL after a failure. */
cq_tensor *cq_op_unview(cq_opcall *c, cq_tensor *base, cq_tensor *changed, size_t index);

/* By full name, "aten::add.Tensor"; NULL if it is unknown. */
const cq_op *cq_op_find(const char *full_name);

/* All overloads of "aten::add", linked by next. */
const cq_op *cq_op_overloads(const char *name);

/* The suffix of a derived operator: "_" or "_copy" at the end of the first len characters of name;
 * NULL if there is none. */
const char *cq_op_suffix(const char *name, size_t len);

/* A target of torch.export that is not called by its own name. lib/aten declares it:
 * torch_export("aten::view", call="aten::reshape"), torch_export("…", assertion="data"). */
typedef struct cq_export_target {
    const char *call;         /* the operator that is called; NULL for assertions */
    bool        is_assertion; /* has no result, only a side effect */
    bool        checks_data;  /* an assertion whose condition is the first argument */
} cq_export_target;

const cq_export_target *cq_export_target_find(const char *target); /* NULL for other operators */

/* Walks the whole table in order: cq_op_at(0), … until NULL. */
const cq_op *cq_op_at(size_t index);

/* The families, one array each, ended by an empty row (registry.c lists them). */
extern const cq_op_def cq_ops_number[];
extern const cq_op_def cq_ops_pointwise[];
extern const cq_op_def cq_ops_functions[];
extern const cq_op_def cq_ops_compare[];
extern const cq_op_def cq_ops_activation[];
extern const cq_op_def cq_ops_creation[];
extern const cq_op_def cq_ops_cast[];
extern const cq_op_def cq_ops_random[];
extern const cq_op_def cq_ops_linalg[];
extern const cq_op_def cq_ops_conv[];
extern const cq_op_def cq_ops_pool[];
extern const cq_op_def cq_ops_norm[];
extern const cq_op_def cq_ops_reduce[];
extern const cq_op_def cq_ops_softmax[];
extern const cq_op_def cq_ops_rnn[];
extern const cq_op_def cq_ops_packed[];
extern const cq_op_def cq_ops_resize[];
extern const cq_op_def cq_ops_view[];
extern const cq_op_def cq_ops_slice[];
extern const cq_op_def cq_ops_split[];
extern const cq_op_def cq_ops_meta[];
extern const cq_op_def cq_ops_join[];
extern const cq_op_def cq_ops_shuffle[];
extern const cq_op_def cq_ops_index[];
extern const cq_op_def cq_ops_select[];
extern const cq_op_def cq_ops_pad[];
extern const cq_op_def cq_ops_sort[];
extern const cq_op_def cq_ops_unique[];
extern const cq_op_def cq_ops_matrix[];
extern const cq_op_def cq_ops_complex[];
extern const cq_op_def cq_ops_quantized[];
extern const cq_op_def cq_ops_vision[];
extern const cq_op_def cq_ops_moe[];

/* ---- one call of an operator ---- */

enum { CQ_MAX_RESULTS = 8 };

struct cq_opcall {
    cq_ctx      *cx;
    const cq_op *op;
    cq_val      *args;   /* one per schema argument, defaults filled in */
    bool         real;   /* results get data; else they are fake */
    bool         copied; /* set by a view function that had to copy: the result is not a view */
    size_t       n_results;
    cq_val       results[CQ_MAX_RESULTS]; /* owned by the context */
};

/* Arguments by name. A wrong kind is an error in the context (the caller of the operator
 * was checked against the schema, so it can only be a bug), and gives zeroes. */
cq_tensor *cq_arg_tensor(const cq_opcall *c, const char *name); /* NULL for None */
bool       cq_arg_is_none(const cq_opcall *c, const char *name);
cq_int     cq_arg_int(const cq_opcall *c, const char *name);
/* A plain number: a symbol is baked in, with a warning. */
int64_t cq_size_baked(const cq_opcall *c, cq_int i, const char *what);

int64_t     cq_arg_i64(const cq_opcall *c, const char *name); /* a number; a symbol is baked in */
double      cq_arg_f64(const cq_opcall *c, const char *name);
bool        cq_arg_bool(const cq_opcall *c, const char *name);
const char *cq_arg_str(const cq_opcall *c, const char *name, const char *otherwise);
cq_dtype    cq_arg_dtype(const cq_opcall *c, const char *name, cq_dtype otherwise);
cq_val      cq_arg_val(const cq_opcall *c, const char *name);

/* A list of ints into out (at most max; more is an error); its length. A single int counts
 * as a list. */
size_t cq_arg_ints(const cq_opcall *c, const char *name, cq_int *out, size_t max);
size_t cq_arg_i64s(const cq_opcall *c, const char *name, int64_t *out, size_t max);
size_t cq_arg_f64s(const cq_opcall *c, const char *name, double *out, size_t max);

/* As cq_arg_i64s for an int[n] such as a kernel size: one number is repeated n times, and an empty
 * list (a stride) means otherwise. */
void cq_arg_i64_n(const cq_opcall *c, const char *name, int64_t *out, size_t n,
                  const int64_t *otherwise);

enum { CQ_MAX_TENSORS = 4096 };
size_t     cq_arg_n_tensors(const cq_opcall *c, const char *name);
cq_tensor *cq_arg_tensor_at(const cq_opcall *c, const char *name, size_t i);

/* A dim argument, wrapped into 0 … rank-1. A 0-d tensor counts as rank 1. */
int cq_arg_dim(const cq_opcall *c, const char *name, size_t rank);

/* The same, but a symbol stays a symbol: it is not fixed, and the returned dimension holds for
 * the example only. */
int cq_arg_open_dim(const cq_opcall *c, const char *name, size_t rank, bool *open);

/* A list of dims as a bit mask; empty or None means all of them. */
uint64_t cq_arg_dims(const cq_opcall *c, const char *name, size_t rank);

/* t itself or, if it has no data, its value on the examples. A caller that bakes in a number of it
 * informs the listener. */
cq_status cq_call_data(cq_opcall *c, cq_tensor **out, cq_tensor *t);

/* Results. cq_result makes the index-th one, with data if the call is real. All return the status
 * of the context: after a failure nothing is made. */
cq_status  cq_result(cq_opcall *c, size_t index, cq_dtype dtype, size_t rank, const cq_int *sizes);
cq_status  cq_result_like(cq_opcall *c, size_t index, const cq_tensor *like, cq_dtype dtype);
cq_tensor *cq_result_tensor(const cq_opcall *c, size_t index);  /* the result tensor */
cq_status  cq_result_set(cq_opcall *c, size_t index, cq_val v); /* v is the context's, or plain */
cq_status  cq_result_set_tensor(cq_opcall *c, size_t index, cq_tensor *t);
/* A list of n tensors as one result (Tensor[]). The items are the context's. */
cq_status cq_result_set_tensors(cq_opcall *c, size_t index, cq_tensor **items, size_t n);

/* A result that shares t's memory. */
cq_status cq_result_view(cq_opcall *c, size_t index, const cq_tensor *t, size_t rank,
                         const cq_int *sizes, const int64_t *strides, int64_t offset);

/* ---- helpers of shape rules ---- */

/* Integer arithmetic on sizes, symbolic where it must be. */
cq_int cq_size_add(const cq_opcall *c, cq_int a, cq_int b);
cq_int cq_size_sub(const cq_opcall *c, cq_int a, cq_int b);
cq_int cq_size_mul(const cq_opcall *c, cq_int a, cq_int b);
cq_int cq_size_floordiv(const cq_opcall *c, cq_int a, cq_int b);

/* A data-dependent size, in a shape rule of a CQ_OP_DYNAMIC row; example is a guess. It becomes the
 * size of the result it is used in. */
cq_int cq_unknown_size(const cq_opcall *c, int64_t example);

/* Whether the example value of a size is meaningless: a symbol in a branch that the example does
 * not take. */
bool cq_size_is_dont_care(const cq_opcall *c, cq_int size);

/* Sizes of a and b broadcast together into out; the rank, or an error. */
cq_status cq_broadcast(cq_opcall *c, size_t *rank, cq_int *out, size_t rank_a, const cq_int *a,
                       size_t rank_b, const cq_int *b);

/* The dtype of an operation on these arguments as in torch.result_type: tensors with dimensions
 * count first, then 0-d tensors, then plain numbers. number: the dtype of plain floats. */
cq_dtype cq_result_type(cq_dtype number, const cq_val *vals, size_t n);

/* The default dtype of real numbers as tensors; given: a setting (cq_ctx, cq_graph), which is
 * CQ_DTYPE_NONE for float32. */
cq_dtype cq_default_float(cq_dtype given);

/* Integers and bool become the default float type of the context. */
cq_dtype cq_float_of(const cq_ctx *cx, cq_dtype d);

/* Shape rules that many rows share. */
cq_status cq_shape_of_self(cq_opcall *c);
cq_status cq_shape_of_self_in_float(cq_opcall *c);
cq_status cq_shape_of_self_in_bool(cq_opcall *c);

/* Macros for rows by their fields. Rows with other fields are written out. */
#define CQ_KERNEL(schema_text, about_text, shape_fn, run_fn)                                       \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .shape = shape_fn, .run = run_fn               \
    }
#define CQ_VIEW(schema_text, about_text, view_fn)                                                  \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .view = view_fn                                \
    }
/* Fails a call: adds the operator's name as the location. Returns the status. */
cq_status cq_call_fail(const cq_opcall *c, cq_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
