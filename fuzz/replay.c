/* A main for fuzz targets without libFuzzer: feeds every file of the given directories to the
 * target, in the order of their names, and reports each in TAP. It is a regression test. A target
 * that crashes ends the program; the last file named is the cause. If the target has a mutator,
 * each file is also mutated a few times, with a fixed seed. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int    LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
    __attribute__((weak));

#define MAX_INPUT (16 << 20)

enum { MUTATIONS = 200 };

static int n_done;
static int n_bad;

/* libFuzzer's default mutator for callers that leave it the bytes: changes one byte. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    static uint32_t state = 1;

    (void)max_size;
    state = state * 1664525u + 1013904223u;
    if (size)
        data[(state >> 8) % size] = (uint8_t)(state >> 24);
    return size;
}

/* Each mutation starts from the result of the last one, sometimes from the file. */
static void feed_mutations(const uint8_t *data, size_t size)
{
    const size_t max     = 2 * size + 4096;
    uint8_t     *changed = malloc(max);
    size_t       n       = 0;

    for (unsigned seed = 1; changed && seed <= MUTATIONS; seed++) {
        if (seed % 8 == 1) {
            memcpy(changed, data, size);
            n = size;
        }
        n = LLVMFuzzerCustomMutator(changed, n, max, seed);
        LLVMFuzzerTestOneInput(changed, n);
    }
    free(changed);
}

/* The input is in a block of exactly its size, so that ASan detects a read past its end. */
static int feed(const char *path)
{
    FILE    *file = fopen(path, "rb");
    long     size = -1;
    uint8_t *data = NULL;
    int      ok   = 0;

    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && size <= MAX_INPUT && fseek(file, 0, SEEK_SET) == 0)
        data = malloc((size_t)size + !size);
    if (data && fread(data, 1, (size_t)size, file) == (size_t)size) {
        LLVMFuzzerTestOneInput(data, (size_t)size);
        if (LLVMFuzzerCustomMutator)
            feed_mutations(data, (size_t)size);
        ok = 1;
    }
    free(data);
    if (file)
        fclose(file);
    return ok;
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void replay(const char *dir)
{
    struct dirent **entries = NULL;
    int             n       = scandir(dir, &entries, is_input, alphasort);
    char            path[4096];

    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
        printf("# %s\n", path);
        fflush(stdout);
        if (feed(path)) {
            printf("ok %d - %s\n", ++n_done, entries[i]->d_name);
        } else {
            printf("not ok %d - %s could not be read\n", ++n_done, path);
            n_bad++;
        }
        fflush(stdout);
        free(entries[i]);
    }
    free(entries);
    if (n <= 0) {
        printf("not ok %d - no corpus in %s\n", ++n_done, dir);
        n_bad++;
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("1..%d\n", n_done);
    return n_bad || n_done == 0;
}
