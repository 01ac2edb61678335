/* The contents of a model as tables: methods, inputs, modules, operators and so on. `calque info`
 * prints them. */
#ifndef CALQUE_INFO_H
#define CALQUE_INFO_H

#include <calque/export.h>
#include <calque/module.h>
#include <calque/onnx.h>
#include <calque/pt2.h>
#include <calque/script.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_info cq_info;

/* Free *out with cq_info_free. It does not refer to its source. */
CQ_API cq_status cq_script_info(cq_info **out, cq_script *script);
CQ_API cq_status cq_pt2_info(cq_info **out, cq_pt2 *program);

/* The programs of an archive that has several of them: name, nodes, inputs. */
CQ_API cq_status cq_pt2_programs_info(cq_info **out, const char *path);

CQ_API cq_status cq_module_info(cq_info **out, cq_module *module);

/* A built-in model (<calque/zoo.h>), by its name. */
CQ_API cq_status cq_zoo_info(cq_info **out, const char *name);

/* Counts operations with cq_onnx_model_count_flops, which permanently sets dynamic sizes of the
 * inputs to 1 in the model; the tables show the original sizes. */
CQ_API cq_status cq_onnx_model_info(cq_info **out, cq_onnx_model *model);

/* The tensors in a file of torch.save(model.state_dict(), path), or in a checkpoint that contains
 * a state dict. */
CQ_API cq_status cq_state_dict_info(cq_info **out, const char *path);

/* Any of the above: a file, recognised by its content, or a built-in model by its name. entry
 * selects one of several programs of a .pt2; NULL: the only one, or a list of them. */
CQ_API cq_status cq_model_info(cq_info **out, const char *model, const char *entry);

/* Adds the results and the operations (FLOPs) of each module to the table of modules. report comes
 * from an export of the same model. */
CQ_API cq_status cq_info_add_report(cq_info *info, const cq_export_report *report);

CQ_API void cq_info_free(cq_info *info);

/* The tables, by index; NULL past the end. The first one is called "model" and has a row for each
 * fact: its name and its value. */
CQ_API size_t      cq_info_n_tables(const cq_info *info);
CQ_API const char *cq_info_table_name(const cq_info *info, size_t table); /* "inputs" */
CQ_API size_t      cq_info_n_columns(const cq_info *info, size_t table);
CQ_API const char *cq_info_column_name(const cq_info *info, size_t table, size_t column);
CQ_API size_t      cq_info_n_rows(const cq_info *info, size_t table);

typedef enum cq_info_kind {
    CQ_INFO_TEXT  = 0, /* from the file: may contain any bytes */
    CQ_INFO_COUNT = 1, /* a number of something */
    CQ_INFO_BYTES = 2, /* of bytes */
    CQ_INFO_NONE  = 3  /* an unknown number */
} cq_info_kind;

/* A cell has a text or a number, depending on its kind. */
CQ_API cq_info_kind cq_info_cell_kind(const cq_info *info, size_t table, size_t row, size_t column);
CQ_API const char  *cq_info_cell_text(const cq_info *info, size_t table, size_t row, size_t column);
CQ_API int64_t cq_info_cell_number(const cq_info *info, size_t table, size_t row, size_t column);

#ifdef __cplusplus
}
#endif

#endif
