/* The two programs of arm_layers.py. LIBRARY is libcalque or libonnxruntime; the functions of the
 * latter are found by their index in its table.
 *
 *     run LIBRARY MODEL SIZE...   in the emulator: three runs of a model with one input
 *     count ADDRESS               the instructions between two calls of mark(), from the log
 */
#include "calque/tensor.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3, MAX_RANK = 4 };

static int fail(const char *what)
{
    fprintf(stderr, "arm_layers: %s\n", what);
    return 1;
}

#ifdef RUN

__attribute__((noinline)) void mark(void)
{
    __asm__ volatile("" ::: "memory");
}

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);

    if (!found)
        exit(fail(dlerror()));
    return found;
}

static int run_calque(void *library, const char *model, float *data, size_t rank,
                      const int64_t *sizes)
{
    int (*prepare)(void **, const char *, const void *) =
        (int (*)(void **, const char *, const void *))symbol(library, "cq_session_prepare_file");
    int (*tensor)(void **, int, size_t, const int64_t *, const void *) =
        (int (*)(void **, int, size_t, const int64_t *, const void *))symbol(library,
                                                                             "cq_tensor_new");
    int (*run)(const void *, void *const *, size_t, void **, size_t) =
        (int (*)(const void *, void *const *, size_t, void **, size_t))symbol(
            library, "cq_session_run_tensors");
    void (*release)(void *) = (void (*)(void *))symbol(library, "cq_tensor_release");
    void *session, *x, *y;

    if (prepare(&session, model, NULL) || tensor(&x, CQ_DTYPE_F32, rank, sizes, data))
        return fail("calque cannot load the model");
    for (int i = 0; i < RUNS; i++) {
        mark();
        if (run(session, &x, 1, &y, 1))
            return fail("calque cannot run the model");
        mark();
        release(y);
    }
    return 0;
}

/* The indexes of OrtApi's functions: tests/peer/ort.py. */
static int run_ort(void *library, const char *model, float *data, size_t rank, const int64_t *sizes)
{
    typedef void *(*function)();
    const struct {
        const void *(*api)(uint32_t);
    } *base           = ((const void *(*)(void))symbol(library, "OrtGetApiBase"))();
    const function *f = base->api(14);
    void           *env, *options, *session, *memory, *x, *y = NULL;
    size_t          bytes = sizeof *data;
    const char     *in = "x", *out = "y";

    for (size_t i = 0; i < rank; i++)
        bytes *= (size_t)sizes[i];
    if (f[3](4, "calque", &env) || f[10](&options) || f[24](options, 1) || f[25](options, 1) ||
        f[7](env, model, options, &session) || f[69](1, 0, &memory) ||
        f[49](memory, data, bytes, sizes, rank, 1, &x))
        return fail("ONNX Runtime cannot load the model");
    for (int i = 0; i < RUNS; i++) {
        mark();
        if (f[9](session, NULL, &in, &x, (size_t)1, &out, (size_t)1, &y))
            return fail("ONNX Runtime cannot run the model");
        mark();
    }
    return 0;
}

int main(int argc, char **argv)
{
    void   *library = argc > 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int64_t sizes[MAX_RANK], n = 1;
    float  *data;

    if (!library)
        return fail(argc > 3 ? dlerror() : "expected LIBRARY MODEL SIZE...");
    for (int i = 3; i < argc && i < 3 + MAX_RANK; i++)
        n *= sizes[i - 3] = atoll(argv[i]);
    data = malloc(sizeof *data * (size_t)n);
    for (int64_t i = 0; data && i < n; i++)
        data[i] = (float)rand() / (float)RAND_MAX - 0.5F;
    return (dlsym(library, "OrtGetApiBase") ? run_ort : run_calque)(library, argv[2], data,
                                                                    (size_t)(argc - 3), sizes);
}

#else

enum { TABLE = 1 << 20 };

/* The emulator translates and runs blocks of instructions; the log shows each when it is
 * translated, and its address whenever it runs. */
static struct {
    uint64_t at;
    uint32_t n;
} blocks[TABLE];

static uint32_t *size_of(uint64_t at)
{
    size_t i = (size_t)(at * UINT64_C(0x9e3779b97f4a7c15) >> 44);

    while (blocks[i].at && blocks[i].at != at)
        i = (i + 1) % TABLE;
    blocks[i].at = at;
    return &blocks[i].n;
}

int main(int argc, char **argv)
{
    static char line[4096];
    uint64_t    mark = argc > 1 ? strtoull(argv[1], NULL, 16) : 0, at, n = 0, marks = 0;
    uint32_t   *size = NULL;

    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "IN:", 3)) {
            size = NULL;
        } else if (!strncmp(line, "0x", 2)) {
            at = strtoull(line, NULL, 16);
            if (!size)
                *(size = size_of(at)) = 0;
            ++*size;
        } else if (!strncmp(line, "Trace ", 6)) {
            const char *from = strchr(line, '/');

            if (!from)
                return fail("the log has another format");
            at = strtoull(from + 1, NULL, 16);
            if (at == mark && ++marks % 2 == 0)
                printf("%" PRIu64 "\n", n);
            if (at == mark)
                n = 0;
            n += *size_of(at);
        }
    }
    return marks ? 0 : fail("mark() was never called");
}

#endif
