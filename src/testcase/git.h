/* The state of a git work tree, read from its files. Nothing is run: a repository's configuration
 * may name programs, and the folder that calque works in may be anybody's. */
#ifndef CQ_TESTCASE_GIT_H
#define CQ_TESTCASE_GIT_H

#include <stdbool.h>
#include <stddef.h>

/* Unknown texts are "". */
typedef struct cq_git {
    char branch[256]; /* "HEAD" when none is checked out */
    char commit[72];
    char remote[1024]; /* the URL of origin, without passwords; "origin" if it has no URL */
    char commit_date[40];
} cq_git;

/* The repository that the working folder is in; false if it is in none. */
bool cq_git_read(cq_git *out);

/* The date of a commit as `git show --format=%ci` has it, "" if it cannot be found in the folder
 * of objects. */
void cq_git_commit_date(char *out, size_t size, const char *objects, const char *commit);

#endif
