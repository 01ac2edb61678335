/* The contents of an archive: pickles, code, libraries, storages, archives inside. */
#include "audit/audit.h"

#include "base/alloc.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>

#include <zlib.h>

enum { MAX_SUMMED = 1 << 20 }; /* bytes of an entry whose checksum is compared */

typedef struct archive_scan {
    cq_audit            *a;
    const unsigned char *data;
    const char          *where;
    cq_audit_entries     entries;
    cq_map               by_name; /* name to index + 1 */
    int                  depth;
    size_t               n_code, n_pickles;
} archive_scan;

/* Words of TorchScript source that reach beyond tensors: operators that read and write files, and
 * what only Python has. */
static const struct code_row {
    const char *word;
    cq_verdict  verdict;
    const char *why;
} code_rows[] = {
    { "from_file(", CQ_VERDICT_HOSTILE, "maps a file into memory" },
    { "torch.save(", CQ_VERDICT_HOSTILE, "writes a file" },
    { "torch.load(", CQ_VERDICT_HOSTILE, "loads another file" },
    { "aten.save", CQ_VERDICT_HOSTILE, "writes a file" },
    { "aten.load", CQ_VERDICT_HOSTILE, "loads another file" },
    { "__import__", CQ_VERDICT_HOSTILE, "imports modules" },
    { "eval(", CQ_VERDICT_UNKNOWN, "may evaluate text" },
    { "exec(", CQ_VERDICT_UNKNOWN, "may execute text" },
    { "open(", CQ_VERDICT_UNKNOWN, "may open files" },
    { "import ", CQ_VERDICT_UNKNOWN, "imports modules" },
    { "lambda ", CQ_VERDICT_UNKNOWN, "has a lambda, which TorchScript lacks" },
};

static const char *find(const unsigned char *data, size_t size, const char *word)
{
    const size_t         n = strlen(word);
    const unsigned char *p = data, *end = data + size;

    while (n <= (size_t)(end - p) && (p = memchr(p, word[0], (size_t)(end - p) - n + 1))) {
        if (memcmp(p, word, n) == 0)
            return (const char *)p;
        p++;
    }
    return NULL;
}

static bool is_word_byte(unsigned char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A function inside a function is deeper than a method of a class. */
static bool has_nested_function(const unsigned char *data, size_t size)
{
    return find(data, size, "\n        def ") || find(data, size, "\n      def ") ||
           find(data, size, "\n    def ");
}

/* The code without blanks that separate no words, as in torch . save (x). */
static unsigned char *without_blanks(const unsigned char *data, size_t *size)
{
    unsigned char *to = cq_alloc(*size + 1);
    size_t         n  = 0;

    for (size_t i = 0; to && i < *size; i++) {
        const bool is_blank = data[i] == ' ' || data[i] == '\t' || data[i] == '\\';
        size_t     next     = i + 1;

        while (is_blank && next < *size && (data[next] == ' ' || data[next] == '\t'))
            next++;
        if (!is_blank || (n && next < *size && is_word_byte(to[n - 1]) && is_word_byte(data[next])))
            to[n++] = is_blank ? ' ' : data[i];
        if (is_blank)
            i = next - 1;
    }
    *size = n;
    return to;
}

static void scan_words(archive_scan *s, const unsigned char *data, size_t size, const char *where)
{
    for (size_t i = 0; i < sizeof code_rows / sizeof *code_rows; i++) {
        const struct code_row *row  = &code_rows[i];
        const unsigned char   *from = data;
        const char            *p;

        while ((p = find(from, size - (size_t)(from - data), row->word))) {
            if ((const unsigned char *)p == data || !is_word_byte((unsigned char)p[-1]) ||
                row->word[0] == '_') {
                cq_audit_add(s->a, row->verdict, "code", where, "the code %s: %s", row->why,
                             row->word);
                break;
            }
            from = (const unsigned char *)p + 1;
        }
    }
}

static void scan_code(archive_scan *s, const unsigned char *data, size_t size, const char *where)
{
    size_t         n    = size;
    unsigned char *text = without_blanks(data, &n);

    s->n_code++;
    if (text)
        scan_words(s, text, n, where);
    cq_free(text);
    if (has_nested_function(data, size))
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "code", where,
                     "the code has a function inside a function, which TorchScript lacks");
}

/* Operators of other libraries: torch.ops.mylib.f in the JSON of a .pt2, ops.mylib.f in code. */
static void scan_operators(archive_scan *s, const unsigned char *data, size_t size,
                           const char *where, const char *prefix)
{
    static const char *const known[] = { "aten",
                                         "prim",
                                         "prims",
                                         "quantized",
                                         "torchvision",
                                         "higher_order",
                                         "_quantized",
                                         "quantized_decomposed",
                                         "_c10d_functional",
                                         "inductor",
                                         "profiler",
                                         "torchaudio",
                                         "sparse",
                                         "onednn",
                                         "mkldnn",
                                         "mkl",
                                         "export",
                                         "onnx",
                                         "onnx_symbolic",
                                         "xnnpack",
                                         "prepacked",
                                         "fb",
                                         "static_runtime",
                                         "cuda",
                                         "rngprims",
                                         "debugprims" };
    const unsigned char     *from    = data;
    const char              *p;

    while ((p = find(from, size - (size_t)(from - data), prefix))) {
        const unsigned char *name = (const unsigned char *)p + strlen(prefix), *end = name;
        char                 text[64];

        while (end < data + size && is_word_byte(*end) && end - name < 60)
            end++;
        snprintf(text, sizeof text, "%.*s", (int)(end - name), (const char *)name);
        from = end > from ? end : from + 1;
        if ((const unsigned char *)p > data && (is_word_byte((unsigned char)p[-1]) || p[-1] == '.'))
            continue;
        if (*text && !CQ_IS_AMONG(text, known))
            cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "custom-operator", where,
                         "calls operators of the library '%s'", text);
    }
}

/* ---- storages ---- */

/* The pickle NAME.pkl has its storages in NAME/KEY; bytecode.pkl in constants/KEY. */
static const cq_audit_entry *find_storage(const archive_scan *s, const cq_audit_storage *st,
                                          const char *pickle)
{
    const char *slash = strrchr(pickle, '/');
    const int   root  = slash ? (int)(slash - pickle) + 1 : 0;
    const int   stem  = (int)strlen(pickle) - (cq_ends_with(pickle, ".pkl") ? 4 : 0);
    const int   key   = st->key_size < 100 ? (int)st->key_size : 100;
    char        name[1200];
    uintptr_t   at;

    snprintf(name, sizeof name, "%.*s/%.*s", stem < 1000 ? stem : 1000, pickle, key, st->key);
    at = (uintptr_t)cq_map_get(&s->by_name, name);
    if (!at && cq_ends_with(pickle, "bytecode.pkl")) {
        snprintf(name, sizeof name, "%.*sconstants/%.*s", root < 1000 ? root : 1000, pickle, key,
                 st->key);
        at = (uintptr_t)cq_map_get(&s->by_name, name);
    }
    return at ? &s->entries.items[at - 1] : NULL;
}

/* torch.jit stores the example of a trace without its elements, and never reads it. */
static void check_storages(archive_scan *s, const cq_audit_pickle *p, const char *pickle,
                           const char *where)
{
    for (size_t i = 0; i < p->storages.n && !cq_ends_with(pickle, "traced_inputs.pkl"); i++) {
        const cq_audit_storage *st   = &p->storages.items[i];
        const cq_audit_entry   *e    = find_storage(s, st, pickle);
        const int               key  = st->key_size < 100 ? (int)st->key_size : 100;
        const double            need = (double)st->numel * (double)st->element;

        if (!e && st->numel)
            cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "storage-missing", where,
                         "storage '%.*s' is not in the archive", key, st->key);
        else if (e && need > (double)e->size)
            cq_audit_add(s->a, CQ_VERDICT_HOSTILE, "storage-too-small", where,
                         "storage '%.*s' has %" PRIu64 " bytes, but %.0f are claimed", key, st->key,
                         e->size, need);
    }
}

/* ---- entries ---- */

static bool is_library(const unsigned char *data, size_t size)
{
    return size > 4 && (memcmp(data, "\177ELF", 4) == 0 ||
                        memcmp(data, "\xcf\xfa\xed\xfe", 4) == 0 || memcmp(data, "MZ\x90", 3) == 0);
}

/* PyTorch finds entries without regard to case, and a slash at the end makes no folder. */
static bool ends_with(const char *name, const char *suffix)
{
    const size_t n   = strlen(suffix);
    size_t       end = strlen(name);

    while (end && name[end - 1] == '/')
        end--;
    for (size_t i = 0; i < n && end >= n; i++) {
        const char c = name[end - n + i];

        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != suffix[i])
            return false;
    }
    return end >= n;
}

static bool is_executable_name(const char *name)
{
    static const char *const ends[] = { ".so", ".dll",   ".dylib", ".exe", ".pyc",
                                        ".sh", ".cubin", ".cpp",   ".o",   ".pyd" };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i]))
            return true;
    return false;
}

/* Readers that do not check accept it; others fail, and show nothing. Large entries are weights, of
 * which this scan reads nothing. */
static void check_sum(archive_scan *s, const cq_audit_entry *e, const unsigned char *data,
                      const char *where)
{
    if (e->size <= MAX_SUMMED && crc32(0, data, (uInt)e->size) != e->crc)
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "zip-checksum", where,
                     "the entry does not have its checksum");
}

static void scan_pickle(archive_scan *s, const cq_audit_entry *e, const unsigned char *data,
                        const char *where)
{
    cq_audit_pickle p;

    s->n_pickles++;
    cq_audit_scan_pickle(s->a, &p, data, (size_t)e->size, where);
    if (p.is_whole && p.used < e->size)
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "trailing-bytes", where,
                     "%" PRIu64 " bytes follow the pickle", e->size - p.used);
    check_storages(s, &p, e->name, where);
    cq_vec_clear(&p.storages);
}

static void scan_entry(archive_scan *s, const cq_audit_entry *e)
{
    const char          *where     = cq_audit_inside(s->a, s->where, e->name);
    void                *heap      = NULL;
    const unsigned char *data      = cq_audit_entry_bytes(s->a, e, s->data, where, &heap);
    const size_t         size      = data ? (size_t)e->size : 0;
    const bool           is_source = ends_with(e->name, ".py");

    if (is_executable_name(e->name) || (data && is_library(data, size)))
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "native-code", where,
                     "the entry is a program or a library");
    if (!data || !size) {
        cq_free(heap);
        return;
    }
    check_sum(s, e, data, where);
    if (ends_with(e->name, ".pkl"))
        scan_pickle(s, e, data, where);
    else if (is_source && strstr(e->name, "code/"))
        scan_code(s, data, size, where);
    else if (is_source)
        cq_audit_add(s->a, CQ_VERDICT_UNKNOWN, "code", where, "the entry is Python source");
    else if (cq_audit_is_zip(data, size) || memcmp(data, "\x93NUMPY", size < 6 ? size : 6) == 0 ||
             ends_with(e->name, ".onnx") || ends_with(e->name, ".safetensors"))
        cq_audit_bytes(s->a, data, size, where, s->depth + 1);
    else if (size > 2 && data[0] == 0x80 && data[1] >= 2 && data[1] <= 5 &&
             cq_audit_is_pickle(s->a, data, size)) /* also where no pickle is expected */
        scan_pickle(s, e, data, where);
    else if (cq_audit_is_hidden_pickle(s->a, data, size))
        scan_pickle(s, e, data, where);
    if (ends_with(e->name, ".json")) {
        scan_operators(s, data, size, where, "torch.ops.");
        cq_audit_scan_program(s->a, data, size, where);
    }
    if (is_source && strstr(e->name, "code/")) {
        scan_operators(s, data, size, where, "ops.");
        scan_operators(s, data, size, where, "__torch__.torch.classes.");
    }
    cq_free(heap);
}

void cq_audit_scan_archive(cq_audit *a, const unsigned char *data, size_t size, const char *where,
                           int depth)
{
    archive_scan s = { .a = a, .data = data, .where = where, .depth = depth };

    if (depth)
        cq_audit_add(a, CQ_VERDICT_SAFE, "nested-archive", where, "an archive inside an archive");
    if (depth > CQ_AUDIT_MAX_DEPTH) {
        cq_audit_add(a, CQ_VERDICT_UNKNOWN, "nested-archive", where,
                     "archives are nested more than %d deep", CQ_AUDIT_MAX_DEPTH);
        return;
    }
    cq_audit_scan_zip(a, &s.entries, data, size, where);
    for (size_t i = 0; i < s.entries.n && a->status == CQ_OK; i++)
        if (cq_map_set(&s.by_name, s.entries.items[i].name, (void *)(uintptr_t)(i + 1)) != CQ_OK)
            a->status = CQ_E_NO_MEMORY;
    for (size_t i = 0; i < s.entries.n && a->status == CQ_OK; i++)
        scan_entry(&s, &s.entries.items[i]);
    if (s.n_code)
        cq_audit_add(a, CQ_VERDICT_SAFE, "code", where, "TorchScript code in %zu entries",
                     s.n_code);
    if (depth == 0)
        a->format = s.n_code      ? "TorchScript archive"
                    : s.n_pickles ? "PyTorch archive"
                                  : "zip archive";
    cq_map_clear(&s.by_name);
    cq_vec_clear(&s.entries);
}
