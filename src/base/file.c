#define _GNU_SOURCE /* copy of large ranges by plain write; nothing exotic */
#include "base/file.h"
#include "base/progress.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct cq_mapping {
    atomic_int refs;
    void      *data;
    size_t     size;
    char       path[];
};

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
    close(fd);
    m = cq_alloc(sizeof *m + strlen(path) + 1);
    if (!m) {
        if (data)
            munmap(data, size);
        return CQ_E_NO_MEMORY;
    }
    atomic_init(&m->refs, 1);
    m->data = data;
    m->size = size;
    strcpy(m->path, path);
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
    if (m->data)
        munmap(m->data, m->size);
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
    char     *copy = cq_strdup(path);
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
enum { OUT_BUFFER = 1 << 16, OUT_PIECE = 1 << 23 };

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

static void write_all(cq_out *o, const char *data, size_t size)
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
