/* Files: mapped for reading, streamed for writing.
 *
 * Maps are private: a program that changes a tensor in place changes its own copy of the page,
 * never the file.
 *
 * A mapping is refcounted, because tensors keep views of it. A small file is copied instead, so
 * that truncating it has no effect; a large one that shrinks raises SIGBUS when it is read, and is
 * an error when it is copied to an output.
 *
 * An output is written to a temporary file beside its target and renamed by cq_out_commit; until
 * then the target is untouched, and cq_out_abandon leaves nothing behind. Links are followed;
 * devices and FIFOs are written directly. Several outputs that belong together are a batch. */
#ifndef CQ_BASE_FILE_H
#define CQ_BASE_FILE_H

#include "base/alloc.h"

#include <stdbool.h>

typedef struct cq_mapping cq_mapping;

cq_status cq_mapping_open(cq_mapping **out, const char *path);

/* Opens a file below a folder. location must not contain "..", and links must lead to files inside
 * the folder. */
cq_status   cq_mapping_open_in(cq_mapping **out, const char *folder, const char *location);
cq_mapping *cq_mapping_retain(cq_mapping *m);
void        cq_mapping_release(cq_mapping *m);
const void *cq_mapping_data(const cq_mapping *m);
size_t      cq_mapping_size(const cq_mapping *m);
const char *cq_mapping_path(const cq_mapping *m);

/* Zeroed memory that takes no physical memory until it is written. */
cq_status cq_mapping_zeros(cq_mapping **out, size_t size);

/* Declares that an unchanged part of a mapped file was read for the last time, so that it need not
 * stay in memory. Reading it again is correct, but slow. */
void cq_mapping_read(const void *data, size_t size);

/* The same for a part that may have been changed: changed pages are kept. */
void cq_mapping_drop(const void *data, size_t size);

/* memcpy from a file that may be mapped: an unchanged part is read from the file instead, because
 * the first access to pages of a map is expensive. */
void cq_mapping_copy(void *to, const void *data, size_t size);

/* Whether path refers to the mapped file, under any name. */
bool cq_mapping_is_of(const cq_mapping *m, const char *path);

/* A text that is equal for all mappings of one file, under any name. */
void cq_mapping_identity(const cq_mapping *m, char *out, size_t size);

/* Reads the whole file to the heap, terminated by a 0 that *size does not count. */
cq_status cq_file_read(char **out, size_t *size, const char *path);

/* The kind of a path, symbolic links followed. */
typedef enum cq_file_type { CQ_FILE_NONE, CQ_FILE_REGULAR, CQ_FILE_FOLDER } cq_file_type;
cq_file_type cq_file_type_of(const char *path);

/* Writes bytes to path, through a temporary name. */
cq_status cq_file_write(const char *path, const void *data, size_t size);

/* Creates a directory and its parents; an existing one is fine. */
cq_status cq_dir_make(const char *path);

/* Batches of files that replace others together. Between begin and end, files committed by this
 * thread keep their temporary names; end renames all of them in the order of the commits, then
 * deletes those named by cq_batch_delete. If status is a failure or one of these steps fails, it
 * undoes everything, including folders. It returns status or its own failure. Batches nest; the
 * outermost counts. */
void cq_batch_begin(void);

/* Deletes a file at the end. The file may be missing, may change until then, or may be one of the
 * batch's outputs. */
cq_status cq_batch_delete(const char *path);

/* The same after everything else has succeeded; a failure to delete is a warning. */
cq_status cq_batch_delete_unneeded(const char *path);
cq_status cq_batch_end(cq_status status);

/* Whether the last batch failed because a file or folder that had to be new exists: another program
 * created it meanwhile, so that trying again with another name is worthwhile. */
bool cq_batch_collided(void);

/* Syncs the files of the batch to the disk before a lock is taken, as cq_batch_end would. */
cq_status cq_batch_sync(void);

/* Excludes other processes that lock the same folder until the end of the batch. */
typedef enum cq_lock {
    CQ_LOCK_HELD,
    CQ_LOCK_NONE, /* the file system has no locks, or the folder cannot be opened */
    CQ_LOCK_BUSY  /* another process holds it for more than some seconds */
} cq_lock;

cq_lock cq_batch_lock(const char *folder);

/* The path for writing the content of a folder within a batch. A new folder appears complete at the
 * end of the batch. An existing folder is locked, and files are written to it one by one: *path is
 * the folder itself. *path is valid until the end. */
cq_status cq_batch_folder(const char **path, const char *folder);

/* 64 unpredictable bits for a name. */
uint64_t cq_random_bits(void);

/* An output keeps its first error and lets later writes fall through; commit
 * returns it. Data of cq_out_write is copied or written before it returns. */
typedef struct cq_out cq_out;

cq_status cq_out_open(cq_out **out, const char *path);     /* a file */
cq_status cq_out_open_new(cq_out **out, const char *path); /* one that must not exist */
cq_status cq_out_open_memory(cq_out **out);                /* a growing buffer */

/* Fails if size bytes would exceed cq_limit_outputs; writing checks it too, but only when bytes
 * arrive. */
cq_status cq_out_allow(uint64_t size, const char *path);
void      cq_out_write(cq_out *o, const void *data, size_t size);
/* Writes bytes [from, from + size) that make(user, …) computes piece by piece. */
void     cq_out_write_computed(cq_out *o, void (*make)(void *user, void *to, size_t from, size_t n),
                               void *user, size_t from, size_t size);
void     cq_out_zeros(cq_out *o, uint64_t size); /* a hole in a new file */
uint64_t cq_out_offset(const cq_out *o);         /* bytes written so far */
cq_status cq_out_commit(cq_out *o);              /* frees o; file outputs only */
void      cq_out_abandon(cq_out *o);             /* frees o, which may be NULL */

/* Frees o and transfers its buffer to the caller; memory outputs only. */
cq_status cq_out_take_memory(cq_out *o, void **data, size_t *size);

#endif
