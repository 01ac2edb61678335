/* The pipeline from an ATen graph to an ONNX model. Each step has its file; this file has their
 * order, and the checks of the options. */
#include "base/sized.h"
#include "export/exporter.h"
#include "lang/library.h"

#include "base/printable.h"

CQ_API void cq_export_options_init(cq_export_options *options)
{
    CQ_NEED_ELSE(options, );
    *options = (cq_export_options){ .struct_size = sizeof *options };
}

cq_status cq_export_options_take(cq_export_options *out, const cq_export_options *given)
{
    cq_export_options_init(out);
    return cq_sized_take(out, given, "cq_export_options");
}

bool cq_export_makes_functions(const cq_export_options *o)
{
    return o->n_function_classes || (o->flags & CQ_EXPORT_ALL_MODULES_AS_FUNCTIONS);
}

cq_status cq_export_check_options(const cq_export_options *o)
{
    if (o->opset < CQ_OPSET_OLDEST || o->opset > CQ_OPSET_NEWEST)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "opset %d is not supported; expected %d to %d",
                       o->opset, CQ_OPSET_OLDEST, CQ_OPSET_NEWEST);
    if (cq_export_makes_functions(o) && o->opset < 15)
        return cq_fail(CQ_E_ARGUMENT, NULL, "use opset 15 or newer",
                       "modules as functions require opset 15, got %d", o->opset);
    if ((o->flags & (CQ_EXPORT_VERBOSE | CQ_EXPORT_PRINT_CAPTURED)) && !o->print)
        return cq_fail(CQ_E_ARGUMENT, NULL, "set options.print",
                       "CQ_EXPORT_VERBOSE and CQ_EXPORT_PRINT_CAPTURED require options.print");
    for (size_t i = 0; i < o->n_custom_opsets; i++)
        if (strcmp(o->custom_opsets[i].domain, "") == 0 ||
            strcmp(o->custom_opsets[i].domain, "ai.onnx") == 0)
            return cq_fail(CQ_E_ARGUMENT, NULL, "set the opset instead",
                           "expected a custom domain, got ONNX's own");
    return CQ_OK;
}

static cq_status print_graph(const cq_exporter *ex, const cq_graph *graph)
{
    cq_str    lines = { 0 };
    cq_status status;
    char     *text;

    CQ_TRY(cq_ir_print(&text, graph));
    cq_str_add_lines(&lines, text);
    cq_free(text);
    status = lines.status;
    if (status == CQ_OK)
        ex->options.print(ex->options.print_user, cq_str_text(&lines));
    cq_str_clear(&lines);
    return status;
}

static cq_status run(cq_exporter *ex, cq_onnx_model **out)
{
    bool fold = !(ex->options.flags & CQ_EXPORT_NO_CONSTANT_FOLDING) && ex->options.opset >= 9;

    if (ex->options.flags & CQ_EXPORT_PRINT_CAPTURED)
        return print_graph(ex, ex->source);
    CQ_TRY(cq_export_convert_within_limits(ex));
    CQ_TRY(cq_export_remove_dead(ex));
    CQ_TRY(cq_export_annotate(ex));
    CQ_TRY(cq_export_name_inputs(ex));
    if (fold) {
        CQ_TRY(cq_export_fold(ex));
        CQ_TRY(cq_export_remove_dead(ex));
        if (ex->options.training == CQ_TRAINING_EVAL)
            CQ_TRY(cq_export_peephole(ex));
        CQ_TRY(cq_export_fuse(ex));
        CQ_TRY(cq_export_merge(ex));
        if (!cq_export_makes_functions(&ex->options)) /* a function has separate constants */
            CQ_TRY(cq_export_share(ex));
    }
    CQ_TRY(cq_export_name_outputs(ex));
    if (ex->options.flags & CQ_EXPORT_VERBOSE)
        CQ_TRY(print_graph(ex, ex->graph));
    CQ_TRY(cq_export_functions(ex));
    CQ_TRY(cq_export_name(ex));
    CQ_TRY(ex->graph->status);
    CQ_TRY(cq_symbols_check(&ex->source->symbols));
    CQ_TRY(cq_symbols_check(&ex->graph->symbols));
    CQ_TRY(cq_export_lower(ex, out));
    for (size_t i = 0; i < ex->source->states.n; i++) {
        const cq_state_pair *s = &ex->source->states.items[i];

        CQ_TRY(cq_onnx_model_note_state(*out, s->input, s->output, s->initial));
    }
    if (ex->is_open)
        CQ_TRY(cq_onnx_model_infer(*out, 0)); /* types of intermediate values that symbolic
                                               * functions emitted */
    cq_export_name_output_axes(ex, *out);
    CQ_TRY((*out)->status);
    return ex->options.each_value ? cq_export_replay(ex, *out) : CQ_OK;
}

/* A failure of the report must not hide the failure of the export. */
static cq_status record(cq_exporter *ex, cq_onnx_model *model, cq_status status)
{
    cq_error_record why;
    cq_status       recorded;

    cq_error_save(&why);
    recorded = cq_export_record(ex, status == CQ_OK ? model : NULL);
    if (status != CQ_OK || recorded == CQ_OK) {
        cq_error_restore(&why);
        return status;
    }
    return recorded;
}

cq_status cq_export_graph(cq_onnx_model **out, cq_graph *source, const cq_export_options *options)
{
    cq_exporter ex = { .source = source };
    cq_status   status;

    *out = NULL;
    CQ_TRY(cq_export_options_take(&ex.options, options));
    CQ_TRY(cq_export_check_options(&ex.options));
    CQ_TRY(cq_graph_new(&ex.graph));
    status = cq_symbolics_collect(&ex);
    if (status == CQ_OK)
        status = run(&ex, out);
    status = record(&ex, *out, status);
    if (status != CQ_OK) {
        cq_onnx_model_free(*out);
        *out = NULL;
    }
    cq_map_clear(&ex.sizes);
    cq_map_clear(&ex.missing_by_name);
    cq_map_clear(&ex.guessed);
    cq_ptr_map_clear(&ex.origins);
    cq_vec_clear(&ex.missing);
    cq_vec_clear(&ex.user_rows);
    cq_map_clear(&ex.user_rows_by_name);
    cq_vec_clear(&ex.functions);
    cq_map_clear(&ex.function_bodies);
    cq_map_clear(&ex.function_names);
    cq_arena_free(ex.scratch);
    cq_vec_clear(&ex.owned);
    cq_lib_file_free(ex.user_file);
    cq_graph_free(ex.graph);
    return status;
}
