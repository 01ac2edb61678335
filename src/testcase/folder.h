/* Lists folders and copies files. */
#ifndef CQ_TESTCASE_FOLDER_H
#define CQ_TESTCASE_FOLDER_H

#include "base/file.h"
#include "base/vec.h"

typedef CQ_VEC(char *) cq_names;

/* The names in a folder, sorted, without those that begin with a dot. */
cq_status cq_list_folder(cq_names *out, const char *folder);
void      cq_names_clear(cq_names *names);

/* Nothing happens when out is the file that path is. */
cq_status cq_copy_file(const char *path, const char *out);

#endif
