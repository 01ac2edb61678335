/* The available memory. Linux reports how much it could free without swapping, and a container has
 * a separate limit; on other systems it is the installed memory. */
#include "base/alloc.h"
#include "base/posix.h"
#include "base/steps.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Reads the number after a word in a file, or at the beginning of the file if the word is "". */
static bool read_number(uint64_t *out, const char *path, const char *word)
{
    FILE *file = fopen(path, "r");
    char  line[256];
    bool  found = false;

    if (!file)
        return false;
    while (!found && fgets(line, sizeof line, file))
        found =
            !strncmp(line, word, strlen(word)) && sscanf(line + strlen(word), "%" SCNu64, out) == 1;
    fclose(file);
    return found;
}

uint64_t cq_alloc_available(void)
{
    static const char group[] = "/sys/fs/cgroup/memory";
    long              pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t          bytes = UINT64_MAX, kilobytes, limit, used;
    char              path[64];

    if (pages > 0 && page > 0)
        bytes = (uint64_t)pages * (uint64_t)page;
    if (read_number(&kilobytes, "/proc/meminfo", "MemAvailable:"))
        bytes = kilobytes * 1024;
    snprintf(path, sizeof path, "%s.max", group);
    if (!read_number(&limit, path, ""))
        return bytes; /* "max", or no control group */
    snprintf(path, sizeof path, "%s.current", group);
    if (!read_number(&used, path, ""))
        used = 0;
    limit = limit > used ? limit - used : 0;
    return limit < bytes ? limit : bytes;
}

/* A session adds a quarter for its kernels: with 2 times the first 10 MiB, no file of that size
 * takes more than 1.5 GB. */
int64_t cq_default_bytes(double file_bytes, double input_bytes, uint64_t available)
{
    const double most    = (double)(available / 4 * 3);
    const double small   = file_bytes < CQ_STEPS_SMALL ? file_bytes : CQ_STEPS_SMALL;
    const double allowed = 0x1p30 + 2 * small + 256 * (file_bytes - small + input_bytes);

    return (int64_t)(allowed < most ? allowed : most < 0x1p62 ? most : 0x1p62);
}
