/* meta.json of a test case: time, environment and source of the export. */
#ifndef CQ_TESTCASE_META_H
#define CQ_TESTCASE_META_H

#include "base/file.h"

#include <stdbool.h>

typedef struct cq_meta {
    const char *output_directory; /* as the user wrote it */
    bool        is_stripped;
    const char *user_meta; /* a JSON object; NULL: none */
} cq_meta;

cq_status cq_meta_write(const cq_meta *meta, const char *path);

/* Writes path to out (which may be path), saying that nothing is stripped any more. */
cq_status cq_meta_set_unstripped(const char *path, const char *out);

#endif
