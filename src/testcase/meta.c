/* The keys, their order and the layout are those of pytorch-pfn-extras, even the name of the
 * exporter, which its tools look for. */
#include "testcase/meta.h"

#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "testcase/git.h"

#include <stdio.h>
#include <string.h>

static int add_text(const char *text, size_t size, void *to)
{
    cq_str_add_n(to, text, size);
    return 0;
}

static cq_status write_json(const json_t *json, const char *path)
{
    cq_str text   = { 0 };
    bool   failed = json_dump_callback(json, add_text, &text, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    cq_status status = failed ? cq_no_memory() : text.status;

    if (status == CQ_OK)
        status = cq_file_write(path, text.text, text.len);
    cq_str_clear(&text);
    return status;
}

/* 2022-03-04T05:06:07.123456, local time, as datetime.isoformat has it. */
static json_t *now(void)
{
    char text[40];

    return cq_time_local_text(text, sizeof text) ? json_string(text) : NULL;
}

/* Text in any encoding; invalid UTF-8 is dropped. */
static json_t *text_or_empty(const char *text)
{
    json_t *json = json_string(text);

    return json ? json : json_string("");
}

/* The state of the working folder, NULL if it is not under git. */
static json_t *git_state(void)
{
    json_t *json;
    cq_git  git;

    if (!cq_git_read(&git))
        return NULL;
    json = json_object();
    json_object_set_new(json, "branch", text_or_empty(git.branch));
    json_object_set_new(json, "commit", text_or_empty(git.commit));
    json_object_set_new(json, "remote", text_or_empty(git.remote));
    json_object_set_new(json, "commit_date", text_or_empty(git.commit_date));
    return json;
}

static cq_status read_user_meta(json_t **out, const char *text)
{
    json_error_t error;

    *out = json_loads(text, 0, &error);
    if (json_is_object(*out))
        return CQ_OK;
    json_decref(*out);
    *out = NULL;
    return cq_fail(CQ_E_ARGUMENT, NULL, "it is for example {\"author\": \"me\"}",
                   "the user's meta data is not a JSON object: %s",
                   *error.text ? error.text : "it is another value");
}

cq_status cq_meta_write(const cq_meta *meta, const char *path)
{
    json_t   *user = NULL, *git, *json;
    cq_status status;

    if (meta->user_meta)
        CQ_TRY(read_user_meta(&user, meta->user_meta));
    git  = git_state();
    json = json_object();
    json_object_set_new(json, "generated_at", now());
    json_object_set_new(json, "output_directory", json_string(meta->output_directory));
    json_object_set_new(json, "exporter", json_string("torch-onnx-utils"));
    json_object_set_new(json, "strip_large_tensor_data", json_boolean(meta->is_stripped));
    if (json_object_size(user))
        json_object_set(json, "user_meta", user);
    if (git)
        json_object_set(json, "git", git);
    status = write_json(json, path);
    json_decref(user);
    json_decref(git);
    json_decref(json);
    return status;
}

cq_status cq_meta_set_unstripped(const char *path, const char *out)
{
    json_error_t error;
    json_t      *json;
    cq_status    status;
    char        *text;
    size_t       size;

    CQ_TRY(cq_file_read(&text, &size, path));
    json = json_loadb(text, size, 0, &error);
    cq_free(text);
    if (!json)
        return cq_fail(CQ_E_FORMAT, path, NULL, "line %d is not JSON: %s", error.line, error.text);
    if (json_object_get(json, "strip_large_tensor_data"))
        json_object_set_new(json, "strip_large_tensor_data", json_false());
    status = write_json(json, out);
    json_decref(json);
    return status;
}
