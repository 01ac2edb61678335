/* `--report FILE`: the result of an export as JSON, for CI jobs and dashboards. It is also
 * written if the export fails, when it is needed most. */
#ifndef CALQUE_CLI_REPORT_H
#define CALQUE_CLI_REPORT_H

#include <calque/export.h>

typedef enum cli_phase {
    CLI_PHASE_LOAD,
    CLI_PHASE_EXPORT,
    CLI_PHASE_VERIFY,
    CLI_PHASE_SAVE,
    CLI_N_PHASES
} cli_phase;

/* From now on phases are timed, and warnings of the library are kept for the report (they go to
 * standard error all the same). */
void cli_report_begin(void);

/* Says that a phase is over; the next begins. */
void cli_report_phase(cli_phase phase);

typedef struct cli_report {
    const char              *model, *output;
    const cq_export_options *options; /* with its report */
    cq_status                status;  /* of the export; its failure is the last one */
} cli_report;

/* Returns the exit code; prints the error. */
int cli_report_write(const cli_report *report, const char *path);

#endif
