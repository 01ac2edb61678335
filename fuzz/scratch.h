/* Files for targets whose door takes a path: a folder of this process, removed at its end. */
#ifndef CQ_FUZZ_SCRATCH_H
#define CQ_FUZZ_SCRATCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_folder[64];
static char scratch_names[8][96];
static int  n_scratch_names;

static void scratch_remove(void)
{
    for (int i = 0; i < n_scratch_names; i++)
        unlink(scratch_names[i]);
    rmdir(scratch_folder);
}

/* The path of a file of that name, which is removed in the end. */
static const char *scratch_path(const char *name)
{
    static char path[96];

    if (!*scratch_folder) {
        snprintf(scratch_folder, sizeof scratch_folder, "/tmp/calque-fuzz-XXXXXX");
        if (!mkdtemp(scratch_folder))
            abort();
        atexit(scratch_remove);
    }
    snprintf(path, sizeof path, "%s/%.20s", scratch_folder, name);
    for (int i = 0; i < n_scratch_names; i++)
        if (strcmp(scratch_names[i], path) == 0)
            return scratch_names[i];
    if (n_scratch_names == 8)
        abort();
    snprintf(scratch_names[n_scratch_names], sizeof scratch_names[0], "%s", path);
    return scratch_names[n_scratch_names++];
}

static const char *scratch_write(const char *name, const uint8_t *data, size_t size)
{
    const char *path = scratch_path(name);
    FILE       *file = fopen(path, "wb");

    if (!file || fwrite(data, 1, size, file) != size || fclose(file))
        abort();
    return path;
}

#endif
