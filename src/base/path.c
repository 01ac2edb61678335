/* Paths, folders and time on POSIX. base/windows has the calls that Windows lacks. */
#include "base/path.h"

#include "base/posix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- paths ---- */

CQ_API cq_path_kind cq_path_look_up(const char *path, uint64_t *size)
{
    struct stat st;

    CQ_NEED_ELSE(path, CQ_PATH_MISSING);
    if (size)
        *size = 0;
    if (stat(path, &st) < 0)
        return CQ_PATH_MISSING;
    if (size && S_ISREG(st.st_mode))
        *size = (uint64_t)st.st_size;
    return S_ISREG(st.st_mode)   ? CQ_PATH_FILE
           : S_ISDIR(st.st_mode) ? CQ_PATH_FOLDER
                                 : CQ_PATH_OTHER;
}

CQ_API bool cq_path_exists(const char *path)
{
    CQ_NEED_ELSE(path, false);
    return access(path, F_OK) == 0;
}

CQ_API bool cq_path_is_readable(const char *path)
{
    CQ_NEED_ELSE(path, false);
    return access(path, R_OK) == 0;
}

CQ_API bool cq_path_read_start(const char *path, void *data, size_t size, size_t *n)
{
    struct stat st;
    ssize_t     got = 1;
    int         fd, code;

    CQ_NEED_ELSE(path && data && n, false);
    *n = 0;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_BINARY);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        got   = -1;
    }
    while (got > 0 && *n < size) {
        const size_t want = size - *n < 1 << 20 ? size - *n : 1 << 20;

        do
            got = read(fd, (char *)data + *n, want);
        while (got < 0 && errno == EINTR);
        *n += got > 0 ? (size_t)got : 0;
    }
    code = errno;
    close(fd);
    errno = code;
    return got >= 0;
}

CQ_API bool cq_path_is_same(const char *a, const char *b)
{
    struct stat one, other;

    CQ_NEED_ELSE(a && b, false);
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* The system follows links, so the walk goes up from the last existing folder of the path. */
bool cq_path_is_below(const char *path, const char *folder)
{
    char   at[4096], up[sizeof at];
    size_t n = strlen(path);

    if (n + 4 > sizeof at || cq_path_entry(path, NULL) == CQ_ENTRY_LINK)
        return false;
    memcpy(at, path, n + 1);
    while (n && cq_path_look_up(at, NULL) != CQ_PATH_FOLDER) {
        while (n && !CQ_IS_SEPARATOR(at[n - 1]))
            n--;
        while (n > 1 && CQ_IS_SEPARATOR(at[n - 1]))
            n--;
        at[n] = '\0';
        if (n == 1 && CQ_IS_SEPARATOR(at[0]))
            break;
    }
    if (!n)
        strcpy(at, ".");
    while (!cq_path_is_same(at, folder)) {
        if (strlen(at) + 4 > sizeof up)
            return false;
        strcpy(up, at);
        strcat(up, "/..");
        if (!cq_path_exists(up) || cq_path_is_same(at, up)) /* the root */
            return false;
        strcpy(at, up);
    }
    return true;
}

#ifndef _WIN32 /* base/windows/program.c */
const char *cq_path_temporary(void)
{
    const char *folder = getenv("TMPDIR");

    return folder && *folder ? folder : "/tmp";
}
#endif

CQ_API const char *cq_path_separator(const char *path)
{
    const char *last = NULL;

    CQ_NEED_ELSE(path, NULL);
    for (; *path; path++)
        if (CQ_IS_SEPARATOR(*path))
            last = path;
    return last;
}

CQ_API const char *cq_path_name(const char *path)
{
    const char *slash = cq_path_separator(path);

    return slash ? slash + 1 : path;
}

bool cq_path_is_absolute(const char *path)
{
    return CQ_IS_SEPARATOR(*path) || CQ_HAS_DRIVE(path);
}

bool cq_path_has_other_names(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 1;
}

cq_entry_kind cq_path_entry(const char *path, uint64_t *size)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return CQ_ENTRY_MISSING;
    if (size)
        *size = (uint64_t)st.st_size;
    return S_ISREG(st.st_mode)   ? CQ_ENTRY_FILE
           : S_ISDIR(st.st_mode) ? CQ_ENTRY_FOLDER
           : S_ISLNK(st.st_mode) ? CQ_ENTRY_LINK
                                 : CQ_ENTRY_OTHER;
}

bool cq_path_working_folder(char *out, size_t size)
{
    return getcwd(out, size) != NULL;
}

cq_status cq_folder_each(const char *folder, cq_name_fn visit, void *user, bool *opened)
{
    DIR                 *dir = opendir(folder);
    const struct dirent *entry;
    cq_status            status = CQ_OK;

    if (opened)
        *opened = dir != NULL;
    if (!dir)
        return cq_fail(errno == ENOENT ? CQ_E_NOT_FOUND : CQ_E_IO, folder, NULL,
                       "cannot open the folder: %s", strerror(errno));
    while (status == CQ_OK && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = visit(user, entry->d_name);
    closedir(dir);
    return status;
}

bool cq_path_read_text(char *text, size_t size, const char *path)
{
    struct stat st;
    ssize_t     n  = -1;
    int         fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_BINARY);

    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size < size)
        n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n >= 0 && !memchr(text, '\0', (size_t)n);
}

/* ---- time and the process ---- */

bool cq_time_local_text(char *out, size_t size)
{
    struct timespec t;
    struct tm       local;
    size_t          n;

    clock_gettime(CLOCK_REALTIME, &t);
    if (!localtime_r(&t.tv_sec, &local))
        return false;
    n = strftime(out, size, "%Y-%m-%dT%H:%M:%S", &local);
    snprintf(out + n, size - n, ".%06ld", t.tv_nsec / 1000);
    return true;
}

bool cq_time_utc_text(char *out, size_t size, int64_t seconds)
{
    const time_t t = (time_t)seconds;
    struct tm    utc;

    return gmtime_r(&t, &utc) && strftime(out, size, "%Y-%m-%d %H:%M:%S", &utc) > 0;
}

long cq_process_id(void)
{
    return (long)getpid();
}
