/* The evaluator of TorchScript: it runs what is known and records the rest. Every value is known (a
 * number, a string, a list, an object, a tensor with data), or shaped (a fake tensor of a capture),
 * or a symbol (a size, or a number with the graph value it comes from). A branch on a known
 * condition is taken; on a symbolic one both sides are evaluated into the blocks of an If
 * (branch.c), and a loop of data-dependent length becomes a Loop (loop.c). Lists, dicts, classes,
 * None and closures do not appear in the graph, because they have been evaluated. With a plain
 * context the same code runs the program. Types are those of the values: TorchScript is statically
 * typed so that it can be compiled, but a program that is run once with known values needs no
 * inference. */
#ifndef CQ_SCRIPT_EVAL_H
#define CQ_SCRIPT_EVAL_H

#include "aten/core/ctx.h"
#include "base/vec.h"
#include "capture/capture.h"
#include "capture/port.h"
#include "lang/ast.h"
#include "tensor/visit.h"

/* Limits: an untrusted file must not make the evaluator run forever. */
enum {
    CQ_EVAL_MAX_DEPTH  = 200,                 /* nested calls of functions */
    CQ_EVAL_MAX_CALLS  = 800,                 /* and of builtins and classes, which call others */
    CQ_EVAL_MAX_LEVELS = CQ_VISIT_MAX_LEVELS, /* nesting of containers */
    CQ_EVAL_MAX_UNROLL = 1024,                /* iterations of a loop that are unrolled */
    CQ_EVAL_MAX_ITEMS  = 1 << 20,             /* items of a list that a program creates */
    CQ_EVAL_MAX_TEXT   = 1 << 20              /* bytes of a string that a program creates */
};
/* Statements, calls and loop iterations in total. Expensive ones count more, and the size of the
 * file adds steps (base/steps.h). */
#define CQ_EVAL_MAX_STEPS 50000000u
enum {
    CQ_EVAL_STEP_ITEMS = 4,  /* list items or text bytes per step */
    CQ_EVAL_CALL_STEPS = 8,  /* added for each call of a function of the program */
    CQ_EVAL_NODE_STEPS = 128 /* for each recorded operator */
};

typedef struct cq_eval    cq_eval;
typedef struct cq_object  cq_object;
typedef struct cq_program cq_program;
typedef struct cq_frame   cq_frame;

/* ---- objects: the meanings of names besides plain values ---- */

typedef enum cq_object_kind {
    CQ_OBJECT_NAMESPACE, /* torch, ops.prim, __torch__.net, math */
    CQ_OBJECT_BUILTIN,   /* a function known by name: "aten::add", "len" */
    CQ_OBJECT_FUNCTION,  /* of the program, perhaps bound to self */
    CQ_OBJECT_NATIVE,    /* a function in C, provided by the user of the evaluator */
    CQ_OBJECT_METHOD,    /* of a plain value: x.relu, items.append */
    CQ_OBJECT_CLASS,
    CQ_OBJECT_INSTANCE, /* an instance: a module or another class of the program */
    CQ_OBJECT_ENUM,     /* a member */
    CQ_OBJECT_NAMED,    /* a NamedTuple */
    CQ_OBJECT_RANGE,
    CQ_OBJECT_ZIP,       /* several iterables in parallel, one of them of data-dependent length */
    CQ_OBJECT_OPTIONAL,  /* a value or None, data-dependent */
    CQ_OBJECT_UNDEFINED, /* no value on some path; a use fails with the message `text` */

    /* Objects of Python source (python/python.h). */
    CQ_OBJECT_MODULE,      /* a source file: text is its dotted name */
    CQ_OBJECT_LAZY,        /* a lazy import: text of module self */
    CQ_OBJECT_PROPERTY,    /* self is a tuple: getter, setter, deleter */
    CQ_OBJECT_STATIC,      /* a static method: self is the function */
    CQ_OBJECT_CLASSMETHOD, /* self is the function */
    CQ_OBJECT_SUPER,       /* self is bound; the search begins after the class type */
    CQ_OBJECT_ITERATOR,    /* self is a list; attribute 0 is the index of the next item */
    CQ_OBJECT_GENERATOR,   /* closure: its frame; attribute 0 is its state (python/generator.c) */
    CQ_OBJECT_STATE,       /* self is a tuple: where a generator is suspended */
    CQ_OBJECT_SLICE,       /* self is a tuple: start, stop, step */
    CQ_OBJECT_ELLIPSIS,
    CQ_OBJECT_DTYPE /* self is the number of the dtype */
} cq_object_kind;

/* The text of an UNDEFINED object that archives use where a value is never read. It may be passed
 * on like any value. */
#define CQ_UNINITIALIZED "uninitialized"

/* The text of a variable whose list may have been changed, depending on data (aliases.h). */
#define CQ_LOST "it may be a list that was changed, which is data-dependent"

typedef struct cq_attribute {
    const char *name; /* interned by the program */
    cq_val      value;
} cq_attribute;

struct cq_object {
    cq_box         box; /* first */
    cq_object_kind kind;
    const char    *text; /* name of a namespace, builtin, method, enum member; interned */
    cq_unit       *unit; /* of functions and classes, borrowed from the program */
    cq_ast_def    *def;
    cq_ast_class  *cls;       /* of CLASS, OBJECT, ENUM, NAMED */
    const char    *qualified; /* of CLASS, OBJECT: "__torch__.net.Net" */
    cq_val self; /* bound object of FUNCTION, value of METHOD, ENUM, OPTIONAL, list of NAMED, parts
                    of ZIP */
    cq_frame *closure;               /* of a nested function: the frame in which it was defined;
                                      * retained */
    CQ_VEC(cq_attribute) attributes; /* of an OBJECT */
    cq_ptr_map members; /* of a NAMESPACE: interned name -> member, owned by the program */
    cq_int     start, stop, step; /* of a RANGE */
    bool       is_unjoined;       /* of an UNDEFINED: it has a value on every path, but the values
                                   * cannot be joined */
    cq_status (*native)(cq_eval *ev, void *user, const cq_val *args, size_t n, cq_val *out);
    void     *native_user; /* of a NATIVE */
    cq_value *has;         /* of an OPTIONAL: a bool of the graph, whether self exists */

    /* Fields of Python source. Classes live as long as the program, so pointers to them are
     * borrowed. */
    cq_object *type;         /* of an INSTANCE or NAMED, the metaclass of a CLASS; otherwise NULL */
    cq_object *owner;        /* of a FUNCTION: the class whose body defines it; NULL: none */
    CQ_VEC(cq_object *) mro; /* of a CLASS, itself first */
    const char *native_base; /* of a CLASS: "dict", the builtin type that it extends; or NULL */
    cq_val      defaults;    /* of a FUNCTION: a tuple with the values of parameters */
    cq_frame   *globals;     /* of a MODULE, after it was executed */
    struct cq_source_file *file; /* of a MODULE: its source file; NULL: not found */
    cq_object  *previous, *next; /* list of instances, to free them when the program ends */
    cq_object **instances;       /* head of the list that contains it, or NULL */
    bool        is_resolving;    /* of a LAZY */
};

cq_status  cq_object_new(cq_object **out, cq_object_kind kind);
cq_object *cq_object_of(cq_val v); /* NULL if v is not an object */

/* The object if v is one of that kind; otherwise NULL. */
static inline cq_object *cq_object_as(cq_val v, cq_object_kind kind)
{
    cq_object *t = v.kind == CQ_VAL_OBJECT ? cq_object_of(v) : NULL;

    return t && t->kind == kind ? t : NULL;
}

static inline cq_val cq_val_of_object(cq_object *t)
{
    return cq_val_of_box(t ? &t->box : NULL);
}

cq_val *cq_object_attribute(cq_object *object, const char *interned); /* NULL: none */

/* A NamedTuple of the class of like; items is a tuple. The caller owns *out. */
cq_status cq_object_new_named(cq_val *out, const cq_object *like, cq_val items);
cq_status cq_eval_new_named(cq_eval *ev, const cq_object *like, cq_val items, cq_val *out);

/* The value of an OPTIONAL; other values are unchanged. A value that a program uses is not None. */
cq_val cq_val_unwrap(cq_val v);

/* "Tensor", "List[int]", "Net": the type of a value for messages. */
const char *cq_eval_type_name(cq_val v);

/* ---- the program: resolution of names ---- */

struct cq_program {
    cq_intern names;
    cq_arena *arena;
    cq_map    units; /* by qualifier, "__torch__.net": cq_unit */
    CQ_VEC(cq_unit *) all_units;
    cq_map     classes;  /* qualified name -> cq_object (CLASS), one per class */
    cq_ptr_map named[3]; /* NAMESPACE and BUILTIN by interned text, FUNCTION by its def */
    cq_ptr_map globals;  /* interned name -> an object of `named` that needs no import */
    cq_unit   *main;     /* of source text; NULL for archives */
    struct cq_torchscript *archive; /* NULL: none; provides code by qualifier */
    cq_status (*load_code)(cq_program *p, const char *qualifier, cq_source *code);
    cq_val constants; /* the tuple CONSTANTS refers to */
    int    version;   /* of the archive: selects the meaning of old operators; otherwise the
                       * newest */
    size_t      n_definitions;    /* sources that define operators (foreign.c) */
    cq_map      used_definitions; /* their functions that were called, by name */
    const char *undefined_op;     /* the first operator that was called without a definition, or
                                   * NULL */
    bool     has_warned_of_definitions;
    int64_t  file_bytes;     /* size of the program's file */
    uint64_t n_steps;        /* steps of all finished calls */
    uint64_t max_steps;      /* CQ_EVAL_MAX_STEPS and _BYTES unless the user set others */
    bool     has_max_steps;  /* the user set max_steps */
    int64_t  max_bytes;      /* limit of heap memory, which excludes the weights of an archive; 0:
                              * default */
    uint64_t available;      /* available memory when the program was created */
    uint64_t expected_bytes; /* bytes of weights that will be loaded into the model */
    int64_t  loaded_bytes;   /* bytes of the archive's values, which are part of the limit */
    bool     reads_mode;     /* the program has read the training mode of a module */
    bool     needs_tape;     /* it calls torch.autograd.grad */
    bool     whole_range;    /* quantize to 8 bits, like qnnpack (cq_ctx) */

    struct cq_python *python; /* modules and classes of Python source; NULL: TorchScript */
};

cq_status cq_program_new(cq_program **out);
void      cq_program_free(cq_program *p);
cq_status cq_program_add_source(cq_program *p, const char *file, const char *text, size_t len);

/* Definitions of operators. They are in separate units, CQ_DEFINITIONS and a number. */
#define CQ_DEFINITIONS "defined"
cq_status cq_program_add_definitions(cq_program *p, const char *file, const char *text, size_t len);

/* foreign.c: warns once about definitions that were never called. */
void cq_program_check_definitions(cq_program *p);

/* functional.c: the source of a unit that PyTorch implements in Python, by its name; *found is
 * false for other units. The arena owns text that is not embedded. */
#define CQ_FUNCTIONAL   "torch.nn.functional"
#define CQ_TORCH        "torch"
#define CQ_HIGHER_ORDER "<higher_order>" /* of calque, for programs of torch.export */
#define CQ_MATRICES     "<matrices>"     /* of calque, for matrices.c */
cq_status cq_functional_source(cq_source *out, bool *found, cq_arena *arena, const char *qualifier);

/* Resolves a dotted name of an archive: a class, a function or a namespace of the program. */
cq_status cq_program_find(cq_program *p, const char *qualified, cq_val *out);
cq_status cq_program_class(cq_program *p, const char *qualified, cq_object **out); /* borrowed */

const char *cq_name(cq_program *p, const char *text); /* interned; "" if out of memory */

/* ---- frames: the variables of one call ---- */

struct cq_frame {
    size_t      refs;  /* of the call, and of functions that were defined in it */
    cq_frame   *outer; /* of a nested function: where it was defined; retained */
    cq_unit    *unit;
    cq_ast_def *def;
    cq_ptr_map  slots; /* name -> index + 1 */
    CQ_VEC(cq_val) values;

    /* Fields of Python source. */
    cq_object *owner;   /* the class whose method is called */
    cq_ptr_map foreign; /* name -> the frame of a variable that is declared global or nonlocal */
    cq_list   *yielded; /* of a generator whose values are collected */
    struct cq_generator_run *run;       /* of a generator that is running until its next yield */
    uint64_t                 n_effects; /* calls in it, and whatever else must not be repeated */
    bool                     is_class, is_comprehension;
    bool                     is_pinned; /* freed when the program ends */
};

cq_status cq_frame_new(cq_frame **out, cq_object *function); /* for a call of `function` */
cq_frame *cq_frame_retain(cq_frame *f);                      /* returns f */
void      cq_frame_release(cq_frame *f);

/* Ends a call; and ends the program, after which no function is called. */
void cq_frame_end(cq_eval *ev, cq_frame *f);
void cq_eval_end_frames(cq_eval *ev);

cq_val   *cq_frame_own(const cq_frame *f, const char *name); /* NULL: none */
cq_val   *cq_frame_find(cq_frame *f, const char *name);      /* also in outer frames */
cq_status cq_frame_set(cq_eval *ev, cq_frame *f, const char *name, cq_val v); /* retains v */

/* ---- the evaluator ---- */

/* The fields of a track that in-place operators change. */
typedef struct cq_track_state {
    cq_value *value;
    uint32_t  version, current;
    cq_track *stale;
} cq_track_state;

static inline cq_track_state cq_track_state_of(const cq_track *t)
{
    return (cq_track_state){ t->value, t->version, t->current, t->stale };
}

static inline void cq_track_set_state(cq_track *t, cq_track_state s)
{
    t->value   = s.value;
    t->version = s.version;
    t->current = s.current;
    t->stale   = s.stale;
}

/* A change that can be undone: the old value. */
typedef struct cq_change {
    enum {
        CQ_CHANGE_SLOT,
        CQ_CHANGE_LIST,
        CQ_CHANGE_DICT,
        CQ_CHANGE_ATTRIBUTE,
        CQ_CHANGE_TRACK
    } kind;
    void          *where;     /* frame, list, dict, object, track */
    size_t         index;     /* of a slot or an attribute */
    cq_val         old;       /* of a slot or an attribute; a copy of a list or dict */
    cq_track_state old_state; /* of a track */
} cq_change;

typedef CQ_VEC(cq_change) cq_changes;

/* Lists or dicts that may be aliases, depending on data: two lists and their join. */
typedef struct cq_list_aliases {
    cq_val lists[3]; /* retained; the last one is the join, which may be one of the others */
} cq_list_aliases;

/* The form of operator calls. TorchScript needs overload resolution. A program of torch.export
 * names the overload, lists all arguments, and states the result types of unknown operators. */
typedef enum cq_dialect { CQ_DIALECT_SCRIPT, CQ_DIALECT_EXPORTED } cq_dialect;

struct cq_eval {
    cq_ctx     *cx;
    cq_program *program;
    cq_dialect  dialect;
    cq_capture *capture; /* NULL: the program only runs */

    const struct cq_script *script; /* called from outside; NULL: the call is a part of a model */

    bool      tracing; /* all branches are decided by the example */
    cq_frame *frame;
    unsigned  depth, journaling; /* journaling > 0: changes are journaled */
    uint64_t  steps;
    uint64_t  straight_steps;  /* steps added for operators outside of loops */
    unsigned  n_calls;         /* nesting depth of all calls */
    unsigned  n_loops;         /* number of loops being evaluated, without loops over modules */
    int       levels;          /* nesting depth of the values being iterated over */
    bool      text_is_open;    /* the string being built is data-dependent (cq_text) */
    CQ_VEC(cq_val) cycles;     /* containers that contain themselves (cycle.c) */
    CQ_VEC(cq_frame *) frames; /* frames of finished calls, for functions that were defined there */
    cq_changes journal;
    size_t     explored; /* journal length at the start of the current speculative evaluation */
    cq_ptr_map noted;    /* list or dict -> index of its last entry in the journal, + 1 */
    cq_port   *port;     /* of the call from outside */

    /* CQ_DIALECT_EXPORTED: the results of the current operator if the table lacks it. Writes fake
     * tensors to like, at most CQ_MAX_RESULTS, and returns their number. */
    size_t (*results_of)(void *user, cq_tensor **like);
    void *results_of_user;

    const char *guess; /* the first operator whose results were guessed */
    cq_location guess_location;
    cq_ptr_map  memories; /* of sequences (aliases.h): value -> track */
    CQ_VEC(cq_list_aliases) aliases;
    cq_ptr_map       has_aliases; /* the lists and dicts in aliases, which retains them */
    struct cq_carry *carry;       /* the innermost loop in speculative evaluation */
    struct cq_guard *guard;       /* the values of modules before the call; NULL: not recorded */

    /* Fields of Python source: the exception that is being raised, or the exception class of a
     * failure in C; and the exception of the enclosing except clause. */
    cq_val      raised; /* retained */
    const char *raised_class;
    cq_val      handled; /* the exception of the current except clause; retained */
    unsigned    n_tries;
    bool        is_searching; /* for missing names; a failure is not searched again */
};

/* Calls from C by position (call.h has all other forms): of a value, of a name in the program, and
 * of an operator in its current version without trying builtins. The context owns the results. */
cq_status cq_eval_call(cq_eval *ev, cq_val callee, const cq_val *args, size_t n, cq_val *out);
cq_status cq_eval_call_name(cq_eval *ev, const char *name, const cq_val *args, size_t n,
                            cq_val *out);
cq_status cq_eval_operator(cq_eval *ev, const char *name, const cq_val *args, size_t n,
                           cq_val *out);

/* The same with listed arguments: CQ_CALL(ev, &sum, "aten::add", a, INT(1)). */
#define CQ_CALL_BY(call, ev, out, name, ...)                                                       \
    call((ev), (name), (cq_val[]){ __VA_ARGS__ },                                                  \
         sizeof((cq_val[]){ __VA_ARGS__ }) / sizeof(cq_val), (out))
#define CQ_CALL(ev, out, name, ...) CQ_CALL_BY(cq_eval_call_name, ev, out, name, __VA_ARGS__)
#define CQ_CALL_OPERATOR(ev, out, name, ...)                                                       \
    CQ_CALL_BY(cq_eval_operator, ev, out, name, __VA_ARGS__)

cq_status cq_eval_call_expr(cq_eval *ev, const cq_ast_expr *x, cq_val *out); /* call.c */

cq_status cq_eval_expr(cq_eval *ev, const cq_ast_expr *x, cq_val *out);
cq_status cq_eval_block(cq_eval *ev, const cq_ast_block *b);
cq_status cq_eval_stmt(cq_eval *ev, const cq_ast_stmt *s);

/* A function of Python source; its defaults are evaluated now. */
cq_status cq_eval_new_function(cq_eval *ev, cq_ast_def *def, cq_val *out);
cq_status cq_eval_assign(cq_eval *ev, const cq_ast_expr *target, cq_val v);

/* Converts a value to a condition, a bool. It is known unless it has an origin. */
cq_status cq_eval_truth(cq_eval *ev, cq_val v, cq_val *out);

static inline cq_val cq_val_of_truth(bool example, cq_value *origin)
{
    return (cq_val){ .kind = CQ_VAL_BOOL, .u.b = { example, origin } };
}

/* Reads an integer, also from a tensor. The plain variant is for lengths and indices: a symbol is
 * replaced by its value on the example (with a warning), or rejected if it is data-dependent. */
cq_status cq_eval_int(cq_eval *ev, cq_val v, cq_int *out);
cq_status cq_eval_plain(cq_eval *ev, cq_val v, int64_t *out);
cq_status cq_eval_index_of(cq_eval *ev, cq_val *v); /* __index__ of an instance */

/* The changes of one path through the program (explore.c). */
typedef struct cq_path {
    cq_changes changes; /* one entry per slot; old is the value at the end of the path */
    cq_val     result;  /* of an expression; retained */
} cq_path;

/* Evaluates b or x into block speculatively: journals the changes and undoes them. */
cq_status cq_eval_explore(cq_eval *ev, cq_block *block, const cq_ast_block *b, const cq_ast_expr *x,
                          cq_path *path);
void      cq_path_clear(cq_path *path);

/* The same in two steps, for loops. The second undoes all changes. */
typedef struct cq_exploration {
    cq_block *outer;
    size_t    mark, outer_mark;
} cq_exploration;

void      cq_explore_begin(cq_eval *ev, cq_block *block, cq_exploration *x);
cq_status cq_explore_end(cq_eval *ev, const cq_exploration *x, cq_status status, cq_path *path);

/* The contents of a list or dict at the end of a path that may have changed it; the list itself has
 * its old contents again. */
cq_val cq_path_contents(const cq_path *path, cq_val v); /* borrowed */

/* Whether the container of the slot was created on the path and is not reachable otherwise. */
bool cq_path_is_only_holder(const cq_eval *ev, const cq_path *path, const cq_change *slot);

/* The number of references to a list or dict that do not belong to the program: those of the
 * journal and of loops in progress. */
int cq_eval_bookkeeping(const cq_eval *ev, const void *p);

/* Whether a list or dict is reachable only through the path and the slot. */
bool cq_path_owns(const cq_eval *ev, const cq_path *path, const cq_change *slot, cq_val v);

/* The change of a slot on a path; NULL: unchanged. */
const cq_change *cq_path_change(const cq_path *path, const cq_change *slot);

/* The current value of a slot, or its value at the end of a path. */
cq_val    cq_path_value(const cq_path *path, const cq_change *slot); /* borrowed */
cq_val    cq_slot_value(const cq_change *slot);                      /* borrowed; not of tracks */
cq_status cq_slot_set(cq_eval *ev, const cq_change *slot, cq_val v);
bool      cq_slot_same(const cq_change *a, const cq_change *b);

/* Appends a copy of the slot's current value, which is independent of later changes; and restores
 * it without journaling. */
cq_status cq_changes_add(cq_changes *to, const cq_change *slot);
cq_status cq_slot_restore(const cq_change *p);
void      cq_change_release(const cq_change *c);

/* Whether a value, a tensor or a size can be used in block: its operands are defined there or in an
 * enclosing block. */
bool cq_value_is_visible(const cq_value *v, const cq_block *block);
bool cq_track_is_visible(const cq_track *t, const cq_block *block);
bool cq_int_is_visible(cq_int i, const cq_block *block);

/* branch.c, loop.c */
cq_status cq_eval_if(cq_eval *ev, const cq_ast_stmt *s, cq_val condition); /* a truth */
cq_status cq_eval_if_else(cq_eval *ev, const cq_ast_expr *x, cq_val condition, cq_val *out);
cq_status cq_eval_while(cq_eval *ev, const cq_ast_stmt *s);
cq_status cq_eval_for(cq_eval *ev, const cq_ast_stmt *s);
/* Evaluates a `for` over a value of data-dependent length, or a `while` (over is None). */
cq_status cq_eval_open_loop(cq_eval *ev, const cq_ast_stmt *s, cq_val over);

/* display.c: [a, *b], {k: v}, f"{x}", comprehensions. */
cq_status cq_eval_items_of(cq_eval *ev, const cq_ast_exprs *exprs, cq_val_kind kind, cq_val *out);
cq_status cq_eval_dict(cq_eval *ev, const cq_ast_expr *x, cq_val *out);
cq_status cq_eval_fstring(cq_eval *ev, const cq_ast_expr *x, cq_val *out);
cq_status cq_eval_comp(cq_eval *ev, const cq_ast_expr *x, cq_val *out);

/* Rebinds the tensor t for all its holders: out=, set_. */
cq_status cq_eval_rebind(cq_eval *ev, cq_tensor *t, cq_tensor *to);

/* index.c: reads and assigns x[index] of tensors, lists, tuples, dicts and strings. */
cq_status cq_eval_index(cq_eval *ev, cq_val object, const cq_ast_expr *index, cq_val *out);
cq_status cq_eval_del_slice(cq_eval *ev, cq_list *list, const cq_val slice[3]);
cq_status cq_eval_set_index(cq_eval *ev, cq_val object, const cq_ast_expr *index, cq_val v);
cq_status cq_eval_index_value(cq_eval *ev, const cq_ast_expr *index, cq_val *out); /* also for
                                                                                    * slices */
cq_status cq_eval_get_item(cq_eval *ev, cq_val object, cq_val index, cq_val *out);
bool      cq_eval_is_open_index(const cq_eval *ev, cq_val index); /* whether the index is
                                                                   * data-dependent */

/* attribute.c */
cq_status cq_eval_attribute(cq_eval *ev, cq_val object, const char *name, cq_val *out);
bool      cq_eval_real_constant(const char *name, cq_val *out); /* inf, nan, pi, … */
cq_status cq_eval_set_attribute(cq_eval *ev, cq_val object, const char *name, cq_val v);

/* types.c: isinstance, and conversions by annotations. */
cq_status cq_eval_is_instance(cq_eval *ev, cq_val v, const cq_ast_expr *type, bool *out);
/* The declared type of an item of a list, tuple (its i-th) or dict; NULL: unknown. */
const cq_ast_expr *cq_type_of_item(const cq_ast_expr *type, size_t i);
bool               cq_type_is_optional_tensor(const cq_ast_expr *type); /* may be NULL */
bool               cq_type_is_dict(const cq_ast_expr *type);            /* may be NULL */

cq_status cq_eval_annotate(cq_eval *ev, const cq_ast_expr *type, cq_val v, cq_val *out);
/* Converts an argument from outside to its declared type, also in lists and dicts. */
cq_status cq_eval_accept(cq_eval *ev, const cq_ast_expr *type, cq_val v, cq_val *out);

/* A new object that a name refers to, owned by the context. */
cq_status cq_eval_new_object(cq_eval *ev, cq_object_kind kind, const char *text, cq_val *out);

/* An instance of a class, without attributes. */
cq_status cq_eval_new_instance(cq_eval *ev, const cq_object *cls, cq_val *out);

/* Called before a list or dict changes: journals the change during speculative evaluation. */
cq_status cq_eval_will_change(cq_eval *ev, cq_val container);

/* The items that a `for` statement iterates over; *known is whether their number is known. The
 * second function fails, naming the value if name is not NULL, unless the length is known. */
cq_status cq_eval_items(cq_eval *ev, cq_val iterable, cq_val *list, bool *known);
cq_status cq_eval_known_items(cq_eval *ev, cq_val iterable, const char *name, cq_list **out);

/* str(v), as Python prints it. Appends to s. */
struct cq_str;
cq_status cq_eval_format(cq_eval *ev, struct cq_str *s, cq_val v, bool quoted);

/* Counts a step; fails if there are too many. Functions that iterate over many items or bytes count
 * in proportion (limits.c), and so do operators. */
cq_status cq_eval_step(cq_eval *ev);
cq_status cq_eval_spend_steps(cq_eval *ev, uint64_t steps);
cq_status cq_eval_spend(cq_eval *ev, uint64_t items);
cq_status cq_eval_spend_on_operator(cq_eval *ev);

/* Charges ev for the operators of cx; NULL: no limit. */
void cq_eval_charge_operators(cq_eval *ev, cq_ctx *cx);

/* A separate context that is charged to ev. */
cq_status cq_eval_new_context(cq_eval *ev);

/* Enters a recursion over the items of v and counts steps. Without the count, a tuple that contains
 * the same tuple twice, nested sixty times, is small but takes 2^60 visits. */
cq_status cq_eval_down(cq_eval *ev, cq_val v);

static inline void cq_eval_up(cq_eval *ev)
{
    ev->levels--;
}

/* Enters a call of a function, or of a descriptor, which may be found by a descriptor. */
cq_status cq_eval_enter_call(cq_eval *ev, const char *name);

static inline void cq_eval_leave_call(cq_eval *ev)
{
    ev->depth--;
}

/* A walk over values of the program: it counts steps and enters named tuples. The evaluator owns
 * it. */
cq_visit cq_eval_visit(cq_eval *ev, void *user);

/* limits.c: applies fn to two values, one level deeper; and builds a container like a from the
 * results for corresponding items of a and b: lists or tuples of equal length, dicts with the same
 * keys, named tuples of the same class. The context owns it. */
typedef cq_status cq_pair_fn(void *user, cq_val a, cq_val b, cq_val *out);
cq_status cq_eval_pair(cq_eval *ev, cq_pair_fn *fn, void *user, cq_val a, cq_val b, cq_val *out);
cq_status cq_eval_pair_parts(cq_eval *ev, cq_pair_fn *fn, void *user, cq_val a, cq_val b,
                             cq_val *out);

/* part_name.c: appends the name of a part of a value, built from dict keys and field names; nothing
 * if it has no name. first: the name of the outermost part, or NULL. */
struct cq_str;
cq_status cq_eval_slot_name(const cq_visit_slot *slot, const char *first, struct cq_str *out);

/* Called before v is put into a container or an object; and after the call, to break the cycles
 * that root does not hold (cycle.c). */
cq_status cq_eval_will_hold(cq_eval *ev, cq_val container, cq_val v);
void      cq_eval_open_cycles(cq_eval *ev, cq_val root);

/* A failure at a node of the current function. */
cq_status cq_eval_fail(cq_eval *ev, cq_span at, cq_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Fails at an unsupported construct of Python: "'yield' is not supported here". */
cq_status cq_eval_unsupported(cq_eval *ev, cq_span at, const char *construct);

/* scope.c: called with the arguments before, and with the result after the call of a module. */
cq_status cq_eval_enter(cq_eval *ev, cq_scope *scope, const cq_object *module, cq_val *args,
                        size_t n);
cq_status cq_eval_leave(cq_eval *ev, cq_scope *scope, cq_val *result);

/* Transfers ownership of v from the caller to the context. */
cq_status cq_eval_own(cq_eval *ev, cq_val v, cq_val *out);

/* A new list or tuple, owned by the context, that retains its items; and a new dict. */
cq_status cq_eval_list(cq_eval *ev, const cq_val *items, size_t n, cq_val_kind kind, cq_val *out);
cq_status cq_eval_new_dict(cq_eval *ev, cq_val *out);

/* Converts a number to a 0-d tensor of the graph (prim::NumToTensor). */
cq_status cq_eval_as_tensor(cq_eval *ev, cq_val number, cq_tensor **out);

#endif
