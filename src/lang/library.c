/* The index of the library, see library.h. It is made by scanning lines, because parsing all files
 * would take as long as exporting a small model. */
#include "lang/library.h"
#include "base/file.h"
#include "base/once.h"
#include "base/path.h"
#include "base/str.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cq_lib_file {
    cq_arena   *arena; /* the library's files share one */
    bool        owns_arena;
    cq_source   source;
    const char *path;       /* of a file of the library: "aten/loss.py" */
    bool        is_changed; /* its text in the folder differs from the embedded one */
    cq_intern   names;      /* of syntax trees */
    cq_map      imports;    /* name -> dotted name, once one is looked up */
    CQ_VEC(cq_span) import_texts;
    atomic_bool has_imports;
    CQ_VEC(cq_lib_function *) functions;
    CQ_VEC(cq_decorator) decorators;
};

static struct {
    cq_once   once;
    cq_arena *arena;
    CQ_VEC(cq_lib_file *) files;
    bool has_changes;
} library = { .once = CQ_ONCE_INIT };

static cq_mutex parse_lock = CQ_MUTEX_INIT;

const char *cq_library_file_name(const cq_lib_file *file)
{
    return file->source.file;
}

bool cq_library_is_in(const cq_lib_file *file, const char *folder)
{
    return file->path && cq_starts_with(file->path, folder);
}

bool cq_library_is_changed(const cq_lib_file *file)
{
    return file->is_changed;
}

bool cq_library_has_changes(void)
{
    return library.has_changes;
}

bool cq_library_is_users(const cq_lib_file *file)
{
    return file->owns_arena;
}

/* ---- decorators ---- */

typedef struct scan {
    cq_lib_file *file;
    const char  *at, *end;
} scan;

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void skip_blanks(scan *s)
{
    while (s->at < s->end && (isspace((unsigned char)*s->at) || *s->at == ','))
        s->at++;
}

static bool accept(scan *s, char c)
{
    skip_blanks(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static const char *scan_word(scan *s)
{
    const char *start = s->at;

    while (s->at < s->end && (is_word(*s->at) || *s->at == '.' || *s->at == '-'))
        s->at++;
    return cq_arena_strndup(s->file->arena, start, (size_t)(s->at - start));
}

/* One string, or several that are written next to each other; without escapes. */
static const char *scan_string(scan *s)
{
    cq_str      text = { 0 };
    const char *out;

    for (skip_blanks(s); s->at < s->end && (*s->at == '"' || *s->at == '\''); skip_blanks(s)) {
        const char *close = memchr(s->at + 1, *s->at, (size_t)(s->end - s->at - 1));

        if (!close)
            break;
        cq_str_add_n(&text, s->at + 1, (size_t)(close - s->at - 1));
        s->at = close + 1;
        if (s->at < s->end && *s->at == ',')
            break;
    }
    out = text.status == CQ_OK ? cq_arena_strdup(s->file->arena, cq_str_text(&text)) : NULL;
    cq_str_clear(&text);
    return out;
}

static cq_status bad_decorator(const scan *s)
{
    const uint32_t at = (uint32_t)(s->at - s->file->source.text);

    return cq_source_fail(&s->file->source, (cq_span){ at, at + 1 }, CQ_E_SYNTAX, NULL,
                          "expected a string, a word or key=value in a decorator");
}

static bool at_string(const scan *s)
{
    return s->at < s->end && (*s->at == '"' || *s->at == '\'');
}

/* name=value, or a value by position. */
static cq_status scan_key(scan *s, cq_decorator_key *key)
{
    key->name  = "";
    key->value = at_string(s)                       ? scan_string(s)
                 : is_word(*s->at) || *s->at == '-' ? scan_word(s)
                                                    : "";
    if (!key->value)
        return CQ_E_NO_MEMORY;
    if (!*key->value)
        return bad_decorator(s);
    if (!accept(s, '='))
        return CQ_OK;
    skip_blanks(s);
    key->name  = key->value;
    key->value = at_string(s) ? scan_string(s) : scan_word(s);
    return key->value ? CQ_OK : CQ_E_NO_MEMORY;
}

/* name("text", key=value …) of a decorator or a declaration. */
static cq_status scan_decorator(scan *s, cq_lib_function *function)
{
    cq_decorator     d = { .text = "", .function = function, .file = s->file };
    cq_decorator_key keys[32];

    d.at.start = (uint32_t)(s->at - s->file->source.text);
    d.name     = scan_word(s);
    if (accept(s, '(')) {
        skip_blanks(s);
        if (at_string(s))
            d.text = scan_string(s);
        while (!accept(s, ')')) {
            if (s->at == s->end || d.n_keys == sizeof keys / sizeof *keys)
                return bad_decorator(s);
            CQ_TRY(scan_key(s, &keys[d.n_keys++]));
        }
    }
    d.at.end = (uint32_t)(s->at - s->file->source.text);
    d.keys   = cq_arena_copy(s->file->arena, keys, d.n_keys * sizeof *keys + 1);
    if (!d.name || !d.text || !d.keys)
        return CQ_E_NO_MEMORY;
    return cq_vec_push(&s->file->decorators, d);
}

const char *cq_decorator_value(const cq_decorator *d, const char *key)
{
    for (size_t i = 0; i < d->n_keys; i++)
        if (strcmp(d->keys[i].name, key) == 0)
            return d->keys[i].value;
    return NULL;
}

const char *cq_decorator_at(const cq_decorator *d, size_t i)
{
    return i < d->n_keys && !*d->keys[i].name ? d->keys[i].value : NULL;
}

bool cq_decorator_is(const cq_decorator *d, const char *name)
{
    const char *dot = strrchr(d->name, '.');

    return strcmp(dot ? dot + 1 : d->name, name) == 0;
}

cq_status cq_decorator_fail(const cq_decorator *d, const char *format, ...)
{
    char    message[512];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return cq_source_fail(&d->file->source, d->at, CQ_E_SYNTAX, NULL, "%s", message);
}

/* ---- files ---- */

static bool begins(const char *at, const char *end, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(end - at) >= n && memcmp(at, word, n) == 0;
}

/* Other lines are empty, indented, comments, or the end of a statement in brackets. */
static bool begins_statement(char first)
{
    switch (first) {
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case '#':
    case ')':
    case ']':
    case '}': return false;
    default: return true;
    }
}

/* The first byte of the next line that begins a top-level statement, from at on. */
static const char *next_statement(const char *at, const char *end)
{
    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));

        if (!line || line + 1 == end)
            return end;
        at = line + 1;
        if (begins_statement(*at))
            return at;
    }
    return end;
}

/* A function with its decorators. */
static cq_status index_function(cq_lib_file *file, const char *start, const char *end)
{
    cq_lib_function *f = cq_arena_zalloc(file->arena, sizeof *f);
    scan             s = { file, start, end };

    if (!f)
        return CQ_E_NO_MEMORY;
    f->file = file;
    f->text =
        (cq_span){ (uint32_t)(start - file->source.text), (uint32_t)(end - file->source.text) };
    for (; s.at < end && *s.at == '@'; skip_blanks(&s)) {
        s.at++;
        CQ_TRY(scan_decorator(&s, f));
    }
    if (!begins(s.at, end, "def "))
        return bad_decorator(&s);
    s.at += 4;
    f->name = scan_word(&s);
    if (!f->name)
        return CQ_E_NO_MEMORY;
    return cq_vec_push(&file->functions, f);
}

/* name(…) on its own; false: it is something else. */
static bool is_declaration(const char *at, const char *end)
{
    const char *open = at;

    while (open < end && (is_word(*open) || *open == '.'))
        open++;
    return open > at && open < end && *open == '(';
}

static cq_status index_file(cq_lib_file *file)
{
    const char *text = file->source.text, *end = text + file->source.len, *at = text, *next;

    if (begins(at, end, "\"\"\"")) { /* the docstring */
        const char *close = at + 3;

        while (close < end && !begins(close, end, "\"\"\""))
            close++;
        at = next_statement(close, end);
    } else if (at < end && !begins_statement(*at)) {
        at = next_statement(at, end);
    }
    for (; at < end; at = next) {
        const char *statement = at;

        next = next_statement(at, end);
        while (*statement == '@' && next < end) { /* decorators belong to what follows */
            statement = next;
            next      = next_statement(next, end);
        }
        if (*statement == '@' || begins(statement, end, "def "))
            CQ_TRY(index_function(file, at, next));
        else if (begins(at, end, "import ") || begins(at, end, "from "))
            CQ_TRY(cq_vec_push(&file->import_texts,
                               (cq_span){ (uint32_t)(at - text), (uint32_t)(next - text) }));
        else if (is_declaration(at, next))
            CQ_TRY(scan_decorator(&(scan){ file, at, next }, NULL));
        else
            return cq_source_fail(
                &file->source, (cq_span){ (uint32_t)(at - text), (uint32_t)(at - text) + 1 },
                CQ_E_SYNTAX, NULL, "expected an import, a function or a declaration");
    }
    return CQ_OK;
}

void cq_lib_file_free(cq_lib_file *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->functions.n; i++)
        cq_unit_free(file->functions.items[i]->unit);
    cq_map_clear(&file->imports);
    cq_vec_clear(&file->import_texts);
    cq_vec_clear(&file->functions);
    cq_vec_clear(&file->decorators);
    cq_intern_clear(&file->names);
    if (file->owns_arena)
        cq_arena_free(file->arena);
}

static cq_lib_file *new_file(cq_arena *arena)
{
    cq_lib_file *file = arena ? cq_arena_zalloc(arena, sizeof *file) : NULL;

    if (file)
        file->arena = arena;
    return file;
}

/* The same in an arena of its own. */
static cq_lib_file *new_own_file(void)
{
    cq_arena    *arena = cq_arena_new();
    cq_lib_file *file  = new_file(arena);

    if (file)
        file->owns_arena = true;
    else
        cq_arena_free(arena);
    return file;
}

cq_status cq_lib_file_open(cq_lib_file **out, const char *name, const char *text, size_t len)
{
    cq_lib_file *file   = new_own_file();
    cq_status    status = CQ_E_NO_MEMORY;

    *out = NULL;
    if (!file)
        return CQ_E_NO_MEMORY;
    cq_source_init(&file->source, cq_arena_strdup(file->arena, name),
                   cq_arena_strndup(file->arena, text, len), len);
    if (file->source.file && file->source.text)
        status = index_file(file);
    if (status == CQ_OK)
        *out = file;
    else
        cq_lib_file_free(file);
    return status;
}

cq_lib_function *cq_lib_file_at(const cq_lib_file *file, size_t index)
{
    return index < file->functions.n ? file->functions.items[index] : NULL;
}

/* ---- the library ---- */

/* The file in the folder that CALQUE_LIB names. */
static cq_status read_text(cq_source *out, cq_arena *arena, const char *folder, const char *name)
{
    char  *path = cq_arena_printf(arena, "%s/%s", folder, name), *text, *copy;
    size_t size;

    if (!path)
        return CQ_E_NO_MEMORY;
    if (cq_file_read(&text, &size, path) != CQ_OK)
        return cq_fail(CQ_E_IO, path, "CALQUE_LIB names the folder lib of calque's source",
                       "the file cannot be opened");
    copy = cq_arena_zalloc(arena, size + 1);
    if (copy)
        memcpy(copy, text, size);
    cq_free(text);
    if (!copy)
        return CQ_E_NO_MEMORY;
    cq_source_init(out, path, copy, size);
    return CQ_OK;
}

static cq_status source_of(cq_source *out, cq_arena *arena, const cq_lib_text *embedded)
{
    const char *folder = getenv("CALQUE_LIB");
    char       *name;

    if (folder && *folder)
        return read_text(out, arena, folder, embedded->name);
    name = cq_arena_printf(arena, "lib/%s", embedded->name);
    if (!name)
        return CQ_E_NO_MEMORY;
    cq_source_init(out, name, embedded->text, embedded->len);
    return CQ_OK;
}

static size_t count_texts(void)
{
    size_t n = 0;

    while (cq_lib_texts[n].name)
        n++;
    return n;
}

static int compare_text(const void *path, const void *text)
{
    return strcmp(path, ((const cq_lib_text *)text)->name);
}

const cq_lib_text *cq_library_text(const char *path)
{
    return bsearch(path, cq_lib_texts, count_texts(), sizeof *cq_lib_texts, compare_text);
}

cq_status cq_library_source(cq_source *out, bool *found, cq_arena *arena, const char *path)
{
    const cq_lib_text *t = cq_library_text(path);

    *found = t != NULL;
    return t ? source_of(out, arena, t) : CQ_OK;
}

/* Whether the file declares operators or symbolic functions. */
static bool is_indexed(const cq_lib_text *embedded)
{
    return strncmp(embedded->name, "aten/", 5) == 0 || strncmp(embedded->name, "onnx/", 5) == 0;
}

/* text: the embedded one; NULL: the file is only in the folder that CALQUE_LIB names. */
static cq_status read_file(cq_lib_file *file, const cq_lib_text *text, const char *path)
{
    file->path = path;
    CQ_TRY(text ? source_of(&file->source, file->arena, text)
                : read_text(&file->source, file->arena, getenv("CALQUE_LIB"), path));
    file->is_changed =
        !text ||
        (file->source.text != text->text &&
         (file->source.len != text->len || memcmp(file->source.text, text->text, text->len) != 0));
    return index_file(file);
}

static cq_status open_file(const cq_lib_text *text, const char *path)
{
    cq_lib_file *file   = new_file(library.arena);
    cq_status    status = file ? cq_vec_push(&library.files, file) : CQ_E_NO_MEMORY;

    CQ_TRY(status);
    status = read_file(file, text, path);
    library.has_changes |= file->is_changed;
    return status;
}

cq_status cq_library_open(cq_lib_file **out, const char *path)
{
    cq_lib_file *file = new_own_file();
    cq_status    status;

    *out = NULL;
    if (!file)
        return CQ_E_NO_MEMORY;
    status = read_file(file, cq_library_text(path), path);
    if (status == CQ_OK)
        *out = file;
    else
        cq_lib_file_free(file);
    return status;
}

/* A file that was added to a folder below lib. */
static cq_status open_added(void *user, const char *name)
{
    const char  *folder = user;
    const size_t len    = strlen(name);
    char        *path;

    if (len < 3 || strcmp(name + len - 3, ".py") != 0)
        return CQ_OK;
    path = cq_arena_printf(library.arena, "%s/%s", folder, name);
    if (!path)
        return CQ_E_NO_MEMORY;
    return cq_library_text(path) ? CQ_OK : open_file(NULL, path);
}

static cq_status open_all_added(void)
{
    static const char *const folders[] = { "aten", "onnx" };
    const char              *lib       = getenv("CALQUE_LIB");

    for (size_t i = 0; lib && *lib && i < sizeof folders / sizeof *folders; i++) {
        char *path = cq_arena_printf(library.arena, "%s/%s", lib, folders[i]);
        bool  opened;

        if (!path)
            return CQ_E_NO_MEMORY;
        CQ_TRY(cq_folder_each(path, open_added, (void *)folders[i], &opened));
    }
    return CQ_OK;
}

static void forget(void)
{
    for (size_t i = 0; i < library.files.n; i++)
        cq_lib_file_free(library.files.items[i]);
    cq_vec_clear(&library.files);
    cq_arena_free(library.arena);
    library.arena = NULL;
}

static cq_status index_library(void)
{
    cq_status status = CQ_OK;

    library.arena = cq_arena_new();
    if (!library.arena)
        return CQ_E_NO_MEMORY;
    for (const cq_lib_text *t = cq_lib_texts; t->name && status == CQ_OK; t++)
        if (is_indexed(t))
            status = open_file(t, t->name);
    if (status == CQ_OK)
        status = open_all_added();
    if (status != CQ_OK)
        forget();
    return status;
}

cq_status cq_library_ready(void)
{
    return cq_once_call(&library.once, index_library);
}

cq_status cq_lib_file_each(const cq_lib_file *file, const char                      *kind,
                           cq_status (*fn)(const cq_decorator *d, void *user), void *user)
{
    for (size_t i = 0; i < file->decorators.n; i++)
        if (!kind || (file->decorators.items[i].name[0] == kind[0] &&
                      strcmp(file->decorators.items[i].name, kind) == 0))
            CQ_TRY(fn(&file->decorators.items[i], user));
    return CQ_OK;
}

const cq_decorator *cq_lib_function_decorator(const cq_lib_function *f, const char *name)
{
    for (size_t i = 0; i < f->file->decorators.n; i++)
        if (f->file->decorators.items[i].function == f &&
            cq_decorator_is(&f->file->decorators.items[i], name))
            return &f->file->decorators.items[i];
    return NULL;
}

cq_status cq_library_each(const char *kind, cq_status (*fn)(const cq_decorator *d, void *user),
                          void       *user)
{
    CQ_TRY(cq_library_ready());
    for (size_t i = 0; i < library.files.n; i++)
        CQ_TRY(cq_lib_file_each(library.files.items[i], kind, fn, user));
    return CQ_OK;
}

cq_lib_function *cq_library_at(size_t index)
{
    if (cq_library_ready() != CQ_OK)
        return NULL;
    for (size_t i = 0; i < library.files.n; i++) {
        if (index < library.files.items[i]->functions.n)
            return library.files.items[i]->functions.items[index];
        index -= library.files.items[i]->functions.n;
    }
    return NULL;
}

/* ---- names ---- */

static cq_status parse_import(cq_lib_file *file, cq_span text)
{
    cq_unit  *unit;
    cq_status status = cq_parse_part(&unit, &file->names, &file->source, text);

    for (size_t i = 0; status == CQ_OK && i < unit->n_imports; i++) {
        const cq_ast_import *m    = &unit->imports[i];
        const char          *name = m->alias ? m->alias : m->name ? m->name : m->module;
        char *dotted = cq_arena_printf(file->arena, "%s%s%s", m->module, m->name ? "." : "",
                                       m->name ? m->name : "");

        status = dotted ? cq_map_set(&file->imports, name, dotted) : CQ_E_NO_MEMORY;
    }
    if (unit)
        cq_unit_free(unit);
    return status;
}

cq_status cq_library_parse_imports(cq_lib_file *file)
{
    cq_status status = CQ_OK;

    if (atomic_load_explicit(&file->has_imports, memory_order_acquire))
        return CQ_OK;
    cq_mutex_lock(&parse_lock);
    if (!atomic_load_explicit(&file->has_imports, memory_order_relaxed)) {
        for (size_t i = 0; i < file->import_texts.n && status == CQ_OK; i++)
            status = parse_import(file, file->import_texts.items[i]);
        atomic_store_explicit(&file->has_imports, status == CQ_OK, memory_order_release);
    }
    cq_mutex_unlock(&parse_lock);
    return status;
}

const char *cq_library_import(cq_lib_file *file, const char *name)
{
    return cq_library_parse_imports(file) == CQ_OK ? cq_map_get(&file->imports, name) : NULL;
}

static cq_lib_function *find_function(const cq_lib_file *file, const char *name)
{
    for (size_t i = 0; i < file->functions.n; i++)
        if (strcmp(file->functions.items[i]->name, name) == 0)
            return file->functions.items[i];
    return NULL;
}

/* The file of a module, "aten.windows" for aten/windows.py; NULL: it is not of the library. */
static const cq_lib_file *file_of(const char *module, size_t len)
{
    for (size_t i = 0; i < library.files.n; i++) {
        const char *name = library.files.items[i]->path;
        size_t      k    = 0;

        while (k < len && name[k] && (name[k] == module[k] || (name[k] == '/' && module[k] == '.')))
            k++;
        if (k == len && strcmp(name + k, ".py") == 0)
            return library.files.items[i];
    }
    return NULL;
}

cq_lib_function *cq_library_function(const char *module, const char *name)
{
    const cq_lib_file *file = cq_library_ready() == CQ_OK ? file_of(module, strlen(module)) : NULL;

    return file ? find_function(file, name) : NULL;
}

cq_lib_function *cq_library_find(cq_lib_file *file, const char *name)
{
    cq_lib_function   *own    = find_function(file, name);
    const char        *dotted = own ? NULL : cq_library_import(file, name);
    const char        *dot    = dotted ? strrchr(dotted, '.') : NULL;
    const cq_lib_file *from   = dot ? file_of(dotted, (size_t)(dot - dotted)) : NULL;

    return own ? own : from ? find_function(from, dot + 1) : NULL;
}

/* ---- parsing ---- */

static cq_status parse(cq_lib_function *f)
{
    cq_unit *unit;

    CQ_TRY(cq_parse_part(&unit, &f->file->names, &f->file->source, f->text));
    f->def = cq_unit_def(unit, f->name);
    atomic_store_explicit(&f->unit, unit, memory_order_release);
    return CQ_OK;
}

cq_status cq_library_parse(cq_lib_function *f)
{
    cq_status status = CQ_OK;

    if (atomic_load_explicit(&f->unit, memory_order_acquire))
        return CQ_OK;
    cq_mutex_lock(&parse_lock);
    if (!atomic_load_explicit(&f->unit, memory_order_relaxed))
        status = parse(f);
    cq_mutex_unlock(&parse_lock);
    return status;
}

/* The first line of the docstring, as the rest of a sentence: "Squared error." is "squared error".
 */
static const char *about_of(cq_lib_function *f)
{
    const cq_ast_block *body = &f->def->body;
    const cq_ast_expr  *x =
        body->n && body->items[0]->kind == CQ_S_EXPR ? body->items[0]->u.value : NULL;
    const char *text = x && x->kind == CQ_X_STR ? x->u.str.text : "";
    size_t      len  = strcspn(text, "\n");
    char       *out;

    while (len && (text[len - 1] == '.' || text[len - 1] == ' '))
        len--;
    out = cq_arena_strndup(f->file->arena, text, len);
    if (out && isupper((unsigned char)out[0]) && (islower((unsigned char)out[1]) || out[1] == ' '))
        out[0] = (char)tolower((unsigned char)out[0]);
    return out;
}

const char *cq_library_about(cq_lib_function *f)
{
    if (cq_library_parse(f) != CQ_OK)
        return NULL;
    cq_mutex_lock(&parse_lock);
    if (!f->about)
        f->about = about_of(f);
    cq_mutex_unlock(&parse_lock);
    return f->about;
}
