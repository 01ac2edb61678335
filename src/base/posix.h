/* The POSIX calls that base uses. Every other folder uses the interfaces of base. Windows lacks
 * most of these calls; base/windows implements those that are used here. */
#ifndef CQ_BASE_POSIX_H
#define CQ_BASE_POSIX_H

#ifdef _WIN32

#include "base/windows/posix.h"

#else

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define CQ_IS_SEPARATOR(c) ((c) == '/')
#define CQ_HAS_DRIVE(path) ((void)(path), 0) /* C: */
#define O_BINARY           0                 /* no translation of line ends */

#ifdef __APPLE__
#define O_PATH  O_RDONLY
#define st_mtim st_mtimespec
#endif

#endif

/* Frees what the C library allocated, in alloc.c. */
void cq_heap_free(void *p);

#endif
