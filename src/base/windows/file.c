/* Files of POSIX on Windows: descriptors of the C library for handles of Windows. */
#include "base/windows/posix.h"
#include "base/windows/text.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>

enum { ALL_SHARED = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

static HANDLE handle_of(int fd)
{
    return (HANDLE)_get_osfhandle(fd);
}

static bool has_attribute(const wchar_t *path, DWORD attribute)
{
    const DWORD found = GetFileAttributesW(path);

    return found != INVALID_FILE_ATTRIBUTES && (found & attribute);
}

/* ---- opening ---- */

static HANDLE open_handle(const wchar_t *path, int flags)
{
    const DWORD wants = (flags & O_RDWR)     ? GENERIC_READ | GENERIC_WRITE
                        : (flags & O_WRONLY) ? GENERIC_WRITE
                                             : GENERIC_READ;
    const DWORD how   = (flags & O_EXCL)    ? CREATE_NEW
                        : (flags & O_CREAT) ? OPEN_ALWAYS
                                            : OPEN_EXISTING;
    DWORD       extra = FILE_ATTRIBUTE_NORMAL;

    if (!(flags & (O_WRONLY | O_RDWR)))
        extra |= FILE_FLAG_BACKUP_SEMANTICS; /* for folders */
    if (flags & O_NOFOLLOW)
        extra |= FILE_FLAG_OPEN_REPARSE_POINT;
    if (flags & O_TEMPORARY)
        extra |= FILE_FLAG_DELETE_ON_CLOSE | FILE_ATTRIBUTE_TEMPORARY;
    return CreateFileW(path, wants, ALL_SHARED, NULL, how, extra, NULL);
}

int cq_windows_open(const char *path, int flags, ...)
{
    wchar_t wide[CQ_WINDOWS_PATH];
    HANDLE  handle;
    int     fd;

    if (!cq_windows_path(wide, path))
        return -1;
    if ((flags & O_DIRECTORY) && !has_attribute(wide, FILE_ATTRIBUTE_DIRECTORY)) {
        errno = GetFileAttributesW(wide) == INVALID_FILE_ATTRIBUTES ? ENOENT : ENOTDIR;
        return -1;
    }
    handle = open_handle(wide, flags);
    if (handle == INVALID_HANDLE_VALUE)
        return cq_windows_fail();
    fd = _open_osfhandle((intptr_t)handle, _O_BINARY | _O_NOINHERIT);
    if (fd < 0)
        CloseHandle(handle);
    return fd;
}

int cq_windows_duplicate(int fd)
{
    HANDLE copy;

    if (!DuplicateHandle(GetCurrentProcess(), handle_of(fd), GetCurrentProcess(), &copy, 0, FALSE,
                         DUPLICATE_SAME_ACCESS))
        return cq_windows_fail();
    fd = _open_osfhandle((intptr_t)copy, _O_BINARY | _O_NOINHERIT);
    if (fd < 0)
        CloseHandle(copy);
    return fd;
}

/* ---- locks of folders ---- */

/* LockFile does not take folders. A mutex is released when its process dies, as a lock of flock is.
 */
enum { MAX_LOCKS = 2048 };
static HANDLE locks[MAX_LOCKS]; /* by descriptor */

int cq_windows_flock(int fd, int how)
{
    struct stat st;
    wchar_t     name[64];
    HANDLE      mutex;
    DWORD       result;

    (void)how;
    if (fd < 0 || fd >= MAX_LOCKS || fstat(fd, &st) < 0) {
        errno = EBADF;
        return -1;
    }
    _snwprintf(name, 64, L"Local\\calque-%llx-%llx", (unsigned long long)st.st_dev,
               (unsigned long long)st.st_ino);
    mutex = CreateMutexW(NULL, FALSE, name);
    if (!mutex)
        return cq_windows_fail();
    result = WaitForSingleObject(mutex, 0);
    if (result != WAIT_OBJECT_0 && result != WAIT_ABANDONED) {
        CloseHandle(mutex);
        errno = EWOULDBLOCK;
        return -1;
    }
    locks[fd] = mutex;
    return 0;
}

int cq_windows_close(int fd)
{
    if (fd >= 0 && fd < MAX_LOCKS && locks[fd]) {
        ReleaseMutex(locks[fd]);
        CloseHandle(locks[fd]);
        locks[fd] = NULL;
    }
    return _close(fd);
}

/* ---- what a file is ---- */

static struct timespec time_of(FILETIME t)
{
    const int64_t ticks = (int64_t)t.dwHighDateTime << 32 | t.dwLowDateTime; /* 100 ns since 1601 */
    const int64_t since = ticks - 116444736000000000;

    return (struct timespec){ since / 10000000, (long)(since % 10000000 * 100) };
}

static int stat_handle(HANDLE handle, struct stat *st)
{
    BY_HANDLE_FILE_INFORMATION info;
    const DWORD                type = GetFileType(handle);

    memset(st, 0, sizeof *st);
    if (type != FILE_TYPE_DISK) {
        st->st_mode = type == FILE_TYPE_PIPE ? S_IFIFO : S_IFCHR;
        return 0;
    }
    if (!GetFileInformationByHandle(handle, &info))
        return cq_windows_fail();
    st->st_dev  = info.dwVolumeSerialNumber;
    st->st_ino  = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow;
    st->st_size = (int64_t)((uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow);
    st->st_mtim = time_of(info.ftLastWriteTime);
    st->st_mode = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY  ? S_IFDIR | 0777
                  : info.dwFileAttributes & FILE_ATTRIBUTE_READONLY ? S_IFREG | 0444
                                                                    : S_IFREG | 0666;
    return 0;
}

int cq_windows_fstat(int fd, struct stat *st)
{
    return stat_handle(handle_of(fd), st);
}

static int stat_path(const char *path, struct stat *st, DWORD flags)
{
    wchar_t wide[CQ_WINDOWS_PATH];
    HANDLE  handle;
    int     result;

    if (!cq_windows_path(wide, path))
        return -1;
    handle = CreateFileW(wide, FILE_READ_ATTRIBUTES, ALL_SHARED, NULL, OPEN_EXISTING,
                         FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
    if (handle == INVALID_HANDLE_VALUE)
        return cq_windows_fail();
    result = stat_handle(handle, st);
    CloseHandle(handle);
    return result;
}

int cq_windows_stat(const char *path, struct stat *st)
{
    if (strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0) /* see out.c */
        return fstat(path[8] == 'o' ? 1 : 2, st);
    return stat_path(path, st, 0);
}

/* Links and junctions are reparse points, but so are files in a cloud, which are not links. */
static bool is_link(const wchar_t *path)
{
    WIN32_FIND_DATAW found;
    HANDLE           search;

    if (!has_attribute(path, FILE_ATTRIBUTE_REPARSE_POINT))
        return false;
    search = FindFirstFileW(path, &found);
    if (search == INVALID_HANDLE_VALUE)
        return true;
    FindClose(search);
    return found.dwReserved0 == IO_REPARSE_TAG_SYMLINK ||
           found.dwReserved0 == IO_REPARSE_TAG_MOUNT_POINT;
}

int cq_windows_lstat(const char *path, struct stat *st)
{
    wchar_t wide[CQ_WINDOWS_PATH];

    if (!cq_windows_path(wide, path))
        return -1;
    if (stat_path(path, st, FILE_FLAG_OPEN_REPARSE_POINT) < 0)
        return -1;
    if (is_link(wide))
        st->st_mode = S_IFLNK | 0777;
    return 0;
}

int cq_windows_access(const char *path, int mode)
{
    wchar_t wide[CQ_WINDOWS_PATH];
    DWORD   found;

    if (!cq_windows_path(wide, path))
        return -1;
    found = GetFileAttributesW(wide);
    if (found == INVALID_FILE_ATTRIBUTES)
        return cq_windows_fail();
    if ((mode & W_OK) && (found & FILE_ATTRIBUTE_READONLY) && !(found & FILE_ATTRIBUTE_DIRECTORY)) {
        errno = EACCES;
        return -1;
    }
    return 0;
}

/* The target of a whole chain of links at once, absolute. */
ssize_t cq_windows_readlink(const char *path, char *target, size_t size)
{
    wchar_t wide[CQ_WINDOWS_PATH], found[CQ_WINDOWS_PATH];
    HANDLE  handle;
    DWORD   n;

    if (!cq_windows_path(wide, path))
        return -1;
    if (!is_link(wide)) {
        errno = EINVAL;
        return -1;
    }
    handle =
        CreateFileW(wide, 0, ALL_SHARED, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (handle == INVALID_HANDLE_VALUE)
        return cq_windows_fail();
    n = GetFinalPathNameByHandleW(handle, found, CQ_WINDOWS_PATH, 0);
    CloseHandle(handle);
    if (!n || n >= CQ_WINDOWS_PATH)
        return cq_windows_fail();
    if (wcsncmp(found, L"\\\\?\\", 4) == 0 && wcsncmp(found + 4, L"UNC", 3) != 0)
        wmemmove(found, found + 4, wcslen(found + 4) + 1);
    return cq_windows_text(target, size, found, true) ? (ssize_t)strlen(target) : -1;
}

static bool is_device_name(const char *name, size_t len)
{
    static const char *const devices[] = { "con", "prn", "aux", "nul", "conin$", "conout$" };
    const size_t             stem      = strcspn(name, ".: ") < len ? strcspn(name, ".: ") : len;

    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (stem == strlen(devices[i]) && _strnicmp(name, devices[i], stem) == 0)
            return true;
    return stem == 4 && (_strnicmp(name, "com", 3) == 0 || _strnicmp(name, "lpt", 3) == 0) &&
           name[3] >= '0' && name[3] <= '9';
}

/* Windows ignores periods and spaces at the end of a name, so that "... " may be "..". */
bool cq_windows_is_below(const char *folder, const char *location)
{
    char    path[PATH_MAX];
    wchar_t wide[CQ_WINDOWS_PATH];
    size_t  n = strlen(folder);

    if (n + strlen(location) + 2 > sizeof path || CQ_IS_SEPARATOR(*location))
        return false;
    strcpy(path, folder);
    for (const char *at = location; *at;) {
        const size_t len = strcspn(at, "/\\");

        if (memchr(at, ':', len) || is_device_name(at, len) ||
            (len && strspn(at, ". ") >= len && !(len == 1 && *at == '.')))
            return false;
        if (n && !CQ_IS_SEPARATOR(path[n - 1]))
            path[n++] = '/';
        memcpy(path + n, at, len);
        n += len;
        path[n] = '\0';
        if (!cq_windows_path(wide, path) || is_link(wide))
            return false;
        at += len + strspn(at + len, "/\\");
    }
    return true;
}

/* ---- reading and writing ---- */

ssize_t cq_windows_pread(int fd, void *data, size_t size, int64_t offset)
{
    OVERLAPPED at = { .Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32) };
    DWORD      n  = 0;

    if (!ReadFile(handle_of(fd), data, size < 1 << 30 ? (DWORD)size : 1 << 30, &n, &at) &&
        GetLastError() != ERROR_HANDLE_EOF)
        return cq_windows_fail();
    return (ssize_t)n;
}

ssize_t cq_windows_pwrite(int fd, const void *data, size_t size, int64_t offset)
{
    OVERLAPPED at = { .Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32) };
    DWORD      n  = 0;

    if (!WriteFile(handle_of(fd), data, size < 1 << 30 ? (DWORD)size : 1 << 30, &n, &at))
        return cq_windows_fail();
    return (ssize_t)n;
}

int64_t cq_windows_lseek(int fd, int64_t offset, int from)
{
    return _lseeki64(fd, offset, from);
}

/* Flushing needs the right to write, which a descriptor for reading does not have. */
int cq_windows_fsync(int fd)
{
    const HANDLE handle = ReOpenFile(handle_of(fd), GENERIC_WRITE, ALL_SHARED, 0);
    BOOL         done;

    if (handle == INVALID_HANDLE_VALUE)
        return cq_windows_fail();
    done = FlushFileBuffers(handle);
    if (!done)
        cq_windows_fail();
    CloseHandle(handle);
    return done ? 0 : -1;
}

/* ---- changes ---- */

typedef BOOL(WINAPI *path_call)(LPCWSTR path);

static int call_with_path(path_call call, const char *path)
{
    wchar_t wide[CQ_WINDOWS_PATH];

    return !cq_windows_path(wide, path) ? -1 : call(wide) ? 0 : cq_windows_fail();
}

int cq_windows_unlink(const char *path)
{
    return call_with_path(DeleteFileW, path);
}

int cq_windows_rmdir(const char *path)
{
    return call_with_path(RemoveDirectoryW, path);
}

int cq_windows_mkdir(const char *path, int mode)
{
    wchar_t wide[CQ_WINDOWS_PATH];

    (void)mode;
    if (!cq_windows_path(wide, path))
        return -1;
    return CreateDirectoryW(wide, NULL) ? 0 : cq_windows_fail();
}

int cq_windows_link(const char *from, const char *to)
{
    wchar_t old[CQ_WINDOWS_PATH], new[CQ_WINDOWS_PATH];

    if (!cq_windows_path(old, from) || !cq_windows_path(new, to))
        return -1;
    return CreateHardLinkW(new, old, NULL) ? 0 : cq_windows_fail();
}

int cq_windows_rename_new(const char *from, const char *to)
{
    wchar_t old[CQ_WINDOWS_PATH], new[CQ_WINDOWS_PATH];

    if (!cq_windows_path(old, from) || !cq_windows_path(new, to))
        return -1;
    return MoveFileExW(old, new, MOVEFILE_WRITE_THROUGH) ? 0 : cq_windows_fail();
}

/* A mapped file cannot be replaced or deleted, but renamed: it keeps a temporary name until the
 * process ends. */
enum { MAX_ASIDE = 8 };
static wchar_t     aside[MAX_ASIDE][CQ_WINDOWS_PATH];
static atomic_uint n_aside;

static void delete_aside(void)
{
    for (unsigned i = 0; i < atomic_load(&n_aside) && i < MAX_ASIDE; i++)
        DeleteFileW(aside[i]);
}

static bool move_aside(const wchar_t *path)
{
    const unsigned i = atomic_fetch_add(&n_aside, 1);
    uint64_t       number;

    if (i >= MAX_ASIDE || getentropy(&number, sizeof number) != 0 ||
        _snwprintf(aside[i], CQ_WINDOWS_PATH, L"%ls.calque-%016llx.old", path,
                   (unsigned long long)number) < 0)
        return false;
    if (i == 0)
        atexit(delete_aside);
    return MoveFileExW(path, aside[i], 0) && (DeleteFileW(aside[i]) || true);
}

int cq_windows_rename(const char *from, const char *to)
{
    wchar_t   old[CQ_WINDOWS_PATH], new[CQ_WINDOWS_PATH];
    const int how = MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH;

    if (!cq_windows_path(old, from) || !cq_windows_path(new, to))
        return -1;
    if (MoveFileExW(old, new, how))
        return 0;
    if (has_attribute(new, FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_DIRECTORY) || !move_aside(new))
        return cq_windows_fail();
    return MoveFileExW(old, new, how) ? 0 : cq_windows_fail();
}
