/* Outputs; file.h documents the guarantees. batch.c renames them. */
#define _GNU_SOURCE /* pagemap's pread of large offsets */
#include "base/cancel.h"
#include "base/change.h"
#include "base/lock.h"
#include "base/mapping.h"
#include "base/posix.h"
#include "base/progress.h"
#include "base/stage.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- limits ---- */

static atomic_ullong most_bytes = UINT64_MAX, n_written;
static atomic_uint   most_times;

CQ_API void cq_limit_outputs(uint64_t bytes, uint32_t times)
{
    atomic_store(&most_bytes, bytes);
    atomic_store(&most_times, times);
    atomic_store(&n_written, 0);
}

cq_status cq_out_allow(uint64_t size, const char *path)
{
    const uint64_t fixed = atomic_load(&most_bytes), written = atomic_load(&n_written);
    const double   most =
        (double)fixed + (double)atomic_load(&most_times) * (double)cq_mapping_n_read();

    if (fixed == UINT64_MAX || (double)written + (double)size <= most)
        return CQ_OK;
    return cq_fail(CQ_E_UNSUPPORTED, path, "allow it with --allow-large-output (cq_limit_outputs)",
                   "the output would have %.0f MB or more, but %.0f MB are allowed for an input of "
                   "this size",
                   ((double)written + (double)size) / 1e6, most / 1e6);
}

/* ---- outputs ---- */

/* A piece is written at once: it is large, but small enough to show progress in between. */
enum { OUT_BUFFER = 1 << 18, OUT_PIECE = 1 << 23, OUT_COPY = 1 << 18, OUT_HOLE = 1 << 16 };

struct cq_out {
    int        fd;       /* -1: memory */
    cq_waiting file;     /* the temporary name is NULL if path itself is written */
    bool       has_hole; /* of a new file, whose size may have to be set at the end */
    char      *buffer;   /* pending bytes of a file, or all bytes of a memory output */
    size_t     n, cap;
    uint64_t   offset;
    cq_status  status;
};

static void out_free(cq_out *o)
{
    cq_waiting_clear(&o->file);
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

/* The descriptor of an open file that path names (/dev/fd/3), otherwise -1: opening it again would
 * start at its beginning. */
static int descriptor_of(const char *path)
{
    int n = -1, end = 0;

    if (strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0)
        return strcmp(path, "/dev/stdout") == 0 ? STDOUT_FILENO : STDERR_FILENO;
    if (sscanf(path, "/dev/fd/%4d%n", &n, &end) != 1 &&
        sscanf(path, "/proc/self/fd/%4d%n", &n, &end) != 1)
        return -1;
    return path[end] ? -1 : n;
}

static cq_status cannot_create(const char *path)
{
    const int       error  = errno;
    const cq_status status = cq_io_error(path, "create the file");

    if (error == ENOENT)
        cq_error_add_hint(status, "create the folder first");
    if (error == ENOTDIR)
        cq_error_add_hint(status, "the path goes through a file; expected a folder");
    return status;
}

static cq_status open_temporary(cq_out *o, mode_t mode)
{
    cq_waiting *f = &o->file;

    for (int i = 0; i < 16; i++) {
        CQ_TRY(cq_temporary_name(&f->temporary, f->path));
        f->mark = cq_leftover_new(CQ_LEFTOVER_FILE, f->temporary);
        o->fd   = cq_change_create(f->temporary, f->replaces ? mode & 0777 : 0666, f->replaces);
        if (o->fd >= 0)
            return CQ_OK;
        cq_leftover_drop(f->mark); /* before the name is released, because another file may take
                                    * it */
        f->mark = NULL;
        cq_free(f->temporary);
        f->temporary = NULL;
        if (errno != EEXIST)
            break;
    }
    return cannot_create(f->path);
}

static cq_status open_target(cq_out *o, const char *path)
{
    struct stat st;
    const bool  exists     = stat(path, &st) == 0;
    const int   descriptor = descriptor_of(path);

    if (exists && S_ISDIR(st.st_mode))
        return cq_fail(CQ_E_IO, path, NULL, "cannot write the file: the path is a folder");
    if (exists && (!S_ISREG(st.st_mode) || descriptor >= 0)) {
        o->file.path = cq_strdup(path);
        if (o->file.path)
            o->fd = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : cq_change_open(path);
        return !o->file.path ? CQ_E_NO_MEMORY
               : o->fd < 0   ? cq_io_error(path, "open the file")
                             : CQ_OK;
    }
    CQ_TRY(cq_follow_links(&o->file.path, path));
    o->file.replaces = exists;
    if (exists && access(o->file.path, W_OK) < 0)
        return cq_io_error(path, "write the file");
    return open_temporary(o, exists ? st.st_mode : 0);
}

static cq_status out_open(cq_out **out, const char *path, bool is_new)
{
    cq_out   *o;
    cq_status status;

    *out = NULL;
    CQ_TRY(cq_out_open_memory(&o));
    o->buffer      = cq_alloc(OUT_BUFFER);
    o->cap         = OUT_BUFFER;
    o->file.is_new = is_new;
    status         = o->buffer ? open_target(o, path) : CQ_E_NO_MEMORY;
    if (status != CQ_OK) {
        out_free(o);
        return status;
    }
    *out = o;
    return CQ_OK;
}

cq_status cq_out_open(cq_out **out, const char *path)
{
    return out_open(out, path, false);
}

cq_status cq_out_open_new(cq_out **out, const char *path)
{
    return out_open(out, path, true);
}

cq_status cq_file_write(const char *path, const void *data, size_t size)
{
    cq_out *o;

    CQ_TRY(cq_out_open(&o, path));
    cq_out_write(o, data, size);
    return cq_out_commit(o);
}

CQ_API cq_status cq_buffer_save(const char *path, const void *data, size_t size)
{
    CQ_NEED(path && (data || !size));
    return cq_file_write(path, data, size);
}

/* Usually the first word decides. */
static bool is_zero(const char *data, size_t size)
{
    static const char zeros[8];

    return size >= sizeof zeros && memcmp(data, zeros, sizeof zeros) == 0 &&
           memcmp(data, data + sizeof zeros, size - sizeof zeros) == 0;
}

/* Zeros need not be written to a new file: a hole takes no space on the disk. */
static bool leave_hole(cq_out *o, uint64_t size)
{
    if (size < OUT_HOLE || !o->file.temporary || size > INT64_MAX ||
        lseek(o->fd, (off_t)size, SEEK_CUR) < 0)
        return false;
    o->has_hole = true;
    return true;
}

/* A hole at the end of the file exists only if the last byte is written. If data follows the last
 * hole, the file already has its size. */
static void end_holes(cq_out *o)
{
    struct stat st;
    off_t       end;

    if (!o->has_hole || o->status != CQ_OK)
        return;
    end = lseek(o->fd, 0, SEEK_CUR);
    if (end < 0 || fstat(o->fd, &st) < 0 ||
        (st.st_size < end && pwrite(o->fd, "", 1, end - 1) != 1))
        o->status = cq_io_error(o->file.path, "write the file");
}

static void write_plain(cq_out *o, const char *data, size_t size)
{
    while (size && o->status == CQ_OK) {
        size_t  piece = size < OUT_PIECE ? size : OUT_PIECE;
        ssize_t done  = is_zero(data, piece) && leave_hole(o, piece) ? (ssize_t)piece
                                                                     : write(o->fd, data, piece);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            o->status = cq_io_error(o->file.path, "write the file");
            return;
        }
        atomic_fetch_add(&n_written, (unsigned long long)done);
        data += done;
        size -= (size_t)done;
        cq_progress_step((uint64_t)done);
        o->status = cq_check_cancelled();
    }
}

#ifdef __linux__
/* The descriptor of /proc/self/pagemap, or -1. It stays open, because an export uses it for every
 * piece of its weights. A child of fork opens its own. */
static int pagemap(void)
{
    static cq_mutex lock = CQ_MUTEX_INIT;
    static int      fd   = -1;
    static pid_t    owner;
    int             found;

    cq_mutex_lock(&lock);
    if (fd >= 0 && owner != getpid()) {
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    owner = getpid();
    found = fd;
    cq_mutex_unlock(&lock);
    return found;
}

/* Whether no page of a private map was written: /proc/self/pagemap has 8 bytes for each, with bit
 * 63: in memory, 62: in swap, 61: the file's own page. */
static bool is_unchanged(const void *data, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t last = ((uintptr_t)data + size - 1) / page;
    uint64_t        entries[512];
    bool            clean = true;
    const int       fd    = pagemap();

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
    return clean;
}

void cq_mapping_drop(const void *data, size_t size)
{
    uint64_t    offset;
    const char *path;

    if (size && cq_mapping_fd_of(data, size, &offset, &path) >= 0 && is_unchanged(data, size))
        cq_mapping_read(data, size);
}

void cq_mapping_copy(void *to, const void *data, size_t size)
{
    uint64_t    offset;
    const char *path;
    size_t      done = 0;
    const int   from = cq_mapping_fd_of(data, size, &offset, &path);

    while (from >= 0 && is_unchanged(data, size) && done < size) {
        const ssize_t n = pread(from, (char *)to + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    memcpy((char *)to + done, (const char *)data + done, size - done);
}

/* Writes a part of a mapped file through the buffer, which is empty. The buffer fits into the
 * second-level cache, so both copies together take half the time of faults for the pages of the
 * map. copy_file_range is no faster, writes every page twice if the offsets in the two files differ
 * by less than a page, and fills holes. Returns the number of bytes written; write_plain handles
 * the rest. */
static size_t copy_range(cq_out *o, const char *data, size_t size)
{
    uint64_t    offset;
    const char *path;
    size_t      done = 0;
    const int   fd   = cq_mapping_fd_of(data, size, &offset, &path);

    if (fd < 0 || !is_unchanged(data, size))
        return 0;
    while (done < size && o->status == CQ_OK) {
        const size_t  room = OUT_BUFFER - (size_t)((offset + done) % OUT_BUFFER);
        const size_t  n    = size - done < room ? size - done : room; /* reads end at whole pages */
        const ssize_t got  = pread(fd, o->buffer, n, (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break; /* write_plain reads the map */
        if (got == 0) {
            o->status = cq_file_shrank(path); /* an error, not SIGBUS */
            break;
        }
        write_plain(o, o->buffer, (size_t)got);
        done += (size_t)got;
    }
    return done;
}
#else
void cq_mapping_drop(const void *data, size_t size)
{
    (void)data;
    (void)size;
}

void cq_mapping_copy(void *to, const void *data, size_t size)
{
    memcpy(to, data, size);
}

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
        o->status = cq_out_allow(o->n + size, o->file.path);
        flush(o);
        if (size >= o->cap) { /* weights go straight from their map to the file */
            write_all(o, data, size);
            return;
        }
    }
    memcpy(o->buffer + o->n, data, size);
    o->n += size;
}

void cq_out_write_computed(cq_out *o, void (*make)(void *user, void *to, size_t from, size_t n),
                           void *user, size_t from, size_t size)
{
    char *piece = cq_alloc(OUT_COPY);

    if (!piece)
        o->status = CQ_E_NO_MEMORY;
    for (size_t at = 0; at < size && o->status == CQ_OK; at += OUT_COPY) {
        const size_t n = size - at < OUT_COPY ? size - at : OUT_COPY;

        make(user, piece, from + at, n);
        cq_out_write(o, piece, n);
    }
    cq_free(piece);
}

void cq_out_zeros(cq_out *o, uint64_t size)
{
    static const char zeros[OUT_HOLE];

    if (o->fd >= 0 && o->status == CQ_OK) {
        flush(o);
        if (o->status == CQ_OK && leave_hole(o, size)) {
            o->offset += size;
            cq_progress_step(size);
            return;
        }
    }
    for (; size && o->status == CQ_OK; size -= size < sizeof zeros ? size : sizeof zeros)
        cq_out_write(o, zeros, size < sizeof zeros ? (size_t)size : sizeof zeros);
}

uint64_t cq_out_offset(const cq_out *o)
{
    return o->offset;
}

/* Renames a complete file, or adds it to the batch. */
static cq_status place(cq_out *o)
{
    const cq_rename_how how = o->file.is_new ? CQ_RENAME_NEW : CQ_RENAME_REPLACE;

    if (!o->file.temporary)
        return CQ_OK;
    if (cq_batch_is_open()) {
        CQ_TRY(cq_batch_add(&o->file));
        o->file = (cq_waiting){ 0 };
        return CQ_OK;
    }
    if (o->file.replaces)
        CQ_TRY(cq_sync_file(o->file.temporary, o->file.path));
    return cq_change_rename(o->file.temporary, o->file.path, how) < 0
               ? cq_io_error(o->file.path, "put the file in place")
               : CQ_OK;
}

cq_status cq_out_commit(cq_out *o)
{
    cq_status status;

    flush(o);
    end_holes(o);
    if (close(o->fd) < 0 && o->status == CQ_OK)
        o->status = cq_io_error(o->file.path, "write the file");
    o->fd = -1;
    if (o->status == CQ_OK)
        o->status = place(o);
    if (o->status != CQ_OK && o->file.temporary)
        cq_change_delete(o->file.temporary);
    status = o->status;
    out_free(o);
    return status;
}

void cq_out_abandon(cq_out *o)
{
    if (!o)
        return;
    if (o->fd >= 0)
        close(o->fd);
    if (o->file.temporary)
        cq_change_delete(o->file.temporary);
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
