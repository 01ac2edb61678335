#define _GNU_SOURCE /* madvise */
#include "base/file.h"
#include "base/progress.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct cq_mapping {
    atomic_int  refs;
    void       *data;
    size_t      size;
    int         fd;
    cq_mapping *next; /* of all that are open */
    char        path[];
};

static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER;
static cq_mapping     *mappings;

static void list_mapping(cq_mapping *m)
{
    pthread_mutex_lock(&mappings_lock);
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

static cq_status io_error(const char *path, const char *what)
{
    int code = errno;

    return cq_fail(code == ENOENT ? CQ_E_NOT_FOUND : CQ_E_IO, path, NULL, "cannot %s: %s", what,
                   strerror(code));
}

static cq_status open_regular(int *fd, size_t *size, const char *path)
{
    struct stat st;

    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return io_error(path, "open the file");
    if (fstat(*fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(*fd);
        return cq_fail(CQ_E_IO, path, NULL, "this is not a regular file");
    }
    *size = (size_t)st.st_size;
    return CQ_OK;
}

cq_status cq_mapping_open(cq_mapping **out, const char *path)
{
    cq_mapping *m;
    size_t      size;
    void       *data = NULL;
    int         fd;

    *out = NULL;
    CQ_TRY(open_regular(&fd, &size, path));
    if (size) {
        data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) {
            cq_status status = io_error(path, "map the file");

            close(fd);
            return status;
        }
    }
    m = cq_alloc(sizeof *m + strlen(path) + 1);
    if (!m) {
        if (data)
            munmap(data, size);
        close(fd);
        return CQ_E_NO_MEMORY;
    }
    atomic_init(&m->refs, 1);
    m->data = data;
    m->size = size;
    m->fd   = fd;
    strcpy(m->path, path);
    list_mapping(m);
    *out = m;
    return CQ_OK;
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
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)data + page - 1) / page * page;
    uintptr_t to   = ((uintptr_t)data + size) / page * page; /* whole pages only */

    if (data && from < to)
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

cq_status cq_file_write(const char *path, const void *data, size_t size)
{
    cq_out *o;

    CQ_TRY(cq_out_open(&o, path));
    cq_out_write(o, data, size);
    return cq_out_commit(o);
}

cq_status cq_dir_make(const char *path)
{
    char     *copy   = cq_strdup(path);
    cq_status status = CQ_OK;

    if (!copy)
        return CQ_E_NO_MEMORY;
    for (char *p = copy + 1; *copy && status == CQ_OK; p++) {
        char c = *p;

        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(copy, 0777) < 0 && errno != EEXIST)
            status = io_error(copy, "create the folder");
        *p = c;
        if (c == '\0')
            break;
    }
    cq_free(copy);
    return status;
}

/* A piece is what is written at once: large, but small enough to show progress in between. */
enum { OUT_BUFFER = 1 << 16, OUT_PIECE = 1 << 23, OUT_COPY = 1 << 18, OUT_STAGE = 1 << 20 };

struct cq_out {
    int       fd; /* -1: memory */
    char     *path, *temporary;
    char     *buffer; /* pending bytes of a file, or all bytes of a memory output */
    size_t    n, cap;
    uint64_t  offset;
    cq_status status;
};

static void out_free(cq_out *o)
{
    cq_free(o->path);
    cq_free(o->temporary);
    cq_free(o->buffer);
    cq_free(o);
}

cq_status cq_out_open_memory(cq_out **out)
{
    cq_out *o = *out = cq_zalloc(sizeof *o);

    if (!o)
        return CQ_E_NO_MEMORY;
    o->fd = -1;
    return CQ_OK;
}

cq_status cq_out_open(cq_out **out, const char *path)
{
    size_t  size = strlen(path) + 32;
    cq_out *o;

    *out = NULL;
    CQ_TRY(cq_out_open_memory(&o));
    o->path      = cq_strdup(path);
    o->temporary = cq_alloc(size);
    o->buffer    = cq_alloc(OUT_BUFFER);
    if (!o->path || !o->temporary || !o->buffer) {
        out_free(o);
        return CQ_E_NO_MEMORY;
    }
    o->cap = OUT_BUFFER;
    snprintf(o->temporary, size, "%s.%ld.part", path, (long)getpid());
    o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (o->fd < 0) {
        cq_status status = io_error(path, "create the file");

        out_free(o);
        return status;
    }
    *out = o;
    return CQ_OK;
}

static void write_plain(cq_out *o, const char *data, size_t size)
{
    while (size && o->status == CQ_OK) {
        size_t  piece = size < OUT_PIECE ? size : OUT_PIECE;
        ssize_t done  = write(o->fd, data, piece);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            o->status = io_error(o->path, "write the file");
            return;
        }
        data += done;
        size -= (size_t)done;
        cq_progress_step((uint64_t)done);
    }
}

#ifdef __linux__
/* Whether no page of a private map was written to: /proc/self/pagemap has 8 bytes for each, of
 * which bit 63 says that it is in memory, 62 in swap, and 61 that it is the file's own. */
static bool is_unchanged(const void *data, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t last = ((uintptr_t)data + size - 1) / page;
    uint64_t        entries[512];
    bool            clean = true;
    const int       fd    = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    for (uintptr_t at = (uintptr_t)data / page; at <= last && clean;) {
        const size_t  n   = last - at + 1 < 512 ? (size_t)(last - at + 1) : 512;
        const ssize_t got = pread(fd, entries, n * 8, (off_t)(at * 8));

        if (got != (ssize_t)(n * 8))
            clean = false;
        for (size_t i = 0; i < n && clean; i++)
            clean = !(entries[i] >> 62 & 1) && (!(entries[i] >> 63) || (entries[i] >> 61 & 1));
        at += n;
    }
    close(fd);
    return clean;
}

/* What of a mapped file is read from the file again instead of through the map, in pieces that stay
 * in the processor's cache: the pages of a map are dear to touch for the first time, and
 * copy_file_range writes every page twice where the places in the two files differ by less than a
 * page. Returns how many bytes went; the rest is for write_plain. */
static size_t copy_range(cq_out *o, const char *data, size_t size)
{
    size_t done   = 0;
    off_t  offset = 0;
    int    from   = -1;
    char  *piece;

    pthread_mutex_lock(&mappings_lock);
    for (const cq_mapping *m = mappings; m && from < 0; m = m->next)
        if (m->data && data >= (char *)m->data && size <= m->size &&
            (size_t)(data - (char *)m->data) <= m->size - size) {
            from   = m->fd;
            offset = (off_t)(data - (char *)m->data);
        }
    pthread_mutex_unlock(&mappings_lock);
    if (from < 0 || !is_unchanged(data, size))
        return 0;
    piece = cq_alloc(OUT_STAGE);
    while (piece && done < size && o->status == CQ_OK) {
        const size_t  want = size - done < OUT_STAGE ? size - done : OUT_STAGE;
        const ssize_t n    = pread(from, piece, want, offset + (off_t)done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        write_plain(o, piece, (size_t)n);
        done += (size_t)n;
    }
    cq_free(piece);
    return done;
}
#else
static size_t copy_range(cq_out *o, const char *data, size_t size)
{
    (void)o;
    (void)data;
    (void)size;
    return 0;
}
#endif

static void write_all(cq_out *o, const char *data, size_t size)
{
    const size_t copied = size >= OUT_COPY && o->status == CQ_OK ? copy_range(o, data, size) : 0;

    write_plain(o, data + copied, size - copied);
}

static void flush(cq_out *o)
{
    write_all(o, o->buffer, o->n);
    o->n = 0;
}

void cq_out_write(cq_out *o, const void *data, size_t size)
{
    o->offset += size;
    if (o->status != CQ_OK || !size)
        return;
    if (o->fd < 0) {
        o->status = size > SIZE_MAX - o->n
                        ? cq_no_memory()
                        : cq_vec_grow((void **)&o->buffer, &o->cap, o->n + size, 1);
        if (o->status != CQ_OK)
            return;
    } else if (size > o->cap - o->n) {
        flush(o);
        if (size >= o->cap) { /* weights go straight from their map to the file */
            write_all(o, data, size);
            return;
        }
    }
    memcpy(o->buffer + o->n, data, size);
    o->n += size;
}

uint64_t cq_out_offset(const cq_out *o)
{
    return o->offset;
}

cq_status cq_out_commit(cq_out *o)
{
    cq_status status;

    flush(o);
    if (close(o->fd) < 0 && o->status == CQ_OK)
        o->status = io_error(o->path, "write the file");
    o->fd = -1;
    if (o->status == CQ_OK && rename(o->temporary, o->path) < 0)
        o->status = io_error(o->path, "put the file in place");
    if (o->status != CQ_OK)
        unlink(o->temporary);
    status = o->status;
    out_free(o);
    return status;
}

void cq_out_abandon(cq_out *o)
{
    if (!o)
        return;
    if (o->fd >= 0) {
        close(o->fd);
        unlink(o->temporary);
    }
    out_free(o);
}

cq_status cq_out_take_memory(cq_out *o, void **data, size_t *size)
{
    cq_status status = o->status;

    *data = NULL;
    *size = 0;
    if (status == CQ_OK) {
        *data     = o->buffer;
        *size     = o->n;
        o->buffer = NULL;
        if (!*data)
            *data = cq_alloc(1);
        if (!*data)
            status = CQ_E_NO_MEMORY;
    }
    out_free(o);
    return status;
}
