/* Files that nobody vouches for are read by a process that can do little: it starts no program,
 * opens no connection, and writes only to the folders that the command names. Landlock and
 * seccomp do that where the kernel has them; where it has not, everything works as before. It is
 * a second wall, behind readers that are meant to be sound. */
#define _GNU_SOURCE
#include "sandbox.h"

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&       \
    defined(__has_include)
#if __has_include(<linux/landlock.h>) && __has_include(<linux/seccomp.h>) &&                       \
    (defined(__x86_64__) || defined(__aarch64__))
#define HAS_SANDBOX 1
#endif
#endif

#ifndef HAS_SANDBOX
void cli_sandbox(const cli_args *args)
{
    (void)args; /* sanitizers trace their own process, other systems have no such calls */
}
#else

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- which folders ---- */

/* Options and operands that name what is written. An operand is written to by a verb when none of
 * the options is given; "." is the working folder. */
static const char *const outputs[] = { "output", "out_path", "out_onnx_path", "report", "profile" };
static const struct {
    const char *verb;
    int         operand; /* -1: the working folder */
} by_operand[] = { { "export", -1 }, { "testcase", 1 }, { "strip", 0 }, { "unstrip", 0 } };

/* Verbs whose output may be a folder that is replaced as a whole, which takes its parent. */
static const char *const replacing[] = { "testcase", "unstrip" };

/* ---- Landlock ---- */

#define WRITING                                                                                    \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                               \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG)
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#define FORBIDDEN                                                                                  \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK |    \
     LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

/* Links from one folder to another have a right of their own, which the first version of Landlock
 * cannot give. */
static uint64_t refer_right(void)
{
    const long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    return version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0;
}

static void allow(int rules, const char *path)
{
    struct stat                       st;
    struct landlock_path_beneath_attr rule = { .allowed_access = WRITING | refer_right() };

    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return;
    if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rule.allowed_access = LANDLOCK_ACCESS_FS_WRITE_FILE;
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

/* The folder that a path is in, and it must be there: of one that will be made, the nearest above.
 */
static void allow_folder_of(int rules, const char *path)
{
    char folder[PATH_MAX];

    if (strlen(path) >= sizeof folder)
        return;
    strcpy(folder, path);
    do {
        char *slash = strrchr(folder, '/');

        if (slash && slash != folder)
            *slash = '\0';
        else
            strcpy(folder, slash ? "/" : ".");
    } while (access(folder, F_OK) < 0 && strcmp(folder, "/") != 0 && strcmp(folder, ".") != 0);
    allow(rules, folder);
}

/* A folder, a file that is or will be there, a device, or what a link leads to. */
static void allow_output(int rules, const char *path)
{
    char        link[PATH_MAX], target[2 * PATH_MAX];
    struct stat st;
    ssize_t     n;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        allow(rules, path);
        return;
    }
    allow_folder_of(rules, path);
    if (realpath(path, link)) {
        allow_folder_of(rules, link);
    } else if ((n = readlink(path, link, sizeof link - 1)) > 0) { /* to what is not there yet */
        const char *slash = strrchr(path, '/');
        size_t      len   = slash && *link != '/' ? (size_t)(slash - path) + 1 : 0;

        memcpy(target, path, len < PATH_MAX ? len : 0);
        memcpy(target + (len < PATH_MAX ? len : 0), link, (size_t)n);
        target[(len < PATH_MAX ? len : 0) + (size_t)n] = '\0';
        allow_folder_of(rules, target);
    }
}

/* A folder of that name, with or without a slash at its end; "." has no other name. */
static void allow_parent(int rules, const char *path)
{
    char   plain[PATH_MAX];
    size_t n = strlen(path);

    if (n >= sizeof plain)
        return;
    strcpy(plain, path);
    while (n > 1 && plain[n - 1] == '/')
        plain[--n] = '\0';
    if (strcmp(plain, ".") != 0)
        allow_folder_of(rules, plain);
}

static void allow_output_of(int rules, const cli_verb *verb, const char *path)
{
    struct stat st;

    allow_output(rules, path);
    for (size_t i = 0; i < sizeof replacing / sizeof *replacing; i++)
        if (strcmp(replacing[i], verb->name) == 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            allow_parent(rules, path);
}

static bool has_option(const cli_verb *verb, const char *name)
{
    for (const cli_option *o = verb->options; o && o->name; o++)
        if (strcmp(o->name, name) == 0)
            return true;
    return false;
}

static void allow_outputs(int rules, const cli_args *args)
{
    bool given = false;

    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (has_option(args->verb, outputs[i]) && cli_has(args, outputs[i])) {
            allow_output_of(rules, args->verb, cli_value(args, outputs[i]));
            given |= i < 3;
        }
    for (size_t i = 0; i < sizeof by_operand / sizeof *by_operand && !given; i++)
        if (strcmp(by_operand[i].verb, args->verb->name) == 0)
            allow_output_of(rules, args->verb,
                            by_operand[i].operand < 0 ? "."
                                                      : args->operands[by_operand[i].operand]);
}

static void lock_files(const cli_args *args)
{
    struct landlock_ruleset_attr attr = { .handled_access_fs =
                                              WRITING | FORBIDDEN | refer_right() };
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr.handled_access_fs, 0);

    if (rules < 0)
        return;
    allow_outputs(rules, args);
    syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
}

/* ---- seccomp ---- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif
#define AT(field)      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), RETURN_EPERM
#define RETURN_EPERM   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

/* Programs, connections, other processes and parts of the kernel that have no business here fail
 * as if there were no permission. The last test is for x32, whose calls have other numbers. */
static void lock_calls(void)
{
    struct sock_filter filter[] = {
        AT(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        RETURN_EPERM,
        AT(nr),
        REFUSE(SYS_execve),
        REFUSE(SYS_execveat),
        REFUSE(SYS_socket),
        REFUSE(SYS_socketpair),
        REFUSE(SYS_connect),
        REFUSE(SYS_bind),
        REFUSE(SYS_listen),
        REFUSE(SYS_ptrace),
        REFUSE(SYS_process_vm_readv),
        REFUSE(SYS_process_vm_writev),
        REFUSE(SYS_bpf),
        REFUSE(SYS_perf_event_open),
        REFUSE(SYS_userfaultfd),
        REFUSE(SYS_io_uring_setup),
        REFUSE(SYS_mount),
        REFUSE(SYS_unshare),
        REFUSE(SYS_setns),
        REFUSE(SYS_keyctl),
        REFUSE(SYS_add_key),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        RETURN_EPERM,
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void cli_sandbox(const cli_args *args)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return;
    lock_files(args);
    lock_calls();
}

#endif
