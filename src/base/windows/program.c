/* The console, standard input and the beginning of a program on Windows (<calque/system.h>). */
#include <calque/system.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/windows/posix.h"
#include "base/windows/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>
/* After windows.h. */
#include <shellapi.h>

/* ---- the console ---- */

CQ_API bool cq_stderr_is_terminal(void)
{
    DWORD mode;

    return GetConsoleMode(GetStdHandle(STD_ERROR_HANDLE), &mode);
}

/* A console shows colours if it can interpret escape sequences: since Windows 10. */
CQ_API bool cq_stderr_has_colour(void)
{
    const HANDLE console = GetStdHandle(STD_ERROR_HANDLE);
    const char  *off     = getenv("NO_COLOR");
    DWORD        mode;

    return !(off && *off) && GetConsoleMode(console, &mode) &&
           SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

/* ---- temporary files ---- */

const char *cq_path_temporary(void)
{
    static char folder[PATH_MAX];
    wchar_t     wide[CQ_WINDOWS_PATH];
    const DWORD n = GetTempPathW(CQ_WINDOWS_PATH, wide);

    if (*folder)
        return folder;
    if (!n || n >= CQ_WINDOWS_PATH || !cq_windows_text(folder, sizeof folder, wide, true))
        return ".";
    if (strlen(folder) > 1 && folder[strlen(folder) - 1] == '/')
        folder[strlen(folder) - 1] = '\0';
    return folder;
}

/* The file is deleted when its descriptor is closed, at the latest at the end of the process. */
static int open_temporary(char *path, size_t size)
{
    uint64_t  number = 0;
    const int n      = getentropy(&number, sizeof number) == 0
                           ? snprintf(path, size, "%s/calque-%016llx.part", cq_path_temporary(),
                                      (unsigned long long)number)
                           : -1;

    return n < 0 || n >= (int)size ? -1 : open(path, O_RDWR | O_CREAT | O_EXCL | O_TEMPORARY);
}

static cq_status no_temporary(const char *what)
{
    return cq_fail(CQ_E_IO, NULL, NULL, "no space to buffer %s: %s", what, strerror(errno));
}

/* ---- text in memory ---- */

/* Windows has no streams in memory: a temporary file. */
struct cq_text_stream {
    FILE *file;
};

CQ_API cq_status cq_text_open(cq_text_stream **out, FILE **file)
{
    cq_text_stream *s;
    char            path[PATH_MAX];
    int             fd;

    CQ_NEED(out && file);
    *out = NULL;
    s    = cq_zalloc(sizeof *s);
    if (!s)
        return CQ_E_NO_MEMORY;
    fd      = open_temporary(path, sizeof path);
    s->file = fd < 0 ? NULL : _fdopen(fd, "w+b");
    if (!s->file) {
        cq_free(s);
        return no_temporary("text");
    }
    *file = s->file;
    *out  = s;
    return CQ_OK;
}

CQ_API cq_status cq_text_close(cq_text_stream *s, char **text, size_t *size)
{
    struct stat st;
    bool        done;

    CQ_NEED(s);
    done = fflush(s->file) == 0 && fstat(_fileno(s->file), &st) == 0;
    if (text)
        *text = done ? cq_alloc((size_t)st.st_size + 1) : NULL;
    if (text && *text) {
        *size = (size_t)st.st_size;
        rewind(s->file);
        done           = fread(*text, 1, *size, s->file) == *size;
        (*text)[*size] = '\0';
    }
    fclose(s->file);
    cq_free(s);
    return !done ? no_temporary("text") : text && !*text ? CQ_E_NO_MEMORY : CQ_OK;
}

/* ---- standard input ---- */

static cq_status copy_stdin(int copy)
{
    static char buffer[1 << 16];
    int         n;

    while ((n = _read(0, buffer, sizeof buffer)) > 0)
        if (_write(copy, buffer, (unsigned)n) != n)
            break;
    if (n == 0)
        return CQ_OK;
    return cq_fail(CQ_E_IO, NULL, NULL, "cannot copy standard input: %s", strerror(errno));
}

CQ_API cq_status cq_stdin_spool(char *path, size_t size)
{
    int copy;

    CQ_NEED(path && size);
    copy = open_temporary(path, size);
    if (copy < 0)
        return no_temporary("standard input");
    return copy_stdin(copy);
}

/* ---- the beginning ---- */

static int exit_code_of_shrunk_file;

/* Ctrl-C, a closed window, the end of the session: Windows calls this in another thread. */
static BOOL WINAPI on_end(DWORD event)
{
    (void)event;
    cq_discard_outputs();
    return FALSE; /* the default handler ends the process */
}

/* What SIGBUS is elsewhere. */
static LONG WINAPI on_exception(EXCEPTION_POINTERS *exception)
{
    static const char text[] = "error: a file became shorter while it was read\n"
                               "  hint: wait until the file is written, and try again\n";

    if (exception->ExceptionRecord->ExceptionCode != EXCEPTION_IN_PAGE_ERROR)
        return EXCEPTION_CONTINUE_SEARCH;
    cq_discard_outputs();
    (void)!_write(2, text, sizeof text - 1);
    _exit(exit_code_of_shrunk_file);
}

/* The system's own argv has lost characters that its code page lacks. It lives as long as the
 * process. */
static void replace_arguments(int *argc, char ***argv)
{
    int       n    = 0;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &n);
    char    **list = wide ? cq_zalloc(((size_t)n + 1) * sizeof *list) : NULL;

    for (int i = 0; list && i < n; i++) {
        const size_t size = 3 * wcslen(wide[i]) + 1;

        list[i] = cq_alloc(size);
        if (!list[i] || !cq_windows_text(list[i], size, wide[i], false))
            list = NULL; /* as the system gave it */
    }
    if (list) {
        *argc = n;
        *argv = list;
    }
    LocalFree(wide);
}

CQ_API void cq_program_begin(int *argc, char ***argv, int exit_code)
{
    exit_code_of_shrunk_file = exit_code;
    replace_arguments(argc, argv);
    for (int fd = 0; fd <= 2; fd++)
        _setmode(fd, _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
    SetConsoleCtrlHandler(on_end, TRUE);
    SetUnhandledExceptionFilter(on_exception);
}

/* ---- the browser ---- */

CQ_API cq_status cq_opener_start(void)
{
    return CQ_OK; /* no process is needed: there is no sandbox */
}

CQ_API cq_status cq_opener_open(const char *path)
{
    wchar_t wide[CQ_WINDOWS_PATH];

    CQ_NEED(path);
    if (cq_windows_path(wide, path) &&
        (intptr_t)ShellExecuteW(NULL, L"open", wide, NULL, NULL, SW_SHOWNORMAL) > 32)
        return CQ_OK;
    return cq_fail(CQ_E_IO, path, "open the file by hand", "no program can be started");
}
