/* Text and errors of Windows: UTF-16 paths and GetLastError. */
#ifndef CQ_BASE_WINDOWS_TEXT_H
#define CQ_BASE_WINDOWS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

enum { CQ_WINDOWS_PATH = 4200 }; /* units of UTF-16, with the prefix of long paths */

/* A path for the calls of Windows. One that is longer than MAX_PATH gets the prefix \\?\. false: it
 * is not UTF-8 or too long, and errno says so. */
bool cq_windows_path(wchar_t out[CQ_WINDOWS_PATH], const char *path);

/* UTF-8 of UTF-16, backslashes as slashes if is_path; false if it does not fit. */
bool cq_windows_text(char *out, size_t size, const wchar_t *text, bool is_path);

/* Sets errno to what GetLastError says; returns -1. */
int cq_windows_fail(void);

#endif
