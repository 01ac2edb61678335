/* Loaded into calque by LD_PRELOAD: when calque opens the model, in its sandbox, this attacks from
 * inside, with every call that a hostile file could make if it took the parser over. ATTACK_FILE is
 * a file of the user's, ATTACK_FOLDER a folder of the user's, ATTACK_PID a process of the user's,
 * ATTACK_QUEUE the number of a message queue that another process has.
 * Each call that succeeds is a line on standard error. ATTACK_LANDLOCK=N makes the kernel look like
 * one that has version N of Landlock, or none if N is 0. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Asked for the version: landlock_create_ruleset(NULL, 0, 1). */
long syscall(long number, ...)
{
    long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    const char *version     = getenv("ATTACK_LANDLOCK");
    long        a[6];
    va_list     more;

    va_start(more, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    if (number == 444 && a[2] == 1 && version) {
        errno = ENOSYS;
        return atoi(version) > 0 ? atoi(version) : -1;
    }
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void succeeded(const char *what)
{
    char text[256];
    int  n = snprintf(text, sizeof text, "SUCCEEDED %s\n", what);

    (void)!write(2, text, (size_t)n);
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        errno = 0;                                                                                 \
        n_tried++;                                                                                 \
        if ((long)(call) >= 0)                                                                     \
            succeeded(#call);                                                                      \
    } while (0)

static int n_tried, succeeded_broker;

/* Opens and closes: 0 or -1. */
static int opens(const char *path, int flags)
{
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0666);

    if (fd >= 0)
        close(fd);
    return fd < 0 ? -1 : 0;
}

static long child(long pid)
{
    if (pid == 0)
        syscall(SYS_exit_group, 0);
    return pid;
}

static void attack_files(const char *file, const char *folder)
{
    char           inside[4096], other[4096], fd_path[64];
    const int      fd       = open(file, O_RDONLY);
    struct timeval times[2] = { { 1, 0 }, { 1, 0 } };

    snprintf(inside, sizeof inside, "%s/inside", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(fd_path, sizeof fd_path, "/proc/self/fd/%d", fd);
    TRY(opens(file, O_WRONLY));
    TRY(opens(file, O_RDWR));
    TRY(opens(file, O_RDONLY | O_TRUNC));
    TRY(opens(file, O_WRONLY | O_APPEND));
    TRY(opens(fd_path, O_WRONLY));
    TRY(opens(inside, O_WRONLY | O_CREAT));
    TRY(opens(inside, O_RDONLY | O_CREAT));
    TRY(opens(folder, O_TMPFILE | O_RDWR));
    TRY(syscall(437 /* openat2 */, AT_FDCWD, file, &(unsigned long[3]){ O_WRONLY }, 24));
    TRY(truncate(file, 0));
    TRY(ftruncate(fd, 0));
    TRY(fallocate(fd, 0, 0, 4096));
    TRY(chmod(file, 0777));
    TRY(fchmod(fd, 0777));
    TRY(syscall(452 /* fchmodat2 */, AT_FDCWD, file, 0777, 0));
    TRY(chown(file, getuid(), getgid()));
    TRY(fchown(fd, getuid(), getgid()));
    TRY(utimes(file, times));
    TRY(futimens(fd, NULL));
    TRY(setxattr(file, "user.attack", "x", 1, 0));
    TRY(fsetxattr(fd, "user.attack", "x", 1, 0));
    TRY(removexattr(file, "user.mine"));
    TRY(rename(file, other));
    TRY(renameat2(AT_FDCWD, file, AT_FDCWD, other, RENAME_NOREPLACE));
    TRY(link(file, other));
    TRY(symlink(file, other));
    TRY(unlink(file));
    TRY(unlinkat(AT_FDCWD, file, 0));
    TRY(mkdir(inside, 0777));
    TRY(rmdir(folder));
    TRY(mknod(inside, S_IFIFO | 0666, 0));
    if (!getenv("ATTACK_ANYHOW")) {
        TRY(chroot("/"));
        TRY(syscall(SYS_mount, "none", folder, "tmpfs", 0, NULL));
    }
}

/* Requests to the process that changes files for the sandboxed one, as base/broker.c has them. */
static int ask(int socket, int op, int how, const char *path, const char *to)
{
    static struct {
        int  op, how;
        char path[4096], to[4096];
    } q;
    struct {
        int result, error;
    } r = { -1, 0 };

    q.op  = op;
    q.how = how;
    snprintf(q.path, sizeof q.path, "%s", path);
    snprintf(q.to, sizeof q.to, "%s", to);
    if (send(socket, &q, sizeof q, 0) != (ssize_t)sizeof q || recv(socket, &r, sizeof r, 0) < 0)
        return -1;
    return r.result;
}

static void attack_broker(const char *file, const char *folder)
{
    enum { CREATE = 1, OPEN, RENAME, LINK, DELETE, MAKE_FOLDER, DELETE_FOLDER, DELETE_TREE };
    char inside[4096], temporary[4096], around[8192];

    snprintf(inside, sizeof inside, "%s/inside", folder);
    snprintf(temporary, sizeof temporary, "%s/.calque-0123456789abcdef.part", folder);
    snprintf(around, sizeof around, "%s/../folder/inside", folder);
    for (int fd = 3; fd < 64; fd++) {
        int       type = 0;
        socklen_t size = sizeof type;

        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_SEQPACKET)
            continue;
        TRY(ask(fd, CREATE, 0666, inside, ""));
        TRY(ask(fd, CREATE, 0666, around, ""));
        TRY(ask(fd, CREATE, 0666, temporary, ""));
        TRY(ask(fd, CREATE, 0666, "/", ""));
        TRY(ask(fd, OPEN, 0, file, ""));
        TRY(ask(fd, OPEN, 0, "/dev/tty", ""));
        TRY(ask(fd, RENAME, 0, file, inside));
        TRY(ask(fd, RENAME, 0, file, "out.onnx"));
        TRY(ask(fd, RENAME, 0, "out.onnx", file));
        TRY(ask(fd, RENAME, 2, file, "out.onnx"));
        TRY(ask(fd, LINK, 0, file, inside));
        TRY(ask(fd, LINK, 0, file, "out.onnx"));
        TRY(ask(fd, DELETE, 0, file, ""));
        TRY(ask(fd, MAKE_FOLDER, 0, inside, ""));
        TRY(ask(fd, DELETE_FOLDER, 0, folder, ""));
        TRY(ask(fd, DELETE_TREE, 0, folder, ""));
        TRY(ask(fd, 99, 0, file, ""));
        succeeded_broker = 1;
    }
}

static void attack_processes(pid_t pid)
{
    struct rlimit limit = { 1, 1 };
    char          memory[64];

    snprintf(memory, sizeof memory, "/proc/%d/mem", (int)pid);
    TRY(kill(pid, SIGKILL));
    TRY(kill(getppid(), 0));
    TRY(kill(-1, 0));
    TRY(syscall(SYS_tkill, pid, SIGKILL));
    TRY(syscall(SYS_tgkill, pid, pid, SIGKILL));
    TRY(syscall(SYS_rt_sigqueueinfo, pid, SIGKILL, &(siginfo_t){ .si_code = -1 }));
    TRY(syscall(434 /* pidfd_open */, pid, 0));
    TRY(ptrace(PTRACE_SEIZE, pid, 0, 0));
    TRY(opens(memory, O_RDWR));
    TRY(prlimit(pid, RLIMIT_NOFILE, &limit, NULL));
    TRY(sched_setaffinity(pid, sizeof(cpu_set_t), &(cpu_set_t){ { 1 } }));
    TRY(setpriority(PRIO_PROCESS, (id_t)pid, 19));
    TRY(child(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
    TRY(child(syscall(435 /* clone3 */, &(unsigned long[8]){ 0, 0, 0, 0, SIGCHLD }, 64)));
#ifdef SYS_fork
    TRY(child(syscall(SYS_fork)));
#endif
    TRY(unshare(CLONE_NEWUSER));
    TRY(child(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)));
    TRY(syscall(SYS_setsid));
    if (!getenv("ATTACK_ANYHOW"))
        TRY(execl("/bin/true", "true", (char *)NULL));
    TRY(socket(AF_INET, SOCK_STREAM, 0));
    TRY(socket(AF_UNIX, SOCK_STREAM, 0));
    TRY(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
    if (getenv("ATTACK_QUEUE")) {
        TRY(msgsnd(atoi(getenv("ATTACK_QUEUE")), &(long[2]){ 1, 0 }, 8, IPC_NOWAIT));
        TRY(msgrcv(atoi(getenv("ATTACK_QUEUE")), &(long[2]){ 1, 0 }, 8, 0,
                   IPC_NOWAIT | MSG_NOERROR));
    }
    TRY(syscall(SYS_fanotify_init, 0, 0));
    TRY(syscall(425 /* io_uring_setup */, 1, &(char[120]){ 0 }));
    TRY(syscall(SYS_bpf, 0, NULL, 0));
    TRY(syscall(SYS_userfaultfd, 0));
    TRY(fcntl(0, F_SETOWN, pid));
}

static void attack_terminal(void)
{
    int tty = open("/dev/tty", O_RDONLY | O_NOCTTY);

    for (int fd = 0; fd < 3; fd++) {
        TRY(ioctl(fd, TIOCSTI, "x"));
        TRY(ioctl(fd, TIOCSCTTY, 0));
        TRY(ioctl(fd, TCSETS, &(char[60]){ 0 }));
        TRY(ioctl(fd, TIOCLINUX, "\2"));
        TRY(ioctl(fd, FIONBIO, &(int){ 0 }));
    }
    if (tty >= 0)
        TRY(ioctl(tty, TIOCSTI, "x"));
}

/* Whether the filter is on: the field Seccomp of /proc/self/status is 2. */
static int is_sandboxed(void)
{
    char      text[8192] = "";
    const int fd         = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY);
    ssize_t   n          = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    char     *field      = n > 0 ? strstr(text, "Seccomp:\t") : NULL;

    if (fd >= 0)
        close(fd);
    return field && field[9] == '2';
}

static void attack(void)
{
    static int  done;
    const char *file = getenv("ATTACK_FILE"), *folder = getenv("ATTACK_FOLDER"),
               *pid = getenv("ATTACK_PID");
    char text[64];
    int  n;

    if (done || !file || !folder || !pid || !(is_sandboxed() || getenv("ATTACK_ANYHOW")))
        return;
    done = 1;
    attack_broker(file, folder);
    attack_files(file, folder);
    attack_processes(atoi(pid));
    attack_terminal();
    n = snprintf(text, sizeof text, "TRIED %d%s\n", n_tried,
                 succeeded_broker ? " WITH BROKER" : "");
    (void)!write(2, text, (size_t)n);
}

int open(const char *path, int flags, ...)
{
    int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    va_list more;
    mode_t  mode;

    va_start(more, flags);
    mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (strstr(path, "model.onnx"))
        attack();
    return next(path, flags, mode);
}
