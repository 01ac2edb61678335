/* The broker: serves requests over a socket, one at a time. The server runs in a separate process,
 * whose only input are these requests. */
#define _GNU_SOURCE /* close_range, SCM_RIGHTS */
#include "base/broker.h"

#include "base/change.h"
#include "base/leftover.h"
#include "base/stage.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>

#ifdef __linux__
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The system call number is the same on all processors. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum {
    GOODBYE_MS      = 5000,
    HEX_DIGITS      = 16,
    LINE            = 3, /* the server's descriptor */
    MAX_DESCRIPTORS = 1024
};

typedef struct request {
    int32_t op, how;
    char    path[PATH_MAX], to[PATH_MAX];
} request;

typedef struct reply {
    int32_t result, error;
} reply;

static int             line = -1; /* to the server */
static pid_t           server;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* ---- allowed paths ---- */

/* folder is a real path; for an output that is a folder, it is the parent. */
typedef struct rule {
    char folder[PATH_MAX], name[NAME_MAX + 1], whole[PATH_MAX];
    bool is_folder;
} rule;

typedef struct renamed {
    char         *from, *to;
    cq_rename_how how;
} renamed;

static struct {
    CQ_VEC(rule) rules;
    CQ_VEC(char *) own;     /* temporary files and folders */
    CQ_VEC(char *) folders; /* others that were created */
    CQ_VEC(renamed) journal;
    CQ_VEC(char *) unneeded;
    bool in_batch;
} state;

static bool starts_with_folder(const char *path, const char *folder)
{
    const size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && path[n] == '/';
}

/* Matches ".calque-0123456789abcdef.part", as cq_temporary_name makes it; *end is the position
 * after it. */
static bool is_temporary(const char *name, const char **end)
{
    const char *digits = name + strlen(".calque-");

    if (!cq_starts_with(name, ".calque-") || strspn(digits, "0123456789abcdef") != HEX_DIGITS ||
        !cq_starts_with(digits + HEX_DIGITS, ".part"))
        return false;
    *end = digits + HEX_DIGITS + strlen(".part");
    return true;
}

/* Matches NAME.data, NAME.data.0123 and, for weights in several files, .1, .2, … after these and
 * after NAME. */
static bool is_data_name(const char *name, const char *of)
{
    const size_t n = strlen(of);

    if (strncmp(name, of, n) != 0)
        return false;
    name += n;
    if (cq_starts_with(name, ".data"))
        name += strlen(".data");
    else if (!*name || strspn(name, ".0123456789") != strlen(name))
        return false;
    return !*name ||
           (*name == '.' && name[1] && strspn(name + 1, "0123456789abcdef.") == strlen(name + 1));
}

/* The real path of the folder of path, plus its name. */
static bool locate(char out[PATH_MAX], const char *path)
{
    char        folder[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t      n = slash ? (size_t)(slash - path) : 0;

    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || n >= sizeof folder)
        return false;
    memcpy(folder, path, n);
    strcpy(folder + n, slash ? n ? "" : "/" : ".");
    if (!realpath(folder, out))
        return false;
    n = strlen(out);
    if (n + strlen(name) + 2 > PATH_MAX)
        return false;
    sprintf(out + n, "%s%s", out[n - 1] == '/' ? "" : "/", name);
    return true;
}

static bool is_own(const char *path)
{
    for (size_t i = 0; i < state.own.n; i++)
        if (strcmp(state.own.items[i], path) == 0 || starts_with_folder(path, state.own.items[i]))
            return true;
    return false;
}

static void own(const char *path)
{
    char *copy = is_own(path) ? NULL : cq_strdup(path);

    if (copy && cq_vec_push(&state.own, copy) != CQ_OK)
        cq_free(copy);
}

static void disown(const char *path)
{
    for (size_t i = 0; i < state.own.n; i++)
        if (strcmp(state.own.items[i], path) == 0) {
            cq_free(state.own.items[i]);
            state.own.items[i] = state.own.items[--state.own.n];
            return;
        }
}

/* makes: the call creates the path. Otherwise the path must exist, and a temporary file must belong
 * to the broker. */
static bool fits(const rule *r, const char *path, bool makes, bool is_folder_call)
{
    const char *name, *end = "";

    if (r->is_folder && (strcmp(path, r->whole) == 0 || starts_with_folder(path, r->whole)))
        return true;
    if (r->is_folder && is_folder_call && starts_with_folder(r->whole, path))
        return true;
    if (!starts_with_folder(path, strcmp(r->folder, "/") == 0 ? "" : r->folder))
        return false;
    name = path + (strcmp(r->folder, "/") == 0 ? 1 : strlen(r->folder) + 1);
    if (!r->is_folder && (strcmp(name, r->name) == 0 || is_data_name(name, r->name)))
        return true;
    if (!is_temporary(name, &end) || (*end && (!r->is_folder || *end != '/')))
        return false;
    return (makes && !*end) || is_own(path);
}

static bool is_allowed(const char *path, bool makes, bool is_folder_call)
{
    for (size_t i = 0; i < state.rules.n; i++)
        if (fits(&state.rules.items[i], path, makes, is_folder_call))
            return true;
    return false;
}

/* ---- the server ---- */

static bool is_temporary_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *end = "";

    return is_temporary(slash ? slash + 1 : path, &end) && !*end;
}

static void note_rename(const char *from, const char *to, cq_rename_how how)
{
    renamed r = { cq_strdup(from), cq_strdup(to), how };

    if (!r.from || !r.to || cq_vec_push(&state.journal, r) != CQ_OK) {
        cq_free(r.from);
        cq_free(r.to);
    }
}

static int serve_rename(const char *from, const char *to, cq_rename_how how)
{
    if (cq_change_rename(from, to, how) < 0)
        return -1;
    if (state.in_batch)
        note_rename(from, to, how);
    if (how != CQ_RENAME_EXCHANGE)
        disown(from);
    if (is_temporary_path(to))
        own(to);
    return 0;
}

/* Devices and FIFOs only, and only those that are outputs. */
static int serve_open(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return -1;
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
        errno = EPERM;
        return -1;
    }
    return cq_change_open(path);
}

static int make_folder(const char *path)
{
    char *copy;

    if (cq_change_make_folder(path) < 0)
        return -1;
    if (is_temporary_path(path))
        own(path);
    else if ((copy = cq_strdup(path)) && cq_vec_push(&state.folders, copy) != CQ_OK)
        cq_free(copy);
    return 0;
}

static int delete_file(const char *path)
{
    const int result = cq_change_delete(path);

    if (result == 0)
        disown(path);
    return result;
}

static void clear_batch(void)
{
    for (size_t i = 0; i < state.journal.n; i++) {
        cq_free(state.journal.items[i].from);
        cq_free(state.journal.items[i].to);
    }
    for (size_t i = 0; i < state.unneeded.n; i++)
        cq_free(state.unneeded.items[i]);
    state.journal.n = state.unneeded.n = 0;
    state.in_batch                     = false;
}

static int note_unneeded(const char *path)
{
    char *copy = cq_strdup(path);

    if (!copy || cq_vec_push(&state.unneeded, copy) != CQ_OK) {
        cq_free(copy);
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

static int end_batch(void)
{
    for (size_t i = 0; i < state.unneeded.n; i++)
        cq_change_delete(state.unneeded.items[i]);
    clear_batch();
    return 0;
}

/* A rename that replaced a file is the last one of its batch, so it is not undone. */
static void undo_batch(void)
{
    for (size_t i = 0; i < state.journal.n; i++)
        if (state.journal.items[i].how == CQ_RENAME_REPLACE)
            return;
    for (size_t i = state.journal.n; i-- > 0;) {
        const renamed *r = &state.journal.items[i];

        if (r->how == CQ_RENAME_EXCHANGE)
            cq_change_rename(r->from, r->to, CQ_RENAME_EXCHANGE);
        else
            serve_rename(r->to, r->from, CQ_RENAME_NEW);
    }
}

static void clean_up(void)
{
    if (state.in_batch)
        undo_batch();
    for (size_t i = 0; i < state.own.n; i++)
        if (unlink(state.own.items[i]) < 0 && errno != ENOENT)
            cq_tree_delete(state.own.items[i]);
    for (size_t i = state.folders.n; i-- > 0;)
        rmdir(state.folders.items[i]);
}

static bool is_about_folders(int op)
{
    return op == CQ_BROKER_MAKE_FOLDER || op == CQ_BROKER_DELETE_FOLDER;
}

/* Executes a request if it refers to an output, and returns its result. */
static int serve(request *q)
{
    const bool makes          = q->op == CQ_BROKER_CREATE || q->op == CQ_BROKER_MAKE_FOLDER;
    char       path[PATH_MAX] = "", to[PATH_MAX] = "";
    int        fd;

    q->path[PATH_MAX - 1] = q->to[PATH_MAX - 1] = '\0';
    switch (q->op) {
    case CQ_BROKER_BEGIN:
        clear_batch();
        state.in_batch = true;
        return 0;
    case CQ_BROKER_END: return end_batch();
    default: break;
    }
    if (!locate(path, q->path) || (*q->to && !locate(to, q->to)))
        return -1;
    if (!is_allowed(path, makes, is_about_folders(q->op)) ||
        (*to && !is_allowed(to, true, false))) {
        errno = EACCES;
        return -1;
    }
    switch (q->op) {
    case CQ_BROKER_CREATE:
        fd = cq_change_create(path, (mode_t)q->how & 0777, q->how & CQ_BROKER_EXACT);
        if (fd >= 0 && is_temporary_path(path))
            own(path);
        return fd;
    case CQ_BROKER_OPEN: return serve_open(path);
    case CQ_BROKER_RENAME: return serve_rename(path, to, (cq_rename_how)q->how);
    case CQ_BROKER_LINK:
        if (cq_change_link(path, to) < 0)
            return -1;
        if (is_temporary_path(to))
            own(to);
        return 0;
    case CQ_BROKER_DELETE: return delete_file(path);
    case CQ_BROKER_MAKE_FOLDER: return make_folder(path);
    case CQ_BROKER_DELETE_FOLDER: return cq_change_delete_folder(path);
    case CQ_BROKER_DELETE_TREE:
        if (is_temporary_path(path))
            cq_change_delete_tree(path);
        return 0;
    case CQ_BROKER_UNNEEDED: return note_unneeded(path);
    default: errno = EINVAL; return -1;
    }
}

static bool send_reply(int fd, const reply *r, int file)
{
    char          control[CMSG_SPACE(sizeof file)] = { 0 };
    struct iovec  data                             = { (void *)r, sizeof *r };
    struct msghdr message                          = { .msg_iov = &data, .msg_iovlen = 1 };

    if (file >= 0) {
        struct cmsghdr *c;

        message.msg_control    = control;
        message.msg_controllen = sizeof control;
        c                      = CMSG_FIRSTHDR(&message);
        c->cmsg_level          = SOL_SOCKET;
        c->cmsg_type           = SCM_RIGHTS;
        c->cmsg_len            = CMSG_LEN(sizeof file);
        memcpy(CMSG_DATA(c), &file, sizeof file);
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *r;
}

static void wake(int number)
{
    (void)number; /* interrupts the open of a FIFO that has no reader */
}

/* A terminal sends signals to both processes; the server ends when the other process ends. */
static void ignore_signals(void)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGXCPU };
    struct sigaction act    = { .sa_handler = wake };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        signal(ends[i], SIG_IGN);
    sigaction(SIGUSR1, &act, NULL);
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
}

/* Closes other descriptors: a pipe that the server held open would never reach its end. */
static void close_others(void)
{
    const int null = open("/dev/null", O_RDWR);

    for (int i = 0; i < LINE && null >= 0; i++)
        dup2(null, i);
    if (syscall(SYS_close_range, LINE + 1u, ~0u, 0u) < 0)
        for (int i = LINE + 1; i < MAX_DESCRIPTORS; i++) /* before Linux 5.9 */
            close(i);
}

__attribute__((noreturn)) static void run_server(int fd)
{
    static request q;
    bool           is_over = false;

    line = -1; /* now this process makes the changes itself */
    ignore_signals();
    if (fd != LINE && dup2(fd, LINE) != LINE)
        _exit(1);
    close_others();
    while (!is_over) {
        const ssize_t n = recv(LINE, &q, sizeof q, 0);
        reply         r = { -1, EINVAL };

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        is_over = q.op == CQ_BROKER_GOODBYE;
        if (n == (ssize_t)sizeof q && !is_over) {
            r.result = serve(&q);
            r.error  = r.result < 0 ? errno : 0;
        }
        if (q.op == CQ_BROKER_CREATE || q.op == CQ_BROKER_OPEN) {
            const int file = r.result;

            r.result = file < 0 ? -1 : 0;
            is_over |= !send_reply(LINE, &r, file);
            if (file >= 0)
                close(file);
        } else if (!is_over) {
            is_over = !send_reply(LINE, &r, -1);
        }
    }
    if (q.op == CQ_BROKER_GOODBYE)
        for (size_t i = 0; i < state.folders.n; i++)
            *state.folders.items[i] = '\0';
    clean_up();
    _exit(0);
}

/* ---- starting ---- */

/* The real path of a path that need not exist: the existing part is resolved, the rest is
 * unchanged. */
static bool real_path(char out[PATH_MAX], const char *path)
{
    char   copy[PATH_MAX], *slash;
    size_t n;

    if (realpath(path, out))
        return true;
    if (strlen(path) >= sizeof copy)
        return false;
    strcpy(copy, path);
    slash = strrchr(copy, '/');
    if (slash && slash != copy) {
        *slash = '\0';
        if (!real_path(out, copy))
            return false;
    } else if (!realpath(slash ? "/" : ".", out)) {
        return false;
    }
    n = strlen(out);
    path += slash ? slash - copy + 1 : 0;
    return strcmp(path, "..") != 0 &&
           snprintf(out + n, PATH_MAX - n, "%s%s", n > 1 ? "/" : "", path) < (int)(PATH_MAX - n);
}

static bool add_rule(const char *path, bool is_folder)
{
    rule        r = { .is_folder = is_folder };
    const char *slash;
    char        plain[PATH_MAX];
    size_t      n = strlen(path);

    if (n >= sizeof plain)
        return false;
    strcpy(plain, path);
    while (n > 1 && plain[n - 1] == '/')
        plain[--n] = '\0';
    if (is_folder) {
        if (!real_path(r.whole, plain))
            return false;
    } else if (!locate(r.whole, plain)) {
        return false;
    }
    slash = strrchr(r.whole, '/');
    if (!slash || strlen(slash + 1) > NAME_MAX)
        return false;
    strcpy(r.name, slash + 1);
    memcpy(r.folder, r.whole, (size_t)(slash - r.whole));
    strcpy(r.folder + (slash - r.whole), slash == r.whole ? "/" : "");
    return cq_vec_push(&state.rules, r) == CQ_OK;
}

/* For an output that is a link, its target is written; data files are beside the target. */
static void add_output(const cq_broker_output *o)
{
    char *target = NULL;

    add_rule(o->path, o->is_folder);
    if (cq_follow_links(&target, o->path) == CQ_OK && strcmp(target, o->path) != 0)
        add_rule(target, o->is_folder);
    cq_free(target);
}

static void say_goodbye(void)
{
    static request q = { .op = CQ_BROKER_GOODBYE };

    if (line >= 0)
        (void)!send(line, &q, sizeof q, MSG_NOSIGNAL);
    cq_broker_hang_up();
}

bool cq_broker_start(const cq_broker_output *outputs, size_t n)
{
    int ends[2];

    if (line >= 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return false;
    for (size_t i = 0; i < n; i++)
        add_output(&outputs[i]);
    server = fork();
    if (server == 0) {
        close(ends[0]);
        run_server(ends[1]);
    }
    cq_vec_clear(&state.rules);
    close(ends[1]);
    if (server < 0) {
        close(ends[0]);
        return false;
    }
    line = fcntl(ends[0], F_DUPFD_CLOEXEC, LINE); /* not 0 to 2, in case those were closed */
    close(ends[0]);
    atexit(say_goodbye);
    return line >= 0;
}

/* ---- the client ---- */

bool cq_broker_is_active(void)
{
    return line >= 0;
}

static int receive(reply *r)
{
    char          control[CMSG_SPACE(sizeof(int))];
    struct iovec  data    = { r, sizeof *r };
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control
    };
    struct cmsghdr *c;
    ssize_t         n;
    int             fd = -1;

    do
        n = recvmsg(line, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof *r) {
        *r = (reply){ -1, EIO };
        return -1;
    }
    c = CMSG_FIRSTHDR(&message);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

int cq_broker_ask(cq_broker_op op, const char *path, const char *to, int how)
{
    static request q;
    reply          r;
    int            fd;

    if (strlen(path) >= PATH_MAX || strlen(to) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    pthread_mutex_lock(&mutex);
    q.op  = (int32_t)op;
    q.how = how;
    strcpy(q.path, path);
    strcpy(q.to, to);
    r  = (reply){ -1, EIO };
    fd = send(line, &q, sizeof q, MSG_NOSIGNAL) == (ssize_t)sizeof q ? receive(&r) : -1;
    pthread_mutex_unlock(&mutex);
    errno = r.error;
    return r.result < 0 ? -1 : op == CQ_BROKER_CREATE || op == CQ_BROKER_OPEN ? fd : r.result;
}

void cq_broker_hang_up(void)
{
    const int     fd  = line;
    struct pollfd end = { .fd = fd, .events = POLLIN };
    char          rest[64];

    if (fd < 0)
        return;
    shutdown(fd, SHUT_WR);
    while (poll(&end, 1, GOODBYE_MS) > 0 && recv(fd, rest, sizeof rest, 0) > 0)
        ;
    waitpid(server, NULL, 0);
}

#else

bool cq_broker_start(const cq_broker_output *outputs, size_t n)
{
    (void)outputs;
    (void)n;
    return false;
}

bool cq_broker_is_active(void)
{
    return false;
}

int cq_broker_ask(cq_broker_op op, const char *path, const char *to, int how)
{
    (void)op;
    (void)path;
    (void)to;
    (void)how;
    errno = ENOSYS;
    return -1;
}

void cq_broker_hang_up(void)
{
}

#endif
