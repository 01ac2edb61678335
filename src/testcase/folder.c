#include "testcase/folder.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static cq_status add_name(void *user, const char *name)
{
    cq_names *names = user;
    char     *copy  = *name == '.' ? NULL : cq_strdup(name);
    cq_status status;

    if (*name == '.')
        return CQ_OK;
    status = copy ? cq_vec_push(names, copy) : CQ_E_NO_MEMORY;
    if (status != CQ_OK)
        cq_free(copy);
    return status;
}

cq_status cq_list_folder(cq_names *out, const char *folder)
{
    const cq_status status = cq_folder_each(folder, add_name, out, NULL);

    if (out->n)
        qsort(out->items, out->n, sizeof *out->items, by_text);
    return status;
}

void cq_names_clear(cq_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        cq_free(names->items[i]);
    cq_vec_clear(names);
}

cq_status cq_copy_file(const char *path, const char *out)
{
    cq_mapping *file;
    cq_status   status;

    CQ_TRY(cq_mapping_open(&file, path));
    if (cq_mapping_is_of(file, out)) {
        cq_mapping_release(file);
        return CQ_OK;
    }
    status = cq_file_write(out, cq_mapping_data(file), cq_mapping_size(file));
    cq_mapping_release(file);
    return status;
}
