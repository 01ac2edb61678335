/* Answers `cpuid` as a processor that has AVX2 and nothing newer. Loaded before the copy of ONNX
 * Runtime that avx2_only.py makes, in which every cpuid is two bytes 06: `push es`, which 64-bit
 * processors refuse and no compiler writes, so that no other trap is taken for it. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#define BIT(n) (1u << (n))

enum { FEATURES = 7 }; /* the leaf whose bits are instruction sets, AVX2 and later */

/* F, DQ, IFMA, PF, ER, CD, BW, VL of AVX-512 */
static const unsigned newer_b =
    BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31);
/* VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ */
static const unsigned newer_c = BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14);
/* 4VNNIW, 4FMAPS, VP2INTERSECT; AMX of BF16; FP16; AMX itself, AMX of int8 */
static const unsigned newer_d = BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25);

static void answer(greg_t *regs)
{
    unsigned leaf = (unsigned)regs[REG_RAX], part = (unsigned)regs[REG_RCX], a, b, c, d;

    __cpuid_count(leaf, part, a, b, c, d);
    if (leaf == FEATURES && part == 0) {
        b &= ~newer_b;
        c &= ~newer_c;
        d &= ~newer_d;
    } else if (leaf == FEATURES) {
        a = b = c = d = 0; /* AVX-VNNI, BF16 and what came after them */
    }
    regs[REG_RAX] = a;
    regs[REG_RBX] = b;
    regs[REG_RCX] = c;
    regs[REG_RDX] = d;
}

static void on_illegal(int number, siginfo_t *info, void *context)
{
    greg_t              *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)regs[REG_RIP];

    (void)info;
    if (code[0] != 0x06 || code[1] != 0x06) {
        signal(number, SIG_DFL); /* it traps once more, and that is the end */
        return;
    }
    answer(regs);
    regs[REG_RIP] += 2;
}

__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = { .sa_sigaction = on_illegal, .sa_flags = SA_SIGINFO };

    sigaction(SIGILL, &action, NULL);
}
