/* Reading files: maps, and files in a folder that a path must not leave. Writing is in out.c. */
#define _GNU_SOURCE /* madvise, O_PATH */
#include "base/mapping.h"

#include "base/posix.h"
#include "base/str.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files of up to this size are copied: that costs no more than the pages of a map. */
enum { COPY_SIZE = 1 << 20, MAX_LINKS = 40 };

struct cq_mapping {
    atomic_int  refs;
    void       *data;
    size_t      size;
    int         fd;
    bool        is_copy;
    dev_t       device;
    ino_t       inode;
    cq_mapping *next; /* of all open mappings */
    char        path[];
};

static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER;
static cq_mapping     *mappings;
static atomic_ullong   n_read; /* bytes of files that were opened */

uint64_t cq_mapping_n_read(void)
{
    return atomic_load(&n_read);
}

/* A file with several names is counted once. */
static void count_read(const cq_mapping *m)
{
    for (const cq_mapping *other = mappings; other; other = other->next)
        if (other->device == m->device && other->inode == m->inode)
            return;
    atomic_fetch_add(&n_read, m->size);
}

static void list_mapping(cq_mapping *m)
{
    pthread_mutex_lock(&mappings_lock);
    count_read(m);
    m->next  = mappings;
    mappings = m;
    pthread_mutex_unlock(&mappings_lock);
}

static void unlist_mapping(cq_mapping *m)
{
    pthread_mutex_lock(&mappings_lock);
    for (cq_mapping **at = &mappings; *at; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            break;
        }
    pthread_mutex_unlock(&mappings_lock);
}

cq_status cq_io_error(const char *path, const char *what)
{
    int code = errno;

    return cq_fail(code == ENOENT ? CQ_E_NOT_FOUND : CQ_E_IO, path, NULL, "cannot %s: %s", what,
                   strerror(code));
}

cq_status cq_file_shrank(const char *path)
{
    return cq_fail(CQ_E_IO, path, "wait until the file is written, and try again",
                   "the file became shorter while it was read");
}

/* Without O_NONBLOCK, opening a FIFO would block. */
#define READING (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static cq_status check_regular(int fd, struct stat *st, const char *path)
{
    const bool is_there = fstat(fd, st) == 0;

    if (!is_there || !S_ISREG(st->st_mode))
        return cq_fail(CQ_E_IO, path, NULL,
                       is_there && S_ISDIR(st->st_mode) ? "expected a file, got a folder"
                                                        : "expected a regular file");
    if ((uint64_t)st->st_size > PTRDIFF_MAX)
        return cq_fail(CQ_E_IO, path, NULL, "the file is too large");
    return CQ_OK;
}

static cq_status read_all(void *data, size_t size, int fd, const char *path)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, (char *)data + done, size - done, (off_t)done);

        if (n < 0 && errno != EINTR)
            return cq_io_error(path, "read the file");
        if (n == 0)
            return cq_file_shrank(path);
        done += n > 0 ? (size_t)n : 0;
    }
    return CQ_OK;
}

/* The bytes of a file in private pages: a private map, or memory that they are read into. */
static cq_status map_bytes(void **data, size_t size, bool is_copy, int fd, const char *path)
{
    *data = NULL;
    if (!size)
        return CQ_OK;
    *data = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_NORESERVE | (is_copy ? MAP_ANONYMOUS : 0), is_copy ? -1 : fd, 0);
    if (*data == MAP_FAILED) {
        *data = NULL;
        return cq_io_error(path, "map the file");
    }
    return is_copy ? read_all(*data, size, fd, path) : CQ_OK;
}

/* Takes ownership of fd. */
static cq_status map_fd(cq_mapping **out, int fd, const char *path)
{
    cq_mapping *m    = NULL;
    void       *data = NULL;
    size_t      size = 0;
    struct stat st;
    cq_status   status;

    CQ_TRY_OR_DONE(check_regular(fd, &st, path));
    size = (size_t)st.st_size;
    CQ_TRY_OR_DONE(map_bytes(&data, size, size <= COPY_SIZE, fd, path));
    m      = cq_alloc(sizeof *m + strlen(path) + 1);
    status = m ? CQ_OK : CQ_E_NO_MEMORY;
done:
    if (status != CQ_OK) {
        if (data)
            munmap(data, size);
        close(fd);
        return status;
    }
    atomic_init(&m->refs, 1);
    m->data    = data;
    m->size    = size;
    m->fd      = fd;
    m->is_copy = size <= COPY_SIZE;
    m->device  = st.st_dev;
    m->inode   = st.st_ino;
    strcpy(m->path, path);
    list_mapping(m);
    *out = m;
    return CQ_OK;
}

cq_status cq_mapping_zeros(cq_mapping **out, size_t size)
{
    cq_mapping *m = *out = cq_zalloc(sizeof *m + 1);

    if (!m)
        return CQ_E_NO_MEMORY;
    m->data = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m->data == MAP_FAILED) {
        cq_free(m);
        *out = NULL;
        return cq_no_memory();
    }
    atomic_init(&m->refs, 1);
    m->size    = size ? size : 1;
    m->fd      = -1;
    m->is_copy = true;
    list_mapping(m);
    return CQ_OK;
}

cq_status cq_mapping_open(cq_mapping **out, const char *path)
{
    int fd = open(path, READING);

    *out = NULL;
    return fd < 0 ? cq_io_error(path, "open the file") : map_fd(out, fd, path);
}

/* ---- inside a folder ---- */

static cq_status leads_out(const char *path)
{
    return cq_fail(CQ_E_FORMAT, path, "put a copy of the file itself beside the model",
                   "the path of the file, or a link in it, leads out of the folder");
}

#ifndef _WIN32

/* Replaces a link by its target, before the rest of the path; false if it is not a link, or a link
 * that must not be followed. */
static bool follow_link(char *rest, int folder, const char *name, const char *after, int *links)
{
    char    target[PATH_MAX];
    ssize_t n = readlinkat(folder, name, target, sizeof target - 1);

    if (n <= 0 || *target == '/' || ++*links > MAX_LINKS ||
        (size_t)n + 1 + strlen(after) >= sizeof target)
        return false;
    target[n] = '\0';
    if (*after) {
        strcat(target, "/");
        strcat(target, after);
    }
    strcpy(rest, target);
    return true;
}

/* Walks down from the folder *fd, component by component, without following links implicitly. A
 * relative link without ".." is followed here; others could lead outside. At the end *fd is the
 * file. */
static cq_status descend(int *fd, const char *location, const char *path)
{
    const int into_folder = O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC;
    char      rest[PATH_MAX], *at = rest;
    int       links = 0;

    if (strlen(location) >= sizeof rest || *location == '/')
        return leads_out(path);
    strcpy(rest, location);
    while (*at) {
        const size_t len   = strcspn(at, "/");
        char        *after = at + len + strspn(at + len, "/");
        int          next, code;

        at[len] = '\0';
        if (strcmp(at, "..") == 0)
            return leads_out(path);
        next = openat(*fd, at, *after ? into_folder : READING | O_NOFOLLOW);
        code = errno;
        if (next < 0 && (code == ELOOP || code == ENOTDIR)) { /* the error for a link */
            if (follow_link(rest, *fd, at, after, &links)) {
                at = rest;
                continue;
            }
            if (code == ELOOP)
                return leads_out(path);
        }
        errno = code;
        if (next < 0)
            return cq_io_error(path, "open the file");
        close(*fd);
        *fd = next;
        at  = after;
    }
    return CQ_OK;
}

/* Opens path, which is location relative to folder. */
static cq_status open_below(int *fd, const char *folder, const char *location, const char *path)
{
    *fd = open(*folder ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return *fd < 0 ? cq_io_error(folder, "open the folder") : descend(fd, location, path);
}

#else

/* On Windows, creating links needs a privilege; they are not followed. */
static cq_status open_below(int *fd, const char *folder, const char *location, const char *path)
{
    if (!cq_windows_is_below(folder, location))
        return leads_out(path);
    *fd = open(path, READING);
    return *fd < 0 ? cq_io_error(path, "open the file") : CQ_OK;
}

#endif

cq_status cq_mapping_open_in(cq_mapping **out, const char *folder, const char *location)
{
    cq_str    path = { 0 };
    int       fd   = -1;
    cq_status status;

    *out = NULL;
    cq_str_add(&path, folder);
    if (path.len && !CQ_IS_SEPARATOR(path.text[path.len - 1]))
        cq_str_add_char(&path, '/');
    cq_str_add(&path, location);
    CQ_TRY_OR_DONE(path.status);
    CQ_TRY_OR_DONE(open_below(&fd, folder, location, path.text));
    status = map_fd(out, fd, path.text);
    fd     = -1;
done:
    if (fd >= 0)
        close(fd);
    cq_str_clear(&path);
    return status;
}

bool cq_mapping_is_of(const cq_mapping *m, const char *path)
{
    struct stat a, b;

    return fstat(m->fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

void cq_mapping_identity(const cq_mapping *m, char *out, size_t size)
{
    snprintf(out, size, "%llx:%llx", (unsigned long long)m->device, (unsigned long long)m->inode);
}

/* The mapping that contains the bytes, or NULL; it is valid only while they are mapped. */
static const cq_mapping *mapping_of(const void *data, size_t size)
{
    const char       *from = data;
    const cq_mapping *m;

    pthread_mutex_lock(&mappings_lock);
    for (m = mappings; m; m = m->next)
        if (m->data && from >= (char *)m->data && size <= m->size &&
            (size_t)(from - (char *)m->data) <= m->size - size)
            break;
    pthread_mutex_unlock(&mappings_lock);
    return m;
}

int cq_mapping_fd_of(const void *data, size_t size, uint64_t *offset, const char **path)
{
    const cq_mapping *m = mapping_of(data, size);

    if (!m || m->is_copy)
        return -1;
    *offset = (uint64_t)((const char *)data - (const char *)m->data);
    *path   = m->path;
    return m->fd;
}

cq_mapping *cq_mapping_retain(cq_mapping *m)
{
    if (m)
        atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void cq_mapping_release(cq_mapping *m)
{
    if (!m || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1)
        return;
    unlist_mapping(m);
    if (m->data)
        munmap(m->data, m->size);
    if (m->fd >= 0)
        close(m->fd);
    cq_free(m);
}

const void *cq_mapping_data(const cq_mapping *m)
{
    return m->data;
}

size_t cq_mapping_size(const cq_mapping *m)
{
    return m->size;
}

const char *cq_mapping_path(const cq_mapping *m)
{
    return m->path;
}

void cq_mapping_read(const void *data, size_t size)
{
    uintptr_t         page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t         from = ((uintptr_t)data + page - 1) / page * page;
    uintptr_t         to   = ((uintptr_t)data + size) / page * page; /* whole pages only */
    const cq_mapping *m    = data ? mapping_of(data, size) : NULL;

    if (m && !m->is_copy && from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

cq_status cq_file_read(char **out, size_t *size, const char *path)
{
    cq_mapping *m;

    *out = NULL;
    CQ_TRY(cq_mapping_open(&m, path));
    *out = cq_strndup(m->data ? m->data : "", m->size);
    if (size)
        *size = m->size;
    cq_mapping_release(m);
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}

cq_file_type cq_file_type_of(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return CQ_FILE_NONE;
    return S_ISDIR(st.st_mode)   ? CQ_FILE_FOLDER
           : S_ISREG(st.st_mode) ? CQ_FILE_REGULAR
                                 : CQ_FILE_NONE;
}
