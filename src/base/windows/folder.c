/* Folders of POSIX on Windows. */
#include "base/windows/posix.h"
#include "base/windows/text.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>
#include <windows.h>

struct cq_windows_folder {
    HANDLE           search;
    WIN32_FIND_DATAW found;
    bool             is_first;
    struct dirent    entry;
};

DIR *opendir(const char *path)
{
    wchar_t wide[CQ_WINDOWS_PATH];
    DIR    *dir;
    DWORD   found;
    size_t  n;

    if (!cq_windows_path(wide, *path ? path : "."))
        return NULL;
    found = GetFileAttributesW(wide);
    if (found != INVALID_FILE_ATTRIBUTES && !(found & FILE_ATTRIBUTE_DIRECTORY)) {
        errno = ENOTDIR;
        return NULL;
    }
    n = wcslen(wide);
    if (n + 3 > CQ_WINDOWS_PATH) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    wcscpy(wide + n, wide[n - 1] == '\\' || wide[n - 1] == '/' ? L"*" : L"\\*");
    dir = cq_zalloc(sizeof *dir);
    if (!dir) {
        errno = ENOMEM;
        return NULL;
    }
    dir->search = FindFirstFileW(wide, &dir->found);
    if (dir->search == INVALID_HANDLE_VALUE) {
        cq_windows_fail();
        cq_free(dir);
        return NULL;
    }
    dir->is_first = true;
    return dir;
}

struct dirent *readdir(DIR *dir)
{
    while (dir->is_first || FindNextFileW(dir->search, &dir->found)) {
        dir->is_first = false;
        if (cq_windows_text(dir->entry.d_name, sizeof dir->entry.d_name, dir->found.cFileName,
                            false))
            return &dir->entry;
    }
    return NULL;
}

int closedir(DIR *dir)
{
    FindClose(dir->search);
    cq_free(dir);
    return 0;
}

char *cq_windows_getcwd(char *out, size_t size)
{
    wchar_t     wide[CQ_WINDOWS_PATH];
    const DWORD n = GetCurrentDirectoryW(CQ_WINDOWS_PATH, wide);

    return n && n < CQ_WINDOWS_PATH && cq_windows_text(out, size, wide, true) ? out : NULL;
}
