/* Refs and configuration; objects are in git_object.c. The layout is that of
 * gitrepository-layout(5): a .git folder, or a file that names one, which may share most of its
 * files with another. */
#include "testcase/git.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/path.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_REFS      = 5,
    MAX_PARENTS   = 256,
    CONFIG_SIZE   = 1 << 16,
    LINE_SIZE     = 1024,
    MAX_PATH_SIZE = 4096
};

typedef struct repository {
    char own[MAX_PATH_SIZE];    /* HEAD, and refs of this work tree */
    char common[MAX_PATH_SIZE]; /* everything else */
} repository;

static bool join(char *out, const char *folder, const char *name)
{
    const bool absolute = cq_path_is_absolute(name);
    const int  n =
        snprintf(out, MAX_PATH_SIZE, "%s%s%s", absolute ? "" : folder, absolute ? "" : "/", name);

    return n > 0 && n < MAX_PATH_SIZE;
}

/* A whole small text file; false if it cannot be read. */
static bool read_text(char *text, size_t size, const char *folder, const char *name)
{
    char path[MAX_PATH_SIZE];

    return join(path, folder, name) && cq_path_read_text(text, size, path);
}

static bool read_line(char *line, size_t size, const char *folder, const char *name)
{
    if (!read_text(line, size, folder, name))
        return false;
    line[strcspn(line, "\r\n")] = '\0';
    return *line;
}

static bool is_folder(const char *path)
{
    return cq_path_look_up(path, NULL) == CQ_PATH_FOLDER;
}

/* ---- where it is ---- */

/* A .git of a folder: itself, or the folder that it names. */
static bool open_at(repository *r, const char *folder)
{
    char line[MAX_PATH_SIZE], head[LINE_SIZE];

    if (!join(r->own, folder, ".git"))
        return false;
    if (!is_folder(r->own)) {
        if (!read_line(line, sizeof line, folder, ".git") || strncmp(line, "gitdir: ", 8) != 0 ||
            !join(r->own, folder, line + 8))
            return false;
    }
    if (!read_line(head, sizeof head, r->own, "HEAD"))
        return false;
    if (read_line(line, sizeof line, r->own, "commondir"))
        return join(r->common, r->own, line);
    memcpy(r->common, r->own, sizeof r->common);
    return true;
}

static bool find(repository *r)
{
    char folder[MAX_PATH_SIZE];

    if (!cq_path_working_folder(folder, sizeof folder))
        return false;
    for (int i = 0; i < MAX_PARENTS; i++) {
        char *slash = strrchr(folder, '/');

        if (open_at(r, folder))
            return true;
        if (!slash || !*folder || strcmp(slash, "/.git") == 0) /* inside of it is not a work tree */
            return false;
        *slash = '\0';
    }
    return false;
}

/* ---- refs ---- */

static bool is_hash(const char *text)
{
    size_t n = strspn(text, "0123456789abcdef");

    return (n == 40 || n == 64) && !text[n];
}

/* A name may not lead out of the repository. */
static bool is_ref(const char *name)
{
    return strncmp(name, "refs/", 5) == 0 && !strstr(name, "..") && !strstr(name, "//");
}

/* Lines of packed-refs are "HASH NAME". */
static bool find_packed(char *hash, size_t size, const repository *r, const char *name)
{
    char        path[MAX_PATH_SIZE];
    cq_mapping *file;
    bool        found = false;

    if (!join(path, r->common, "packed-refs") || cq_mapping_open(&file, path) != CQ_OK)
        return false;
    for (const char *at = cq_mapping_data(file), *end = at ? at + cq_mapping_size(file) : NULL;
         at < end && !found;) {
        const char *stop  = memchr(at, '\n', (size_t)(end - at));
        size_t      len   = (size_t)((stop ? stop : end) - at);
        const char *space = memchr(at, ' ', len);
        size_t      n     = space ? (size_t)(space - at) : 0;

        if (space && n < size && len - n - 1 == strlen(name) &&
            memcmp(space + 1, name, len - n - 1) == 0) {
            memcpy(hash, at, n);
            hash[n] = '\0';
            found   = is_hash(hash);
        }
        at += len + 1;
    }
    cq_mapping_release(file);
    return found;
}

static void read_head(cq_git *git, const repository *r)
{
    char line[LINE_SIZE], name[LINE_SIZE];

    strcpy(git->branch, "HEAD");
    if (!read_line(line, sizeof line, r->own, "HEAD"))
        return;
    for (int i = 0; i < MAX_REFS && strncmp(line, "ref: ", 5) == 0; i++) {
        snprintf(name, sizeof name, "%s", line + 5);
        if (!is_ref(name))
            return;
        if (i == 0 && strncmp(name, "refs/heads/", 11) == 0)
            snprintf(git->branch, sizeof git->branch, "%.*s", (int)sizeof git->branch - 1,
                     name + 11);
        if (!read_line(line, sizeof line, r->own, name) &&
            !read_line(line, sizeof line, r->common, name) &&
            !find_packed(line, sizeof line, r, name))
            return;
    }
    if (is_hash(line))
        memcpy(git->commit, line, strlen(line) + 1);
}

/* ---- configuration ---- */

/* A value up to the end of its line: quotes, escapes, comments, continued lines. */
static void read_value(char *out, size_t size, const char *p)
{
    size_t n = 0, kept = 0; /* without the blanks at the end */
    bool   quoted = false;

    p += strspn(p, " \t");
    for (; *p && *p != '\n'; p++) {
        char c = *p;

        if (!quoted && (c == '#' || c == ';'))
            break;
        if (c == '"') {
            quoted = !quoted;
            continue;
        }
        if (c == '\\' && p[1]) {
            c = *++p;
            if (c == '\n')
                continue;
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
        }
        if (n + 1 < size)
            out[n++] = c;
        if (quoted || (c != ' ' && c != '\t' && c != '\r'))
            kept = n;
    }
    out[kept] = '\0';
}

/* The url of [remote "origin"]; the first, which git fetches from. */
static bool find_url(char *out, size_t size, const char *config)
{
    bool here = false;

    for (const char *p = config; *p; p += *p == '\n') {
        p += strspn(p, " \t\r");
        if (*p == '[') {
            here = cq_starts_with_word(p, "[remote \"origin\"]");
            p += strcspn(p, "]\n");
            p += *p == ']';
            continue;
        }
        if (here && cq_starts_with_word(p, "url")) {
            const char *value = p + 3 + strspn(p + 3, " \t");

            if (*value == '=') {
                read_value(out, size, value + 1);
                return true;
            }
        }
        p += strcspn(p, "\n");
    }
    return false;
}

/* Removes possible secrets from a URL, in place: user and password (for ssh only the password,
 * because its user is part of the address), query and fragment. */
static void hide_credentials(char *url)
{
    char  *host = strstr(url, "://"), *at = NULL, *colon;
    bool   ssh = strncmp(url, "ssh", 3) == 0 || strncmp(url, "git+ssh", 7) == 0;
    size_t len;

    if (!host)
        return; /* a path, or user@host:path */
    host += 3;
    host[strcspn(host, "?#")] = '\0';
    len                       = strcspn(host, "/");
    for (size_t i = 0; i < len; i++)
        at = host[i] == '@' ? host + i : at;
    if (!at)
        return;
    colon = memchr(host, ':', (size_t)(at - host));
    if (!ssh)
        memmove(host, at + 1, strlen(at + 1) + 1);
    else if (colon)
        memmove(colon, at, strlen(at) + 1);
}

bool cq_git_read(cq_git *out)
{
    static const cq_git nothing;
    char                objects[MAX_PATH_SIZE], *config;
    repository          r;

    *out = nothing;
    if (!find(&r))
        return false;
    read_head(out, &r);
    config = cq_alloc(CONFIG_SIZE);
    if (!config || !read_text(config, CONFIG_SIZE, r.common, "config") ||
        !find_url(out->remote, sizeof out->remote, config))
        strcpy(out->remote, "origin");
    cq_free(config);
    hide_credentials(out->remote);
    if (*out->commit && join(objects, r.common, "objects"))
        cq_git_commit_date(out->commit_date, sizeof out->commit_date, objects, out->commit);
    return true;
}
