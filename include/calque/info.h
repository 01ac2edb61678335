/* What is in a model and what it takes, as tables: of methods, inputs, modules, operators, and so
 * on. `calque info` prints them. */
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

/* Free *out with cq_info_free. It outlives what it was made of. */
CQ_API cq_status cq_script_info(cq_info **out, cq_script *script);
CQ_API cq_status cq_pt2_info(cq_info **out, cq_pt2 *program);

/* The programs of an archive that has several of them: name, nodes, inputs. */
CQ_API cq_status cq_pt2_programs_info(cq_info **out, const char *path);

CQ_API cq_status cq_module_info(cq_info **out, cq_module *module);

/* A built-in model (<calque/zoo.h>), by its name. */
CQ_API cq_status cq_zoo_info(cq_info **out, const char *name);

/* It counts operations as cq_onnx_model_count_flops does: open sizes of the inputs become 1 in the
 * model, for good; in the tables they are what they were. */
CQ_API cq_status cq_onnx_model_info(cq_info **out, cq_onnx_model *model);

/* The tensors in a file of torch.save(model.state_dict(), path), or in a checkpoint that holds
 * one. */
CQ_API cq_status cq_state_dict_info(cq_info **out, const char *path);

/* Any of the above: of a file, which is told by its content, or of a built-in model by its name.
 * entry names one of several programs of a .pt2; NULL: the only one, or a list of them. */
CQ_API cq_status cq_model_info(cq_info **out, const char *model, const char *entry);

/* Adds to the table of modules what an export found of them: what they return, and how many
 * operations (FLOPs) their nodes are. report is one that the export of that model has filled. */
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
    CQ_INFO_TEXT  = 0, /* of the file: it may hold any bytes */
    CQ_INFO_COUNT = 1, /* a number of something */
    CQ_INFO_BYTES = 2, /* of bytes */
    CQ_INFO_NONE  = 3  /* a number that is not known */
} cq_info_kind;

/* A cell: its text, or its number, by its kind. */
CQ_API cq_info_kind cq_info_cell_kind(const cq_info *info, size_t table, size_t row, size_t column);
CQ_API const char  *cq_info_cell_text(const cq_info *info, size_t table, size_t row, size_t column);
CQ_API int64_t cq_info_cell_number(const cq_info *info, size_t table, size_t row, size_t column);

#ifdef __cplusplus
}
#endif

#endif
