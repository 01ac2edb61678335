/* TorchScript archives. */
#include "archive/torchscript.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* A file of code, and its debug records (source locations) once they were requested. */
typedef struct cq_code_file {
    cq_code     code;      /* the first, so that a cq_code is a code_file */
    char       *entry;     /* "code/__torch__/net.py" */
    char       *qualifier; /* "__torch__.net" */
    char       *where;
    cq_storage *bytes;
    cq_val      notes;
    bool        asked; /* for notes */
} code_file;

/* ---- opening -------------------------------------------------------------------------------- */

/* `.data/version` counts before `version`, which only files of a version below 6 have. */
static cq_status read_version(cq_torchscript *t)
{
    const char *entry = cq_archive_find(&t->archive, ".data/version") ? ".data/version" : "version";
    cq_storage *s;
    int         version = 0;

    CQ_TRY(cq_archive_read(&s, &t->archive, entry));
    for (size_t i = 0; i < s->size && i < 4; i++) {
        const char c = ((const char *)s->data)[i];

        if (c < '0' || c > '9')
            break;
        version = version * 10 + (c - '0');
    }
    cq_storage_release(s);
    if (version < CQ_TORCHSCRIPT_MIN_VERSION || version > CQ_TORCHSCRIPT_MAX_VERSION)
        return cq_fail(CQ_E_UNSUPPORTED, cq_in_file(t->archive.path, entry), NULL,
                       "the archive has version %d; known are %d to %d", version,
                       CQ_TORCHSCRIPT_MIN_VERSION, CQ_TORCHSCRIPT_MAX_VERSION);
    t->version = version;
    return CQ_OK;
}

static cq_status read_values(cq_torchscript *t)
{
    if (!cq_archive_find(&t->archive, "constants.pkl"))
        return cq_fail(
            CQ_E_UNSUPPORTED, t->archive.path,
            "give the source of the model: calque export model.py --weights FILE; or save "
            "the program with torch.export.save",
            "this was written by torch.save: it holds values, but no code");
    CQ_TRY(cq_archive_unpickle(&t->root, &t->archive, "data", false));
    if (!cq_instance_of(t->root))
        return cq_fail(CQ_E_FORMAT, cq_in_file(t->archive.path, "data.pkl"), NULL,
                       "expected a module but found a value of type %s",
                       cq_val_kind_name(t->root.kind));
    CQ_TRY(cq_archive_unpickle(&t->constants, &t->archive, "constants", false));
    if (t->constants.kind != CQ_VAL_TUPLE && t->constants.kind != CQ_VAL_LIST)
        return cq_fail(CQ_E_FORMAT, cq_in_file(t->archive.path, "constants.pkl"), NULL,
                       "expected a tuple of constants but found a value of type %s",
                       cq_val_kind_name(t->constants.kind));
    if (cq_archive_find(&t->archive, "traced_inputs.pkl"))
        return cq_archive_unpickle(&t->traced_inputs, &t->archive, "traced_inputs", true);
    return CQ_OK;
}

static void file_free(code_file *f)
{
    if (!f)
        return;
    cq_free(f->entry);
    cq_free(f->qualifier);
    cq_free(f->where);
    cq_storage_release(f->bytes);
    cq_val_release(f->notes);
    cq_free(f);
}

/* code/a/b.py is a.b */
static cq_status add_file(cq_torchscript *t, const char *entry, size_t len)
{
    static const char folder[] = "code/";
    const size_t      n        = sizeof folder - 1;
    code_file        *f        = cq_zalloc(sizeof *f);
    cq_str            where    = { 0 };
    cq_status         status   = CQ_E_NO_MEMORY;

    if (!f)
        return CQ_E_NO_MEMORY;
    cq_str_printf(&where, "%s!%s%s", t->archive.path, cq_zip_root(t->archive.zip), entry);
    f->entry     = cq_strdup(entry);
    f->qualifier = cq_strndup(entry + n, len - n - strlen(".py"));
    f->where     = cq_str_take(&where);
    if (f->entry && f->qualifier && f->where) {
        for (char *c = f->qualifier; *c; c++)
            *c = *c == '/' ? '.' : *c;
        status = cq_map_set(&t->by_qualifier, f->qualifier, f);
    }
    if (status == CQ_OK)
        status = cq_vec_push(&t->files, f);
    if (status != CQ_OK)
        file_free(f);
    return status;
}

static cq_status list_files(cq_torchscript *t)
{
    const char  *root = cq_zip_root(t->archive.zip);
    const size_t n    = strlen(root);

    for (size_t i = 0; i < cq_zip_count(t->archive.zip); i++) {
        const char *name = cq_zip_at(t->archive.zip, i)->name;

        if (strncmp(name, root, n) == 0 && cq_starts_with(name + n, "code/") &&
            cq_ends_with(name, ".py") && strlen(name + n) > strlen("code/.py"))
            CQ_TRY(add_file(t, name + n, strlen(name + n)));
    }
    if (!t->files.n && cq_archive_find(&t->archive, "bytecode.pkl"))
        return cq_fail(CQ_E_UNSUPPORTED, t->archive.path, "save the model by torch.export.save",
                       "this has bytecode for PyTorch's lite interpreter, but no source");
    return CQ_OK;
}

cq_status cq_torchscript_open_bytes(cq_torchscript **out, cq_storage *bytes, const char *path)
{
    cq_torchscript *t = cq_zalloc(sizeof *t);
    cq_status       status;

    *out = NULL;
    if (!t)
        return CQ_E_NO_MEMORY;
    status = cq_archive_open_bytes(&t->archive, bytes, path);
    if (status == CQ_OK)
        status = read_values(t);
    if (status == CQ_OK)
        status = read_version(t);
    if (status == CQ_OK)
        status = list_files(t);
    if (status == CQ_OK)
        *out = t;
    else
        cq_torchscript_free(t);
    return status;
}

void cq_torchscript_free(cq_torchscript *t)
{
    if (!t)
        return;
    cq_val_release(t->root);
    cq_val_release(t->constants);
    cq_val_release(t->traced_inputs);
    for (size_t i = 0; i < t->files.n; i++)
        file_free(t->files.items[i]);
    cq_vec_clear(&t->files);
    cq_map_clear(&t->by_qualifier);
    cq_archive_close(&t->archive);
    cq_free(t);
}

bool cq_torchscript_has_byte_order(const cq_torchscript *t)
{
    return cq_archive_find(&t->archive, "byteorder") != NULL;
}

/* ---- code ---------------------------------------------------------------------------------------
 */

const char *cq_torchscript_code_at(const cq_torchscript *t, size_t index)
{
    return index < t->files.n ? t->files.items[index]->qualifier : NULL;
}

cq_status cq_torchscript_code(const cq_code **out, cq_torchscript *t, const char *qualified_name)
{
    const char *dot = strrchr(qualified_name, '.');
    code_file  *f =
        dot ? cq_map_get_n(&t->by_qualifier, qualified_name, (size_t)(dot - qualified_name)) : NULL;

    *out = NULL;
    if (!f)
        return cq_fail(CQ_E_NOT_FOUND, t->archive.path, NULL, "the archive has no code of %s",
                       qualified_name);
    if (!f->bytes) {
        CQ_TRY(cq_archive_read(&f->bytes, &t->archive, f->entry));
        f->code = (cq_code){ f->where, f->bytes->data, f->bytes->size };
    }
    *out = &f->code;
    return CQ_OK;
}

/* ---- origins -------------------------------------------------------------------------------- */

static cq_status no_storage(void *user, const char *key, uint64_t size, cq_storage **out)
{
    (void)user;
    (void)size;
    *out = NULL;
    return cq_fail(CQ_E_FORMAT, NULL, NULL, "notes of origins have a storage %s", key);
}

/* Debug records are a tuple ("FORMAT_WITH_STRING_TABLE", strings, entries); each entry is (offset,
 * ((indices of the strings that are the text, index of the file, lines before it), start, end),
 * tag). PyTorch before 1.10 wrote the entries only, with texts in them. */
static void read_notes(cq_torchscript *t, code_file *f)
{
    cq_pickle_source source = { .where = f->where, .storage = no_storage };
    cq_error_record  before;
    cq_storage      *bytes;
    cq_str           entry = { 0 };

    f->asked = true;
    cq_error_save(&before);
    cq_str_printf(&entry, "%s.debug_pkl", f->entry);
    if (entry.status == CQ_OK && cq_archive_read(&bytes, &t->archive, entry.text) == CQ_OK) {
        source.data = bytes->data;
        source.size = bytes->size;
        if (cq_unpickle(&f->notes, &source) != CQ_OK)
            f->notes = CQ_NONE;
        cq_storage_release(bytes);
    }
    cq_str_clear(&entry);
    cq_error_restore(&before); /* reading a location must not replace the current error */
}

/* Item i of a tuple or list; NONE if it does not exist. */
static cq_val item(cq_val v, size_t i)
{
    return (v.kind == CQ_VAL_TUPLE || v.kind == CQ_VAL_LIST) && i < v.u.list->n ? v.u.list->items[i]
                                                                                : CQ_NONE;
}

static int64_t int_of(cq_val v)
{
    return v.kind == CQ_VAL_INT ? v.u.i.value : -1;
}

static const cq_text *text_at(cq_val strings, cq_val v)
{
    if (int_of(v) >= 0)
        v = item(strings, (size_t)int_of(v));
    return v.kind == CQ_VAL_STR ? v.u.text : NULL;
}

/* "net.py(12): forward": a call of the Python that was traced. */
static bool is_call(const char *line, size_t len)
{
    const char *colon = len ? memchr(line, ':', len) : NULL;
    size_t      at    = colon ? (size_t)(colon - line) : 0;

    if (at < 4 || at + 2 >= len || line[at + 1] != ' ' || line[--at] != ')')
        return false;
    while (at && line[at - 1] >= '0' && line[at - 1] <= '9')
        at--;
    return at > 1 && line[at] != ')' && line[at - 1] == '(';
}

/* The innermost call that led to an operator is usually in one of PyTorch's layers. The
 * innermost call in the user's code is more useful. */
static bool is_pytorchs(const char *line, size_t len)
{
    static const char package[] = "-packages/torch/";

    for (size_t i = 0; i + sizeof package - 1 <= len; i++)
        if (memcmp(line + i, package, sizeof package - 1) == 0)
            return true;
    return false;
}

/* A trace notes calls, innermost first, a line each. */
static void find_call(cq_python_location *p, cq_val strings, cq_val numbers)
{
    const bool is_one = numbers.kind == CQ_VAL_STR;

    for (size_t i = 0; !is_one || i == 0; i++) {
        const cq_text *text = is_one ? numbers.u.text : text_at(strings, item(numbers, i));
        const char    *from, *end;

        if (!text)
            return;
        for (from = text->text; from < text->text + text->len; from = end + (*end == '\n')) {
            end = from + strcspn(from, "\n");
            if (!is_call(from, (size_t)(end - from)))
                return;
            p->is_call = true;
            p->text    = from;
            p->len     = (size_t)(end - from);
            if (!is_pytorchs(from, p->len))
                return;
        }
    }
}

/* The line of the text that has the byte at an offset. A text is a string, or the numbers of the
 * strings that make it up, a line each. */
static void find_line(cq_python_location *p, cq_val strings, cq_val numbers, int64_t start,
                      int64_t length)
{
    const bool is_one = numbers.kind == CQ_VAL_STR;

    for (size_t i = 0; start >= 0; i++) {
        const cq_text *text =
            is_one ? i ? NULL : numbers.u.text : text_at(strings, item(numbers, i));
        const char *from, *end;

        if (!text)
            return;
        for (from = text->text; from < text->text + text->len; from = end) {
            end = memchr(from, '\n', (size_t)(text->text + text->len - from));
            end = end ? end + 1 : text->text + text->len;
            if (start < end - from) {
                p->text   = from;
                p->len    = (size_t)(end - from) - (end[-1] == '\n');
                p->column = start;
                p->start  = (size_t)start;
                p->end    = length < (int64_t)p->len - start ? (size_t)(start + length) : p->len;
                return;
            }
            start -= end - from;
            p->line += end[-1] == '\n';
        }
    }
}

/* The entries; NONE if the notes have another form. */
static cq_val entries_of(cq_val notes, cq_val *strings)
{
    const cq_val first = item(notes, 0);

    *strings = CQ_NONE;
    if (first.kind != CQ_VAL_STR)
        return notes;
    if (strcmp(first.u.text->text, "FORMAT_WITH_STRING_TABLE") != 0)
        return CQ_NONE;
    *strings = item(notes, 1);
    return item(notes, 2);
}

/* The last entry that begins at or before offset. */
static cq_val entry_at(cq_val entries, uint32_t offset)
{
    size_t low = 0, high = 0;

    if (entries.kind == CQ_VAL_TUPLE || entries.kind == CQ_VAL_LIST)
        high = entries.u.list->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (int_of(item(entries.u.list->items[middle], 0)) <= (int64_t)offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? entries.u.list->items[low - 1] : CQ_NONE;
}

cq_python_location cq_torchscript_origin(cq_torchscript *t, const cq_code *code, uint32_t offset)
{
    code_file         *f        = (code_file *)code;
    cq_python_location location = { 0 };
    cq_val             strings, range, source;
    const cq_text     *file;

    if (!f->asked)
        read_notes(t, f);
    range  = item(entry_at(entries_of(f->notes, &strings), offset), 1);
    source = item(range, 0);
    file   = text_at(strings, item(source, 1));
    if (!file || !file->len)
        return location;
    location.file = file->text;
    location.line = int_of(item(source, 2));
    find_line(&location, strings, item(source, 0), int_of(item(range, 1)),
              int_of(item(range, 2)) - int_of(item(range, 1)));
    find_call(&location, strings, item(source, 0));
    return location;
}
