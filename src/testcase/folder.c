#include "testcase/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

cq_status cq_list_folder(cq_names *out, const char *folder)
{
    DIR                 *dir = opendir(folder);
    const struct dirent *entry;
    cq_status            status = CQ_OK;

    if (!dir)
        return cq_fail(errno == ENOENT ? CQ_E_NOT_FOUND : CQ_E_IO, folder, NULL,
                       "cannot open the folder: %s", strerror(errno));
    while (status == CQ_OK && (entry = readdir(dir))) {
        char *name = *entry->d_name == '.' ? NULL : cq_strdup(entry->d_name);

        if (*entry->d_name == '.')
            continue;
        status = name ? cq_vec_push(out, name) : CQ_E_NO_MEMORY;
        if (status != CQ_OK)
            cq_free(name);
    }
    closedir(dir);
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
