/* A progress bar for long work: on a terminal only, and only after a second, so that most commands
 * never show one. It takes one line of standard error, which is cleared at the end. */
#include "cli.h"

#include <calque/system.h>

#include <inttypes.h>
#include <stdio.h>

#define PATIENCE 1.0  /* seconds before the bar appears */
#define REDRAW   0.05 /* seconds between two updates */
#define WIDTH    50

typedef struct bar {
    double began, drawn; /* 0 if it has not begun */
} bar;

void cli_progress_bar(char *out, size_t size, int width, const char *what, uint64_t done,
                      uint64_t total)
{
    double part = total && done < total ? (double)done / (double)total : 1;
    int    full = (int)(part * width);
    size_t at   = 0;

    for (int i = 0; i < width && at + 1 < size; i++)
        out[at++] = i < full ? '#' : '.';
    snprintf(out + at, size - at, " %3d %%  %s", (int)(part * 100), what);
}

static void show(void *user, const char *what, uint64_t done, uint64_t total)
{
    bar   *b = user;
    double t = cq_seconds();
    char   text[160];

    if (!what) {
        if (b->drawn > 0)
            fputs("\r\033[K", stderr);
        *b = (bar){ 0 };
        return;
    }
    if (b->began <= 0)
        b->began = t;
    if (t - b->began < PATIENCE || t - b->drawn < REDRAW)
        return;
    b->drawn = t;
    cli_progress_bar(text, sizeof text, WIDTH, what, done, total);
    fprintf(stderr, "\r%s\033[K", text);
    fflush(stderr);
}

void cli_show_progress(void)
{
    static bar b;

    if (cq_stderr_is_terminal())
        cq_set_progress_handler(show, &b);
}
