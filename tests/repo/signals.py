#!/usr/bin/python3
"""A mapped file that becomes shorter raises SIGBUS in every thread that reads it. The command line
ends with exit code 1 and one message, however many threads meet the end of the file at once."""
import sys
import tempfile
from pathlib import Path

from repo import ROOT, Report, run

MAIN = r"""
#define _DEFAULT_SOURCE
#include <calque/system.h>
#include <stdio.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_barrier_t together;
static char *mapped;

/* Both threads are in their handlers before the first has ended the program. */
void cq_discard_outputs(void)
{
    usleep(300000);
}

static void *read_it(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&together);
    return mapped[4096] ? mapped : NULL;
}

int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "w+b");
    pthread_t threads[2];

    (void)!ftruncate(fileno(file), 8192);
    mapped = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fileno(file), 0);
    (void)!ftruncate(fileno(file), 0);
    cq_program_begin(&argc, &argv, 1);
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, read_it, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"""


def main():
    report = Report(__file__)
    with report.case("two threads meet the end of a file at once"), tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder) / "main.c", Path(folder) / "main"
        source.write_text(MAIN)
        status, _, err = run(["cc", "-w", "-pthread", "-I", ROOT / "include", source,
                              ROOT / "src" / "base" / "signals.c", "-o", binary])
        assert status == 0, err
        status, _, err = run([binary, Path(folder) / "file"])
        assert status == 1, f"exit {status}: {err}"
        assert err.count("became shorter") == 1, err
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
