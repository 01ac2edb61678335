#include "base/windows/text.h"

#include <errno.h>
#include <string.h>
#include <windows.h>

int cq_windows_fail(void)
{
    static const struct {
        DWORD code;
        int   number;
    } table[] = {
        { ERROR_FILE_NOT_FOUND, ENOENT },
        { ERROR_PATH_NOT_FOUND, ENOENT },
        { ERROR_INVALID_DRIVE, ENOENT },
        { ERROR_BAD_NETPATH, ENOENT },
        { ERROR_INVALID_NAME, ENOENT },
        { ERROR_FILE_EXISTS, EEXIST },
        { ERROR_ALREADY_EXISTS, EEXIST },
        { ERROR_DIR_NOT_EMPTY, ENOTEMPTY },
        { ERROR_DISK_FULL, ENOSPC },
        { ERROR_HANDLE_DISK_FULL, ENOSPC },
        { ERROR_NOT_ENOUGH_MEMORY, ENOMEM },
        { ERROR_OUTOFMEMORY, ENOMEM },
        { ERROR_COMMITMENT_LIMIT, ENOMEM },
        { ERROR_TOO_MANY_OPEN_FILES, EMFILE },
        { ERROR_DIRECTORY, ENOTDIR },
        { ERROR_BROKEN_PIPE, EPIPE },
        { ERROR_NO_DATA, EPIPE },
        { ERROR_INVALID_HANDLE, EBADF },
        { ERROR_NOT_SAME_DEVICE, EXDEV },
        { ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG },
        { ERROR_NOT_SUPPORTED, ENOSYS },
        { ERROR_INVALID_FUNCTION, ENOSYS },
    };
    const DWORD code = GetLastError();

    errno = EACCES; /* ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION and the like */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code)
            errno = table[i].number;
    return -1;
}

/* The prefix turns off the limit of MAX_PATH, and also "." and ".." and slashes, so that the full
 * name is needed. */
static bool lengthen(wchar_t out[CQ_WINDOWS_PATH])
{
    wchar_t     full[CQ_WINDOWS_PATH];
    const DWORD n = GetFullPathNameW(out, CQ_WINDOWS_PATH, full, NULL);

    if (!n || n + 9 > CQ_WINDOWS_PATH)
        return false;
    if (wcsncmp(full, L"\\\\", 2) == 0) { /* of another machine, or with a prefix */
        wcscpy(out, full[2] == '?' || full[2] == '.' ? L"" : L"\\\\?\\UNC");
        wcscat(out, full[2] == '?' || full[2] == '.' ? full : full + 1);
    } else {
        wcscpy(out, L"\\\\?\\");
        wcscat(out, full);
    }
    return true;
}

bool cq_windows_path(wchar_t out[CQ_WINDOWS_PATH], const char *path)
{
    const int n =
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, out, CQ_WINDOWS_PATH);

    if (n <= 0) {
        errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : EILSEQ;
        return false;
    }
    if (n < MAX_PATH - 12 || lengthen(out)) /* 12: of a file in a folder */
        return true;
    errno = ENAMETOOLONG;
    return false;
}

bool cq_windows_text(char *out, size_t size, const wchar_t *text, bool is_path)
{
    if (WideCharToMultiByte(CP_UTF8, 0, text, -1, out, (int)size, NULL, NULL) <= 0) {
        errno = ERANGE;
        return false;
    }
    for (char *p = out; is_path && *p; p++)
        if (*p == '\\')
            *p = '/';
    return true;
}
