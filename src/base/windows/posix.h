/* POSIX on Windows, as far as base/posix.h uses it. Paths are UTF-8, with slashes or backslashes;
 * every file is binary, may be renamed or deleted while it is open, and is not inherited. Signals,
 * permissions and devices of POSIX do not exist. */
#ifndef CQ_BASE_WINDOWS_POSIX_H
#define CQ_BASE_WINDOWS_POSIX_H

#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <malloc.h>
#include <process.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define CQ_IS_SEPARATOR(c) ((c) == '/' || (c) == '\\')
#define CQ_HAS_DRIVE(path)                                                                         \
    ((((path)[0] | 32) >= 'a' && ((path)[0] | 32) <= 'z') && (path)[1] == ':')

#undef PATH_MAX
#define PATH_MAX 4096
#define NAME_MAX 765 /* 255 units of UTF-16, each at most three bytes of UTF-8 */

/* ---- files ---- */

#define O_CLOEXEC   O_NOINHERIT
#define O_NONBLOCK  0
#define O_NOCTTY    0
#define O_NOFOLLOW  0x01000000
#define O_DIRECTORY 0x02000000

#define S_IFLNK    0xA000
#define S_ISLNK(m) (((m)&S_IFMT) == S_IFLNK)

struct cq_windows_stat {
    uint64_t        st_dev, st_ino;
    int64_t         st_size;
    unsigned        st_mode;
    struct timespec st_mtim;
};

int     cq_windows_open(const char *path, int flags, ...);
int     cq_windows_close(int fd);
int     cq_windows_duplicate(int fd);
int     cq_windows_stat(const char *path, struct cq_windows_stat *st);
int     cq_windows_lstat(const char *path, struct cq_windows_stat *st);
int     cq_windows_fstat(int fd, struct cq_windows_stat *st);
ssize_t cq_windows_pread(int fd, void *data, size_t size, int64_t offset);
ssize_t cq_windows_pwrite(int fd, const void *data, size_t size, int64_t offset);
int64_t cq_windows_lseek(int fd, int64_t offset, int from);
int     cq_windows_fsync(int fd);
int     cq_windows_access(const char *path, int mode);
int     cq_windows_unlink(const char *path);
int     cq_windows_link(const char *from, const char *to);
int     cq_windows_rename(const char *from, const char *to);
int     cq_windows_rename_new(const char *from, const char *to); /* EEXIST if to exists */
int     cq_windows_mkdir(const char *path, int mode);
int     cq_windows_rmdir(const char *path);
ssize_t cq_windows_readlink(const char *path, char *target, size_t size);
char   *cq_windows_getcwd(char *out, size_t size);

/* Locks an open folder until it is closed: a mutex that is named after the identity of the folder.
 */
enum { LOCK_EX = 2, LOCK_NB = 4 };
int cq_windows_flock(int fd, int how);

/* Whether a path that a file names stays below its folder: no "..", drive, stream, device or link.
 */
bool cq_windows_is_below(const char *folder, const char *location);

#undef stat
#undef fstat
#undef lseek
#define dev_t                uint64_t
#define ino_t                uint64_t
#define off_t                int64_t
#define stat                 cq_windows_stat
#define lstat                cq_windows_lstat
#define fstat                cq_windows_fstat
#define open                 cq_windows_open
#define close                cq_windows_close
#define pread                cq_windows_pread
#define pwrite               cq_windows_pwrite
#define lseek                cq_windows_lseek
#define fsync                cq_windows_fsync
#define access               cq_windows_access
#define unlink               cq_windows_unlink
#define link                 cq_windows_link
#define rename               cq_windows_rename
#define mkdir                cq_windows_mkdir
#define rmdir                cq_windows_rmdir
#define readlink             cq_windows_readlink
#define getcwd               cq_windows_getcwd
#define flock                cq_windows_flock
#define fchmod(fd, mode)     ((void)(fd), (void)(mode), 0)
#define F_DUPFD_CLOEXEC      0
#define fcntl(fd, what, min) cq_windows_duplicate(fd)

/* ---- folders ---- */

struct dirent {
    char d_name[NAME_MAX + 1];
};

typedef struct cq_windows_folder DIR;

DIR           *opendir(const char *path);
struct dirent *readdir(DIR *dir);
int            closedir(DIR *dir);

/* ---- memory ---- */

enum { PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_PRIVATE = 1, MAP_ANONYMOUS = 2, MAP_NORESERVE = 0 };
enum { MADV_DONTNEED = 4 };
enum { _SC_PAGESIZE = 1, _SC_NPROCESSORS_ONLN, _SC_PHYS_PAGES };
#define MAP_FAILED ((void *)-1)

void *mmap(void *at, size_t size, int access_, int how, int fd, int64_t offset);
int   munmap(void *data, size_t size);
int   madvise(void *data, size_t size, int advice);
long  sysconf(int what);

/* ---- the rest ---- */

int   getentropy(void *data, size_t size);
void *memmem(const void *in, size_t size, const void *bytes, size_t n);

#undef pthread_sigmask
#undef SIG_SETMASK
#define sigset_t                           int
#define SIG_SETMASK                        0
#define sigfillset(set)                    ((void)(*(set) = 0))
#define pthread_sigmask(how, set, old_set) cq_windows_sigmask(set, old_set)

static inline void cq_windows_sigmask(const int *set, int *old_set)
{
    if (old_set)
        *old_set = *set;
}

#endif
