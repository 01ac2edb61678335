/* The common frame of verbs that change an ONNX model (optimize, convert, …): the model is read
 * twice, one copy is changed, proved against the original, and written. static cli_edit edit;
 * CLI_TRY(cli_edit_open(&edit, args)); code = … change edit.after … return cli_edit_close(&edit,
 * args, "optimized", code); */
#ifndef CALQUE_CLI_EDIT_H
#define CALQUE_CLI_EDIT_H

#include "cli.h"

#include <calque/edit.h>

typedef struct cli_edit cli_edit;

struct cli_edit {
    cq_onnx_model       *before, *after;
    cq_proof_options     proof; /* a verb may change the tolerances */
    cq_onnx_save_options save;
    bool                 is_verified;
    char                 detail[256]; /* detail of the final line; "": the number of nodes */
    /* Compares before and after; NULL: cq_onnx_prove. */
    cq_status (*prove)(const cli_edit *e, cq_proof *proof);
};

/* The common rows of the option tables of such verbs. */
#define CLI_EDIT_OPTIONS                                                                           \
    { "output", "OUT", "the file to write", 'o' },                                                 \
        { "no-verify", NULL, "do not run both models to compare their results", 0 },               \
        { "verify", NULL, "run both models even if their weights exceed 2 GB", 0 },                \
    {                                                                                              \
        "example", "DIR", "inputs for the comparison: input_0.pb or input_0.npy, …", 0             \
    }

#define CLI_SHARE_OPTION                                                                           \
    {                                                                                              \
        "share-data", NULL, "refer to the external data of IN instead of copying it", 0            \
    }

/* Of verbs that change no weight: they share data that is in the folder of OUT by default. */
#define CLI_COPY_OPTIONS                                                                           \
    { "share-data", NULL, "refer to the external data of FILE, or fail", 0 },                      \
    {                                                                                              \
        "copy-data", NULL, "copy external data, also if it is in the folder of OUT", 0             \
    }

/* Lets OUT refer to external data in its folder, without --copy-data. */
void cli_edit_share_beside(cli_edit *e, const cli_args *args);

/* Reads the first operand. */
int cli_edit_open(cli_edit *e, const cli_args *args);

/* If code is CLI_DONE: proves, writes, and prints a line to standard error ("optimized net.onnx:
 * …"). Frees both models. */
int cli_edit_close(cli_edit *e, const cli_args *args, const char *done, int code);

#endif
