/* Loads a TorchScript archive as a program: its instances become objects with their classes; its
 * code is parsed when a name is resolved to it. */
#include "archive/object.h"
#include "archive/archive.h"
#include "archive/torchscript.h"
#include "archive/weights.h"
#include "aten/ops/quantized.h"
#include "base/str.h"
#include "script/builtins/builtin.h"
#include "base/signature.h"
#include "script/python/unpickle.h"
#include "script/script.h"

#include <stdio.h>

enum { MAX_DEPTH = 200 /* nesting of objects */ };

typedef struct loading {
    cq_script *script;
    cq_eval   *ev;    /* for __setstate__ */
    cq_visit   visit; /* shared containers are converted once */
    cq_ptr_map made;  /* cq_instance -> cq_object: shared objects are converted once */
    cq_list   *all;   /* keeps converted objects alive: an object may be released and referenced
                       * again */
    int depth;        /* nesting of objects */
} loading;

static cq_python_location origin(void *owner, const void *notes, uint32_t offset)
{
    return cq_torchscript_origin(owner, notes, offset);
}

/* Loads the code of a unit. The archive finds a file by any class or function in it, so the last
 * name is arbitrary. */
static cq_status load_code(cq_program *p, const char *qualifier, cq_source *out)
{
    const cq_code *code;
    char           name[1024];

    snprintf(name, sizeof name, "%.1000s.x", qualifier);
    CQ_TRY(cq_torchscript_code(&code, p->archive, name));
    cq_source_init(out, code->file, code->text, code->len);
    out->origin = origin;
    out->owner  = p->archive;
    out->notes  = code;
    return CQ_OK;
}

static cq_status set_attribute(loading *l, cq_object *t, const char *name, cq_val value)
{
    cq_val    v;
    cq_status status;

    CQ_TRY(cq_val_map(&l->visit, value, &v));
    status = cq_vec_push(&t->attributes, (cq_attribute){ cq_name(l->script->program, name), v });
    if (status != CQ_OK)
        cq_val_release(v);
    return status;
}

static cq_status run_setstate(loading *l, cq_object *t, cq_val state)
{
    cq_val    method, v, ignored;
    cq_status status;

    CQ_TRY(cq_eval_attribute(l->ev, cq_val_of_object(t),
                             cq_name(l->script->program, "__setstate__"), &method));
    CQ_TRY(cq_val_map(&l->visit, state, &v));
    status = cq_eval_call(l->ev, method, &v, 1, &ignored);
    cq_val_release(v);
    return status;
}

static cq_status state_itself(cq_val *out, const char *class_name, cq_val state)
{
    (void)class_name;
    *out = cq_val_retain(state);
    return CQ_OK;
}

static cq_status refuse_packed(cq_val *out, const char *class_name, cq_val state)
{
    (void)out;
    (void)state;
    return cq_fail(CQ_E_UNSUPPORTED, class_name,
                   "save the model before optimize_for_mobile, or use backend='cpu'",
                   "the layers of the model are packed for a specific device");
}

/* Objects of classes that PyTorch implements in C++ have no code. They are replaced by values that
 * operators in src/aten accept, built from the state in the archive. */
static const struct {
    const char *begins, *has;
    cq_status (*convert)(cq_val *out, const char *class_name, cq_val state);
} natives[] = {
    { "quantized.", "PackedParams", cq_packed_weights_of },
    { "rnn.", "CellParamsBase", state_itself },
    { "xnnpack.", "OpContext", state_itself },
    { "vulkan.", "", refuse_packed },
    { "metal.", "", refuse_packed },
};

static cq_status convert_native(loading *l, const cq_instance *o, cq_val *out, bool *converted)
{
    static const char module[] = "__torch__.torch.classes.";
    const char       *name     = o->class_name + sizeof module - 1;
    cq_val            state;
    cq_status         status;

    *converted = false;
    if (!cq_starts_with(o->class_name, module))
        return CQ_OK;
    for (size_t i = 0; i < sizeof natives / sizeof *natives && !*converted; i++) {
        if (!cq_starts_with(name, natives[i].begins) || !strstr(name, natives[i].has))
            continue;
        *converted = true;
        CQ_TRY(cq_val_map(&l->visit, o->state, &state));
        status = natives[i].convert(out, o->class_name, state);
        cq_val_release(state);
        CQ_TRY(status);
    }
    return CQ_OK;
}

/* The caller owns *out. */
static cq_status convert_new_object(loading *l, cq_instance *o, cq_val *out)
{
    cq_object *t, *cls;
    bool       converted;

    CQ_TRY(convert_native(l, o, out, &converted));
    if (converted)
        return CQ_OK;
    CQ_TRY(cq_program_class(l->script->program, o->class_name, &cls));
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_INSTANCE));
    *out         = cq_val_of_object(t);
    t->qualified = cq_name(l->script->program, o->class_name);
    if (cls) {
        t->cls  = cls->cls;
        t->unit = cls->unit;
    }
    CQ_TRY(cq_list_push(l->all, *out));
    CQ_TRY(cq_ptr_map_set(&l->made, o, t));
    for (size_t i = 0; i < o->attrs->n; i++) {
        cq_val key = o->attrs->entries[i].key;

        if (key.kind == CQ_VAL_STR)
            CQ_TRY(set_attribute(l, t, key.u.text->text, o->attrs->entries[i].value));
    }
    if (cls && cq_ast_class_method(cls->cls, cq_name(l->script->program, "__setstate__")))
        return run_setstate(l, t, o->state);
    return CQ_OK;
}

static cq_status convert_object(loading *l, cq_instance *o, cq_val *out)
{
    cq_object *t = cq_ptr_map_get(&l->made, o);
    cq_status  status;

    if (t) {
        *out = cq_val_retain(cq_val_of_object(t));
        return CQ_OK;
    }
    if (l->depth > MAX_DEPTH)
        return cq_fail(CQ_E_FORMAT, NULL, NULL,
                       "the archive's objects are nested more than %d deep", MAX_DEPTH);
    l->depth++;
    status = convert_new_object(l, o, out);
    l->depth--;
    return status;
}

static cq_status convert_enum(loading *l, cq_enum_member *m, cq_val *out)
{
    cq_object *cls, *t;

    CQ_TRY(cq_program_class(l->script->program, m->class_name, &cls));
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_ENUM));
    *out    = cq_val_of_object(t);
    t->text = "";
    t->self = cq_val_retain(m->value);
    if (!cls)
        return cq_fail(CQ_E_FORMAT, m->class_name, NULL, "the archive lacks the code of an enum");
    t->cls = cls->cls;
    for (size_t i = 0; i < cls->cls->n_fields; i++) {
        const cq_ast_expr *x = cls->cls->fields[i].value;
        bool               is_it;

        if (!x)
            continue;
        is_it =
            x->kind == CQ_X_INT     ? m->value.kind == CQ_VAL_INT && m->value.u.i.value == x->u.i
            : x->kind == CQ_X_FLOAT ? m->value.kind == CQ_VAL_FLOAT && m->value.u.f.value == x->u.f
            : x->kind == CQ_X_STR
                ? m->value.kind == CQ_VAL_STR && strcmp(m->value.u.text->text, x->u.str.text) == 0
                : false;
        if (is_it)
            t->text = cls->cls->fields[i].name;
    }
    return CQ_OK;
}

/* Builds a quantized tensor, as operators expect it, from the integers and quantization parameters
 * of an archive. */
cq_status cq_quantized_tensor(const cq_quantized *q, cq_val *out)
{
    cq_qparams *params;
    cq_tensor  *t = q->values, *stored;
    cq_status   status;

    if (q->float_zero_points)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "a tensor is quantized with floating-point zero points");
    CQ_TRY(cq_tensor_new_view(&stored, t, t->dtype, t->rank, t->sizes, t->strides, t->offset));
    status = q->scales ? cq_qparams_new_per_channel(&params, q->torch_dtype, q->scales,
                                                    q->zero_points, (int)q->axis)
                       : cq_qparams_new(&params, q->torch_dtype, q->scale, q->zero_point);
    if (status == CQ_OK) {
        cq_tensor_set_qparams(stored, params);
        cq_qparams_release(params);
        *out = cq_val_of_tensor(stored);
    } else {
        cq_tensor_release(stored);
    }
    return status;
}

static cq_status convert_leaf(cq_visit *w, cq_val v, cq_val *out)
{
    loading  *l      = w->user;
    cq_status status = CQ_OK;

    *out = CQ_NONE;
    if (cq_instance_of(v))
        status = convert_object(l, cq_instance_of(v), out);
    else if (cq_enum_member_of(v))
        status = convert_enum(l, cq_enum_member_of(v), out);
    else if (cq_quantized_of(v))
        status = cq_quantized_tensor(cq_quantized_of(v), out);
    else
        *out = cq_val_retain(v); /* a sparse tensor: operators that support it take it
                                  * unconverted */
    if (status != CQ_OK) {
        cq_val_release(*out);
        *out = CQ_NONE;
    }
    return status;
}

static cq_status convert_all(loading *l, cq_torchscript *t)
{
    cq_object *root;

    CQ_TRY(cq_val_map(&l->visit, t->constants, &l->script->program->constants));
    CQ_TRY(convert_object(l, cq_instance_of(t->root), &l->script->root));
    root = cq_object_of(l->script->root);
    if (!root->cls)
        return cq_fail(CQ_E_FORMAT, root->qualified, NULL,
                       "the archive lacks the code of its model");
    root->text = ""; /* the path of the root */
    return CQ_OK;
}

/* The recorded inputs of forward, if they are plain tensors; other inputs need an args.json. */
static cq_val traced_inputs(const cq_torchscript *t)
{
    const cq_dict *by_method =
        t->traced_inputs.kind == CQ_VAL_DICT ? t->traced_inputs.u.dict : NULL;
    const cq_val *inputs = by_method ? cq_dict_get_text(by_method, "forward") : NULL;

    if (!inputs || !cq_val_is_list(*inputs))
        return CQ_NONE;
    for (size_t i = 0; i < inputs->u.list->n; i++)
        if (inputs->u.list->items[i].kind != CQ_VAL_TENSOR)
            return CQ_NONE;
    return cq_val_retain(*inputs);
}

/* Loads the archive and converts its values, within the memory limit. */
static cq_status load_archive(cq_script *s, cq_storage *bytes, const char *path)
{
    cq_eval         ev = { 0 };
    loading         l  = { .script = s, .ev = &ev, .visit = { .map = convert_leaf, .user = &l } };
    cq_torchscript *t;
    cq_frame        frame = { 0 };
    cq_unit         unit  = { .source = { .file = path, .text = "", .len = 0 } };
    cq_status       status;

    CQ_TRY(cq_torchscript_open_bytes(&t, bytes, path));
    s->archive            = t;
    s->program->archive   = t;
    s->program->load_code = load_code;
    s->program->version   = t->version;
    s->traced             = traced_inputs(t);
    frame.unit            = &unit;
    ev.program            = s->program;
    ev.frame              = &frame;
    CQ_TRY(cq_eval_new_context(&ev));
    status = cq_list_new(&l.all, 0);
    if (status == CQ_OK)
        status = convert_all(&l, t);
    cq_ctx_free(ev.cx);
    cq_ptr_map_clear(&l.made);
    cq_val_release(cq_val_of_list(l.all));
    cq_visit_clear(&l.visit);
    return status;
}

/* Whether the first bytes contain no control characters, which every archive contains. */
static bool looks_like_text(const cq_storage *bytes)
{
    const unsigned char *p    = bytes->data;
    const size_t         n    = bytes->size < 512 ? bytes->size : 512;
    bool                 text = n > 0 && !(n > 1 && p[0] == 'P' && p[1] == 'K');

    for (size_t i = 0; i < n; i++)
        text &= p[i] >= ' ' || p[i] == '\n' || p[i] == '\t' || p[i] == '\r';
    return text;
}

/* Whether a line begins with import or from: TorchScript has no imports, and Python that uses torch
 * has at least one. */
static bool imports_something(const char *text)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\r\n");
        if (cq_starts_with(line, "import ") || cq_starts_with(line, "from "))
            return true;
    }
    return false;
}

static cq_status compile_python(cq_script **out, const char *text, size_t len, const char *path)
{
    cq_script *s = *out = cq_zalloc(sizeof *s);
    cq_status  status;

    if (!s)
        return CQ_E_NO_MEMORY;
    status = cq_program_new(&s->program);
    if (status == CQ_OK)
        status = cq_python_new(s->program, path, text, len);
    if (status != CQ_OK) {
        cq_script_free(s);
        *out = NULL;
    }
    return status;
}

static cq_status compile_bytes(cq_script **out, const cq_storage *bytes, const char *path,
                               bool is_script)
{
    char     *text;
    cq_status status;

    CQ_TRY(cq_check_text_signature(bytes->data, bytes->size, path));
    text = cq_strndup(bytes->data, bytes->size);
    if (!text)
        return CQ_E_NO_MEMORY;
    status = imports_something(text) || is_script ? compile_python(out, text, bytes->size, path)
                                                  : cq_script_compile(out, text, path);
    if (status != CQ_OK && !cq_ends_with(path, ".py"))
        status =
            cq_error_add_hint(status, "the file is text and was parsed as TorchScript; an archive "
                                      "of PyTorch begins with the bytes PK");
    cq_free(text);
    return status;
}

static cq_status load_bytes(cq_script **out, cq_storage *bytes, const char *path,
                            uint64_t max_steps, uint64_t max_bytes)
{
    cq_alloc_budget outer;
    cq_status       status;

    if (looks_like_text(bytes)) {
        CQ_TRY(compile_bytes(out, bytes, path, false));
        cq_script_set_limits(*out, max_steps, max_bytes);
        return CQ_OK;
    }
    *out = cq_zalloc(sizeof **out);
    if (!*out)
        return CQ_E_NO_MEMORY;
    status = cq_program_new(&(*out)->program);
    if (status == CQ_OK) {
        cq_script_set_file(*out, bytes->size);
        cq_script_set_limits(*out, max_steps, max_bytes);
        outer  = cq_alloc_set_budget((cq_alloc_budget){
             .limit = max_bytes ? (*out)->program->max_bytes : cq_archive_max_bytes(bytes->size) });
        status = cq_weights_is_pickled(bytes, path) ? cq_pickled_open(*out, bytes, path)
                                                    : load_archive(*out, bytes, path);
        (*out)->program->loaded_bytes = cq_alloc_set_budget(outer).used;
    }
    if (status != CQ_OK) {
        cq_script_free(*out);
        *out = NULL;
    }
    return status;
}

CQ_API cq_status cq_script_load(cq_script **out, const char *path)
{
    CQ_NEED_OUT(out, path);
    return cq_script_load_limited(out, path, 0, 0);
}

CQ_API cq_status cq_script_load_limited(cq_script **out, const char *path, uint64_t max_steps,
                                        uint64_t max_bytes)
{
    CQ_NEED_OUT(out, path);
    cq_storage *bytes;
    cq_status   status;

    *out = NULL;
    CQ_TRY(cq_storage_open(&bytes, path));
    status = load_bytes(out, bytes, path, max_steps, max_bytes);
    cq_storage_release(bytes);
    return status;
}

CQ_API cq_status cq_script_load_bytes(cq_script **out, const void *data, size_t size,
                                      const char *name, void (*release)(void *user), void *user)
{
    CQ_NEED_OUT(out, data);
    cq_storage *bytes;
    cq_status   status;

    *out = NULL;
    CQ_TRY(cq_storage_wrap(&bytes, (void *)data, size, true, release, user));
    status = load_bytes(out, bytes, name ? name : "<bytes>", 0, 0);
    cq_storage_release(bytes);
    return status;
}

CQ_API cq_status cq_script_load_main(cq_script **out, const char *path, uint64_t max_steps,
                                     uint64_t max_bytes)
{
    CQ_NEED_OUT(out, path);
    cq_storage *bytes;
    cq_status   status;

    *out = NULL;
    CQ_TRY(cq_storage_open(&bytes, path));
    if (!looks_like_text(bytes))
        status = cq_fail(CQ_E_FORMAT, path, NULL, "expected a Python script, got a binary file");
    else
        status = compile_bytes(out, bytes, path, true);
    if (status == CQ_OK)
        cq_script_set_limits(*out, max_steps, max_bytes);
    cq_storage_release(bytes);
    return status;
}
