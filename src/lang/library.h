/* calque's own library: the Python files of lib/, embedded at build time.
 *
 * A file is indexed, not parsed, when the library is first used: the index has the extent of each
 * top-level function, its decorators and the imports. A function is parsed and linked when it is
 * first called (link.c). CALQUE_LIB=DIR reads the files from a folder instead, so that a change of
 * lib/ needs no compiler; files that were added to aten/ and onnx/ there are read, too.
 *
 * Rules for files of the index, lib/aten and lib/onnx: top-level statements are a docstring,
 * imports, functions and declarations; text in column 0 begins a statement, so a string of several
 * lines is indented. A declaration is a call as a statement: symbolic("aten::relu", "Relu",
 * opset=7). Other files are ordinary modules of Python (lib/torch, lib/python): they are not
 * indexed, and a program that imports one gets its text from cq_library_source. */
#ifndef CQ_LANG_LIBRARY_H
#define CQ_LANG_LIBRARY_H

#include "lang/ast.h"

#include <stdatomic.h>

typedef struct cq_lib_file     cq_lib_file;
typedef struct cq_lib_function cq_lib_function;

/* @name("text", key=value …): a decorator that declares something about its function. */
typedef struct cq_decorator_key {
    const char *name;  /* "": a positional argument after the first */
    const char *value; /* as written, without quotes: "True", "9" */
} cq_decorator_key;

typedef struct cq_decorator {
    const char       *name; /* "operator" */
    const char       *text; /* the first argument; "" if it is missing */
    cq_decorator_key *keys;
    size_t            n_keys;
    cq_lib_function  *function; /* NULL: a declaration */
    cq_lib_file      *file;
    cq_span           at;
} cq_decorator;

/* The value of a key; NULL if the decorator does not have it. */
const char *cq_decorator_value(const cq_decorator *d, const char *key);
/* Argument i by position, the text not counted; NULL if there are fewer. */
const char *cq_decorator_at(const cq_decorator *d, size_t i);
/* An error in the line of the decorator. */
cq_status cq_decorator_fail(const cq_decorator *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Fails if a key is unknown to declarations of this name (declaration.c). */
cq_status cq_decorator_check_keys(const cq_decorator *d);
/* Whether it has this name, with or without the module: "symbolic_helper.parse_args". */
bool cq_decorator_is(const cq_decorator *d, const char *name);

struct cq_lib_function {
    const char        *name;
    cq_lib_file       *file;
    cq_span            text; /* with its decorators */
    _Atomic(cq_unit *) unit; /* NULL: not parsed yet */
    const cq_ast_def  *def;
    size_t             n_slots;
    atomic_bool        is_linked;
    const char        *about; /* on first use */
};

/* A file of a user's, or of a test. Its functions live as long as it does. */
cq_status cq_lib_file_open(cq_lib_file **out, const char *name, const char *text, size_t len);
void      cq_lib_file_free(cq_lib_file *file);
cq_lib_function *cq_lib_file_at(const cq_lib_file *file, size_t index);
/* The decorators of a kind (NULL: all), in the order of lines, until fn fails. */
cq_status cq_lib_file_each(const cq_lib_file *file, const char                      *kind,
                           cq_status (*fn)(const cq_decorator *d, void *user), void *user);
/* The decorator of f with this name, as cq_decorator_is compares them; NULL: f has none. */
const cq_decorator *cq_lib_function_decorator(const cq_lib_function *f, const char *name);

/* One file of the library by its path, "onnx/rewrites.py", apart from the index: for a caller that
 * needs no other file, because the whole index takes longer than the caller's work. */
cq_status cq_library_open(cq_lib_file **out, const char *path);

/* Indexes the library, once. */
cq_status cq_library_ready(void);

/* All decorators of a kind, in the order of files and lines, until fn fails. */
cq_status cq_library_each(const char *kind, cq_status (*fn)(const cq_decorator *d, void *user),
                          void       *user);

/* Parses the imports of a file on first use. Whatever resolves names calls it first: if it fails,
 * imported names are unknown. */
cq_status cq_library_parse_imports(cq_lib_file *file);

/* Resolves a name in a file: one of its functions, or an imported one; otherwise NULL. */
cq_lib_function *cq_library_find(cq_lib_file *file, const char *name);
/* A function of a module of the library: "onnx.common", "given". */
cq_lib_function *cq_library_function(const char *module, const char *name);

/* The dotted name that an import gives to a name: "torch" for `import torch`, "math.sqrt" for
 * `from math import sqrt`; NULL: it is not imported. */
const char *cq_library_import(cq_lib_file *file, const char *name);

/* The syntax tree of a function; parses it on first use. */
cq_status cq_library_parse(cq_lib_function *f);

/* The first line of its docstring, "" without one; NULL if memory is out. */
const char *cq_library_about(cq_lib_function *f);

/* Every function, for tests: cq_library_at(0), … until NULL. */
cq_lib_function *cq_library_at(size_t index);

/* The text of a file of the library by its path, "torch/nn/__init__.py"; *found is false if the
 * library does not have it. With CALQUE_LIB the arena owns the text. */
cq_status cq_library_source(cq_source *out, bool *found, cq_arena *arena, const char *path);

/* "lib/aten/loss.py" */
const char *cq_library_file_name(const cq_lib_file *file);
/* Whether it is a file of the library whose path below lib/ begins so: "aten/". */
bool cq_library_is_in(const cq_lib_file *file, const char *folder);
/* Whether CALQUE_LIB names a folder where the file differs from the embedded one. The hosts check
 * such files as a whole, so that a mistake is an error even if its function is never called. */
bool cq_library_is_changed(const cq_lib_file *file);
bool cq_library_has_changes(void);
/* Fails if the file has a declaration that is unknown, or a key that its declaration does not have
 * (declaration.c). */
cq_status cq_library_check_declarations(const cq_lib_file *file);
/* Whether it was opened by cq_lib_file_open: errors in it are the user's. */
bool cq_library_is_users(const cq_lib_file *file);

/* Embedded by cmake/embed.cmake, in the order of strcmp, ended by an empty row. */
typedef struct cq_lib_text {
    const char *name, *text; /* "aten/loss.py" */
    size_t      len;
} cq_lib_text;

extern const cq_lib_text cq_lib_texts[];

/* The text of a path below lib/, or NULL. */
const cq_lib_text *cq_library_text(const char *path);

#endif
