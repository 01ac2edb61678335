/* Paths and folders, beside <calque/system.h>; and the system's time and process for records. */
#ifndef CQ_BASE_PATH_H
#define CQ_BASE_PATH_H

#include "base/error.h"

#include <calque/system.h>

#include <stdint.h>

/* The kind of a path itself: links are not followed. */
typedef enum cq_entry_kind {
    CQ_ENTRY_MISSING,
    CQ_ENTRY_FILE,
    CQ_ENTRY_FOLDER,
    CQ_ENTRY_LINK,
    CQ_ENTRY_OTHER
} cq_entry_kind;

cq_entry_kind cq_path_entry(const char *path, uint64_t *size);

/* Whether a file has hard links. */
bool cq_path_has_other_names(const char *path);

/* Calls visit for each name in a folder except "." and ".."; stops at the first failure. If the
 * folder cannot be read, the result is CQ_E_IO or CQ_E_NOT_FOUND, and *opened, unless NULL, is
 * false. */
typedef cq_status (*cq_name_fn)(void *user, const char *name);

cq_status cq_folder_each(const char *folder, cq_name_fn visit, void *user, bool *opened);

/* Whether a path begins at a root instead of at the working directory. */
bool cq_path_is_absolute(const char *path);

/* Whether a file or folder is, or would be created, in folder or below it, after links in the path
 * are followed. A path whose last component is a link is not, because the link may lead
 * anywhere. */
bool cq_path_is_below(const char *path, const char *folder);

const char *cq_path_temporary(void); /* the folder for temporary files */

/* The working folder, with slashes; false if it has no name of less than size bytes. */
bool cq_path_working_folder(char *out, size_t size);

/* Reads a small regular file as terminated text; false if it is larger, another kind of file, or
 * contains zeros. Never blocks. */
bool cq_path_read_text(char *text, size_t size, const char *path);

/* "2022-03-04T05:06:07.123456", local time. */
bool cq_time_local_text(char *out, size_t size);

/* "2022-03-04 05:06:07" of seconds since 1970, in UTC. */
bool cq_time_utc_text(char *out, size_t size, int64_t seconds);

long cq_process_id(void);

#endif
