/* Finds the first node whose value differs between the source and the export. Both run once more:
 * the source operator by operator, the export with the corresponding values as outputs. Operators
 * inside branches and loops of the source cannot be observed in this way; then the results of
 * modules are compared, and the first module whose results differ is reported with its nodes.
 * Modules are identified by the names of their nodes, /features/0/Conv.
 * */
#include "bisect.h"

#include "show.h"

#include <calque/annotate.h>
#include <calque/session.h>

#include <stdio.h>
#include <string.h>

enum { MAX_PATHS = 2048, MAX_PATH = 256, AT_ONCE = CLI_MAX_OUTPUTS / 2 };

/* ---- nodes ---- */

enum { MAX_VALUES = 8192, MAX_NAME = 256 };

/* Values of the export, and the corresponding values of the source. */
typedef struct values {
    char       value[MAX_VALUES][MAX_NAME], node[MAX_VALUES][MAX_NAME], op[MAX_VALUES][64];
    cq_tensor *wanted[MAX_VALUES];
    size_t     n;
} values;

static void note_value(void *user, const char *value, const char *node, const char *op_type,
                       cq_tensor *result)
{
    values *v = user;

    if (v->n == MAX_VALUES || strlen(value) >= MAX_NAME)
        return;
    snprintf(v->value[v->n], MAX_NAME, "%s", value);
    snprintf(v->node[v->n], MAX_NAME, "%s", *node ? node : value);
    snprintf(v->op[v->n], sizeof v->op[0], "%s", op_type);
    v->wanted[v->n++] = cq_tensor_retain(result);
}

/* The index of the first value from first on that differs, of n values; SIZE_MAX if all agree. *got
 * is its tensor. */
static size_t differing(const cli_compared *c, const cq_onnx_model *onnx, const values *v,
                        size_t first, size_t n, cq_tensor **got)
{
    size_t             n_own = cq_onnx_model_n_values(onnx, CQ_ONNX_OUTPUTS), found = SIZE_MAX;
    cq_tensor         *out[CLI_MAX_OUTPUTS] = { NULL };
    const char        *fetch[CLI_MAX_OUTPUTS];
    cq_session_options options;
    cq_session        *session = NULL;

    cq_session_options_init(&options);
    for (size_t i = 0; i < n; i++)
        fetch[i] = v->value[first + i];
    options.fetch   = fetch;
    options.n_fetch = n;
    if (n_own + n <= CLI_MAX_OUTPUTS && cq_session_prepare(&session, onnx, &options) == CQ_OK &&
        cq_session_run_tensors(session, c->inputs, c->n_inputs, out, n_own + n) == CQ_OK)
        for (size_t i = 0; i < n && found == SIZE_MAX; i++)
            if (c->compare(out[n_own + i], v->wanted[first + i]) == CQ_E_TYPE) {
                found = first + i;
                *got  = cq_tensor_retain(out[n_own + i]);
            }
    for (size_t i = 0; i < CLI_MAX_OUTPUTS; i++)
        cq_tensor_release(out[i]);
    cq_session_free(session);
    return found;
}

static bool find_node(const cli_compared *c)
{
    static values     v; /* large, so it is static; there is one at a time */
    cq_export_options options = *c->options;
    cq_onnx_model    *onnx    = NULL;
    cq_tensor        *got     = NULL;
    size_t            found   = SIZE_MAX;

    v.n                     = 0;
    options.each_value      = note_value;
    options.each_value_user = &v;
    if (c->model->front_end->export_to(&onnx, c->model, c->example->tensors, c->example->n,
                                       &options) == CQ_OK)
        for (size_t i = 0; i < v.n && found == SIZE_MAX; i += CLI_MAX_OUTPUTS / 2)
            found = differing(c, onnx, &v, i,
                              v.n - i < CLI_MAX_OUTPUTS / 2 ? v.n - i : CLI_MAX_OUTPUTS / 2, &got);
    if (found != SIZE_MAX) {
        cli_note("the first node whose result differs is %s (%s):", v.node[found], v.op[found]);
        cli_show_summary("  source", v.wanted[found]);
        cli_show_summary("  export", got);
    }
    for (size_t i = 0; i < v.n; i++)
        cq_tensor_release(v.wanted[i]);
    cq_tensor_release(got);
    cq_onnx_model_free(onnx);
    return found != SIZE_MAX;
}

/* ---- modules ---- */

/* The paths of modules, in the order in which their last nodes run, which compute their results. */
typedef struct paths {
    char   at[MAX_PATHS][MAX_PATH];
    size_t n;
} paths;

/* Converts "/features/0/Conv" to "features.0"; false if the name has no module. */
static bool path_of(char *out, const char *node)
{
    const char *last = strrchr(node, '/');
    size_t      len  = last > node ? (size_t)(last - node) - 1 : 0;

    if (*node != '/' || !len || len >= MAX_PATH)
        return false;
    memcpy(out, node + 1, len);
    out[len] = '\0';
    for (char *p = out; (p = strchr(p, '/'));)
        *p = '.';
    return true;
}

/* An enclosing module has its result when the last of its children has. */
static void note_path(paths *p, const char *path)
{
    size_t i = 0;

    while (i < p->n && strcmp(p->at[i], path) != 0)
        i++;
    if (i < p->n)
        memmove(p->at[i], p->at[i + 1], (--p->n - i) * sizeof *p->at);
    if (p->n < MAX_PATHS)
        snprintf(p->at[p->n++], MAX_PATH, "%s", path);
}

static void note_node(void *user, const char *node, const char *op_type, int64_t begin, int64_t end)
{
    char path[MAX_PATH];

    (void)op_type, (void)begin, (void)end;
    if (!path_of(path, node))
        return;
    for (char *dot = path + strlen(path); dot; dot = strrchr(path, '.')) {
        *dot = '\0';
        note_path(user, path);
    }
}

static void say_node(void *user, const char *node, const char *op_type, int64_t begin, int64_t end)
{
    char path[MAX_PATH];

    (void)begin, (void)end;
    if (path_of(path, node) && !strcmp(path, user))
        cli_note("  node %s (%s)", node, op_type);
}

/* Runs a model with a hook that observes its nodes; folding and fusion are off. */
static cq_status watch(const cq_onnx_model *onnx, cq_tensor *const *inputs, size_t n,
                       cq_session_hook hook, void *user)
{
    cq_tensor         *out[CLI_MAX_OUTPUTS] = { NULL };
    cq_session_options options;
    cq_session        *session;
    cq_status          status;
    size_t             n_out;

    cq_session_options_init(&options);
    options.flags     = CQ_SESSION_NO_FOLDING;
    options.hook      = hook;
    options.hook_user = user;
    status            = cq_session_prepare(&session, onnx, &options);
    if (status != CQ_OK)
        return status;
    n_out  = cq_session_n_outputs(session);
    n_out  = n_out < CLI_MAX_OUTPUTS ? n_out : CLI_MAX_OUTPUTS;
    status = cq_session_run_tensors(session, inputs, n, out, n_out);
    for (size_t i = 0; i < CLI_MAX_OUTPUTS; i++)
        cq_tensor_release(out[i]);
    cq_session_free(session);
    return status;
}

/* Results of the marked modules on both sides, after the model's own outputs. */
typedef struct results {
    cq_tensor *wanted[CLI_MAX_OUTPUTS], *got[CLI_MAX_OUTPUTS];
    size_t     n_wanted, n_got;
    char       names[CLI_MAX_OUTPUTS][MAX_PATH]; /* names of the tensors in got */
} results;

static void results_clear(results *r)
{
    for (size_t i = 0; i < CLI_MAX_OUTPUTS; i++) {
        cq_tensor_release(r->wanted[i]);
        cq_tensor_release(r->got[i]);
    }
    memset(r, 0, sizeof *r); /* a compound literal would put 130 KB on the stack */
}

static cq_status get_results(results *r, const cli_compared *c, const cq_export_options *options)
{
    const cq_run_options run_options = cli_run_options(options);
    cq_onnx_model       *onnx        = NULL;
    cq_session          *session     = NULL;
    cq_status            status;

    status = c->model->front_end->export_to(&onnx, c->model, c->example->tensors, c->example->n,
                                            options);
    if (status == CQ_OK)
        status = cq_session_prepare(&session, onnx, NULL);
    if (status == CQ_OK) {
        r->n_got = cq_session_n_outputs(session);
        r->n_got = r->n_got < CLI_MAX_OUTPUTS ? r->n_got : CLI_MAX_OUTPUTS;
        for (size_t i = 0; i < r->n_got; i++)
            snprintf(r->names[i], MAX_PATH, "%s", cq_session_output_name(session, i));
        status = cq_session_run_tensors(session, c->inputs, c->n_inputs, r->got, r->n_got);
    }
    if (status == CQ_OK)
        status = c->model->front_end->run(c->model, c->example->tensors, c->example->n,
                                          &run_options, r->wanted, &r->n_wanted);
    cq_session_free(session);
    cq_onnx_model_free(onnx);
    return status;
}

/* Reports the first difference with its values. */
static void say_first(const cli_compared *c, const char *path, const results *r, size_t i)
{
    cli_note("the first module whose result differs is %s:", path);
    (void)watch(c->onnx, c->inputs, c->n_inputs, say_node, (void *)path);
    cli_show_summary("  source", r->wanted[i]);
    cli_show_summary("  export", r->got[i]);
}

/* The path of the module that an output is named after: the output of a module's second call ends
 * in _1. */
static const char *named(char (*at)[MAX_PATH], size_t n, const char *output)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(at[i]);

        if (!strncmp(output, at[i], len) &&
            (!output[len] ||
             (output[len] == '_' && output[len + 1 + strspn(output + len + 1, "0123456789")] == 0)))
            return at[i];
    }
    return output;
}

/* Finds the first path whose result differs. Named outputs follow the model's own outputs, in the
 * order in which they were computed. */
static bool find_among(const cli_compared *c, char (*at)[MAX_PATH], size_t n, results *r)
{
    cq_export_options options = *c->options;
    cq_module_mark    marks[AT_ONCE];

    for (size_t i = 0; i < n; i++)
        marks[i] = (cq_module_mark){ CQ_SIZED(cq_module_mark), .kind = CQ_MARK_OUTPUT,
                                     .path = at[i], .name = at[i] };
    options.marks   = marks;
    options.n_marks = n;
    results_clear(r);
    if (get_results(r, c, &options) != CQ_OK || r->n_got != r->n_wanted)
        return false;
    for (size_t i = cq_onnx_model_n_values(c->onnx, CQ_ONNX_OUTPUTS); i < r->n_got; i++)
        if (c->compare(r->got[i], r->wanted[i]) == CQ_E_TYPE) {
            say_first(c, named(at, n, r->names[i]), r, i);
            return true;
        }
    return false;
}

void cli_bisect(const cli_compared *c)
{
    static results r; /* both are large, so they are static; there is one of each at a time */
    static paths   p;
    bool           done = find_node(c);

    p.n = 0;
    if (!done && watch(c->onnx, c->inputs, c->n_inputs, note_node, &p) == CQ_OK)
        for (size_t i = 0; i < p.n && !done; i += AT_ONCE)
            done = find_among(c, p.at + i, p.n - i < AT_ONCE ? p.n - i : AT_ONCE, &r);
    results_clear(&r);
}
