/* Interface between file.c and out.c. */
#ifndef CQ_BASE_MAPPING_H
#define CQ_BASE_MAPPING_H

#include "base/file.h"

/* CQ_E_IO, or CQ_E_NOT_FOUND, from errno: "cannot WHAT: …". */
cq_status cq_io_error(const char *path, const char *what);
cq_status cq_file_shrank(const char *path);

/* The file that bytes of a map come from, and their offset in it; -1 if they are not from a map. */
int cq_mapping_fd_of(const void *data, size_t size, uint64_t *offset, const char **path);

/* Total size of all files that were opened for reading. */
uint64_t cq_mapping_n_read(void);

#endif
