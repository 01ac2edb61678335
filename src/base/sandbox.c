/* The sandbox of <calque/sandbox.h>: seccomp refuses system calls, Landlock refuses changes of
 * files again. A broker (broker.h) makes the allowed changes, so that the filter refuses all of
 * them regardless of the path. Calls fail with EPERM, as for missing permission; nothing is
 * killed. */
#define _GNU_SOURCE
#include <calque/sandbox.h>

#include "base/broker.h"
#include "base/sized.h"
#include "base/vec.h"

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&       \
    defined(__has_include)
#if __has_include(<linux/seccomp.h>) && (defined(__x86_64__) || defined(__aarch64__))
#define HAS_SANDBOX 1
#endif
#endif

CQ_API void cq_sandbox_options_init(cq_sandbox_options *options)
{
    CQ_NEED_ELSE(options, );
    *options = (cq_sandbox_options){ .struct_size = sizeof *options };
}

#ifndef HAS_SANDBOX

CQ_API cq_status cq_sandbox_enter(const cq_sandbox_options *options)
{
    CQ_NEED(options);
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                   "the sandbox is not available on this system or with sanitizers");
}

#else

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Landlock ---- */

/* linux/landlock.h of older systems lacks newer members; the kernel gets the size of the struct. */
typedef struct landlock_rules {
    uint64_t files, network, scope;
} landlock_rules;

enum {
    LANDLOCK_CREATE   = 444, /* the system calls have these numbers everywhere */
    LANDLOCK_RESTRICT = 446,
    LANDLOCK_VERSION  = 1,
};

/* Rights by the version that introduced them. Reading files (2) and folders (3) is not restricted:
 * models refer to files anywhere below their folder, and users give paths in options and
 * scripts. */
#define FILES_1 (1u << 0 | 1u << 1 | 0x1ff0u) /* execute, write, delete and create */
#define FILES_2 (1u << 13)                    /* move between folders */
#define FILES_3 (1u << 14)                    /* truncate */
#define FILES_5 (1u << 15)                    /* ioctl of devices */
#define NET_4   (1u << 0 | 1u << 1)           /* bind and connect, TCP */
#define SCOPE_6 (1u << 0 | 1u << 1)           /* abstract sockets and signals of others */

/* Without rules, all handled accesses are denied. */
static void lock_files(void)
{
    const long     version = syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_VERSION);
    landlock_rules rules   = { .files = FILES_1 };
    size_t         size    = version < 4   ? sizeof rules.files
                             : version < 6 ? offsetof(landlock_rules, scope)
                                           : sizeof rules;
    int            fd;

    if (version < 1)
        return;
    rules.files |= version >= 2 ? FILES_2 : 0;
    rules.files |= version >= 3 ? FILES_3 : 0;
    rules.files |= version >= 5 ? FILES_5 : 0;
    rules.network = version >= 4 ? NET_4 : 0;
    rules.scope   = version >= 6 ? SCOPE_6 : 0;
    fd            = (int)syscall(LANDLOCK_CREATE, &rules, size, 0);
    if (fd < 0)
        return;
    syscall(LANDLOCK_RESTRICT, fd, 0);
    close(fd);
}

/* ---- seccomp ---- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Calls that are refused for any arguments; calls that the system's headers lack are omitted. */
static const int refused[] = {
    /* programs and processes */
    SYS_execve,
    SYS_execveat,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_unshare,
    SYS_setns,
    434, /* pidfd_open */
    438, /* pidfd_getfd */
    440, /* process_madvise */
    SYS_setpgid,
    SYS_setsid,
    /* signals and priorities of other processes */
    SYS_kill,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    424, /* pidfd_send_signal */
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_sched_setscheduler,
    SYS_sched_setparam,
    SYS_sched_setattr,
    SYS_migrate_pages,
    SYS_move_pages,
    /* networks and memory that processes share */
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_semget,
    SYS_semctl,
    SYS_semop,
    SYS_semtimedop,
    SYS_msgget,
    SYS_msgctl,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_mq_open,
    SYS_mq_unlink,
/* attributes of files, and calls that no output needs */
#ifdef SYS_chmod
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_symlink,
    SYS_mknod,
#endif
    SYS_truncate,
    SYS_chroot,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    428, /* open_tree */
    429, /* move_mount */
    430, /* fsopen */
    431, /* fsconfig */
    432, /* fsmount */
    433, /* fspick */
    467, /* open_tree_attr */
    442, /* mount_setattr */
    SYS_swapon,
    SYS_swapoff,
    SYS_quotactl,
    443, /* quotactl_fd */
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    463, /* setxattrat */
    466, /* removexattrat */
    469, /* file_setattr */
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_fchmodat,
    452, /* fchmodat2 */
    SYS_symlinkat,
    SYS_mknodat,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    /* parts of the kernel that are not needed */
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    425, /* io_uring_setup */
    426, /* io_uring_enter */
    427, /* io_uring_register */
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef SYS_iopl
    SYS_iopl,
    SYS_ioperm,
#endif
    SYS_fanotify_init,
    SYS_reboot,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_acct,
    SYS_syslog,
    SYS_vhangup,
    SYS_personality,
};

/* Calls that only the broker needs. Without a broker, only Landlock restricts them. */
static const int changes[] = {
#ifdef SYS_creat
    SYS_creat,    SYS_rename,    SYS_link,   SYS_unlink,   SYS_mkdir,   SYS_rmdir,
#endif
    SYS_renameat, SYS_renameat2, SYS_linkat, SYS_unlinkat, SYS_mkdirat, SYS_fchmod,
};

/* The only requests of ioctl: they read properties of a terminal. TIOCSTI would type into it. */
static const uint32_t requests[] = { TCGETS, 0x802c542a /* TCGETS2 */, TIOCGWINSZ, FIONREAD };

/* Commands of fcntl that make the kernel send signals. */
static const uint32_t commands[] = { F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY };

#define N_OF(array)         (sizeof(array) / sizeof *(array))
#define LOAD(field)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF(how, k, yes, no) BPF_JUMP(BPF_JMP | (how) | BPF_K, (k), (yes), (no))
#define RETURN(what)        BPF_STMT(BPF_RET | BPF_K, (what))
#define FAIL(code)          RETURN(SECCOMP_RET_ERRNO | (code))
#define PASS                RETURN(SECCOMP_RET_ALLOW)

enum { MAX_FILTER = 512 };

typedef struct filter {
    struct sock_filter code[MAX_FILTER];
    unsigned short     n;
} filter;

static void emit(filter *f, const struct sock_filter *code, size_t n)
{
    for (size_t i = 0; i < n && f->n < MAX_FILTER; i++)
        f->code[f->n++] = code[i];
}

#define EMIT(f, ...)                                                                               \
    emit((f), (const struct sock_filter[]){ __VA_ARGS__ },                                         \
         sizeof((const struct sock_filter[]){ __VA_ARGS__ }) / sizeof(struct sock_filter))

/* Files may only be opened for reading. O_ACCMODE is not used, because that of musl contains
 * O_PATH. */
static void check_open(filter *f, int call, size_t flags_at)
{
    EMIT(f, IF(BPF_JEQ, (uint32_t)call, 0, 4),
         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)flags_at),
         IF(BPF_JSET, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 0, 1), FAIL(EPERM), PASS);
}

/* Allows only these values of an argument, or all others. */
static void check_values(filter *f, int call, const uint32_t *values, size_t n, bool allowed)
{
    EMIT(f, IF(BPF_JEQ, (uint32_t)call, 0, (uint8_t)(2 * n + 2)), LOAD(args[1]));
    for (size_t i = 0; i < n; i++) {
        EMIT(f, IF(BPF_JEQ, values[i], 0, 1));
        if (allowed)
            EMIT(f, PASS);
        else
            EMIT(f, FAIL(EPERM));
    }
    if (allowed)
        EMIT(f, FAIL(EPERM));
    else
        EMIT(f, PASS);
}

/* Allows the call for this process, which is number 0, and refuses it for others. */
static void check_own(filter *f, int call)
{
    EMIT(f, IF(BPF_JEQ, (uint32_t)call, 0, 4), LOAD(args[0]), IF(BPF_JEQ, 0, 1, 0), FAIL(EPERM),
         PASS);
}

/* Allows threads, but not processes: those lack CLONE_THREAD, which also excludes new namespaces.
 * The flags of clone3 are in memory, where a filter cannot read them; the C library then falls back
 * to clone. */
static void check_calls(filter *f, bool lock_changes)
{
    EMIT(f, IF(BPF_JEQ, 435 /* clone3 */, 0, 1), FAIL(ENOSYS));
    EMIT(f, IF(BPF_JEQ, SYS_clone, 0, 4), LOAD(args[0]), IF(BPF_JSET, CLONE_THREAD, 1, 0),
         FAIL(EPERM), PASS);
    EMIT(f, IF(BPF_JEQ, SYS_tgkill, 0, 4), LOAD(args[0]), IF(BPF_JEQ, (uint32_t)getpid(), 1, 0),
         FAIL(EPERM), PASS);
    check_own(f, SYS_prlimit64);
    check_own(f, SYS_sched_setaffinity);
    check_values(f, SYS_ioctl, requests, N_OF(requests), true);
    check_values(f, SYS_fcntl, commands, N_OF(commands), false);
    if (!lock_changes)
        return;
    EMIT(f, IF(BPF_JEQ, 437 /* openat2 */, 0, 1), FAIL(ENOSYS));
    check_open(f, SYS_openat, offsetof(struct seccomp_data, args[2]));
#ifdef SYS_open
    check_open(f, SYS_open, offsetof(struct seccomp_data, args[1]));
#endif
}

static void refuse(filter *f, const int *calls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        EMIT(f, IF(BPF_JEQ, (uint32_t)calls[i], 0, 1), FAIL(EPERM));
}

static void lock_calls(bool lock_changes)
{
    static filter     f;
    struct sock_fprog program;

    EMIT(&f, LOAD(arch), IF(BPF_JEQ, ARCHITECTURE, 1, 0), FAIL(EPERM), LOAD(nr));
    EMIT(&f, IF(BPF_JGE, 0x40000000, 0, 1), FAIL(EPERM)); /* x32, whose calls have other numbers */
    refuse(&f, refused, N_OF(refused));
    if (lock_changes)
        refuse(&f, changes, N_OF(changes));
    check_calls(&f, lock_changes);
    EMIT(&f, PASS);
    program = (struct sock_fprog){ f.n, f.code };
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Without a broker this process makes changes of files itself, so they cannot be restricted. */
CQ_API cq_status cq_sandbox_enter(const cq_sandbox_options *given)
{
    CQ_NEED(given);
    CQ_VEC(cq_broker_output) outputs = { 0 };
    cq_sandbox_options o;
    cq_status          status = CQ_OK;
    bool               locked;

    cq_sandbox_options_init(&o);
    CQ_TRY(cq_sized_take(&o, given, "cq_sandbox_options"));
    for (size_t i = 0; i < o.n_files && status == CQ_OK; i++)
        status = cq_vec_push(&outputs, ((cq_broker_output){ o.files[i], false }));
    for (size_t i = 0; i < o.n_folders && status == CQ_OK; i++)
        status = cq_vec_push(&outputs, ((cq_broker_output){ o.folders[i], true }));
    if (status == CQ_OK && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        status = cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "the kernel has no sandbox");
    if (status == CQ_OK) {
        locked = !outputs.n || cq_broker_start(outputs.items, outputs.n);
        if (locked)
            lock_files();
        lock_calls(locked);
    }
    cq_vec_clear(&outputs);
    return status;
}

#endif
