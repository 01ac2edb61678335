/* Profiles of sessions, in the Trace Event Format. */
#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/str.h"
#include "base/vec.h"
#include "runtime/profile.h"

#include <calque/session.h>

#include <inttypes.h>

typedef struct event {
    const char *node, *op_type;
    int64_t     begin, end; /* nanoseconds */
    uint32_t    thread;     /* index in threads */
} event;

struct cq_profile {
    cq_mutex  mutex;
    cq_arena *arena; /* owns names, which may outlive the session */
    cq_status status;
    CQ_VEC(event) events;
    CQ_VEC(cq_thread_id) threads;
};

CQ_API cq_status cq_profile_new(cq_profile **out)
{
    CQ_NEED_OUT(out, true);
    cq_profile *p = cq_zalloc(sizeof *p);

    if (!p)
        return CQ_E_NO_MEMORY;
    p->arena = cq_arena_new();
    if (!p->arena) {
        cq_free(p);
        return CQ_E_NO_MEMORY;
    }
    cq_mutex_init(&p->mutex);
    *out = p;
    return CQ_OK;
}

CQ_API void cq_profile_free(cq_profile *p)
{
    if (!p)
        return;
    cq_mutex_clear(&p->mutex);
    cq_vec_clear(&p->events);
    cq_vec_clear(&p->threads);
    cq_arena_free(p->arena);
    cq_free(p);
}

static cq_status number_of_thread(uint32_t *out, cq_profile *p)
{
    for (size_t i = 0; i < p->threads.n; i++)
        if (cq_thread_is(p->threads.items[i], cq_thread_self())) {
            *out = (uint32_t)i;
            return CQ_OK;
        }
    *out = (uint32_t)p->threads.n;
    return cq_vec_push(&p->threads, cq_thread_self());
}

static cq_status note(cq_profile *p, event e)
{
    CQ_TRY(number_of_thread(&e.thread, p));
    e.node    = cq_arena_strdup(p->arena, e.node);
    e.op_type = cq_arena_strdup(p->arena, e.op_type);
    return e.node && e.op_type ? cq_vec_push(&p->events, e) : CQ_E_NO_MEMORY;
}

CQ_API void cq_profile_note(void *profile, const char *node, const char *op_type, int64_t begin,
                            int64_t end)
{
    CQ_NEED_ELSE(profile && node && op_type, );
    cq_profile *p = profile;

    cq_mutex_lock(&p->mutex);
    if (p->status == CQ_OK)
        p->status = note(p, (event){ node, op_type, begin, end, 0 });
    cq_mutex_unlock(&p->mutex);
}

cq_status cq_profile_each(cq_profile *p, cq_profile_fn fn, void *user)
{
    cq_status status;

    cq_mutex_lock(&p->mutex);
    status = p->status;
    for (size_t i = 0; i < p->events.n && status == CQ_OK; i++) {
        const event *e = &p->events.items[i];

        status = fn(user, e->node, e->op_type, (double)(e->end - e->begin) * 1e-9);
    }
    cq_mutex_unlock(&p->mutex);
    return status;
}

static int add_piece(const char *text, size_t size, void *s)
{
    cq_str_add_n(s, text, size);
    return 0;
}

static cq_status add_text(cq_str *s, const char *text)
{
    json_t *json = json_string(text);

    if (!json)
        json = json_string("?"); /* for bytes that are not UTF-8 */
    if (!json)
        return cq_no_memory();
    json_dump_callback(json, add_piece, s, JSON_ENCODE_ANY);
    json_decref(json);
    return CQ_OK;
}

/* Times are in microseconds. */
static cq_status add_event(cq_str *s, const event *e, bool first)
{
    cq_str_add(s, first ? "\n{\"name\": " : ",\n{\"name\": ");
    CQ_TRY(add_text(s, *e->node ? e->node : e->op_type));
    cq_str_add(s, ", \"cat\": ");
    CQ_TRY(add_text(s, e->op_type));
    cq_str_printf(s, ", \"ph\": \"X\", \"ts\": %.3f, \"dur\": %.3f, \"pid\": 1, \"tid\": %u}",
                  (double)e->begin / 1e3, (double)(e->end - e->begin) / 1e3, e->thread + 1);
    return CQ_OK;
}

static cq_status save(cq_profile *p, const char *path, uint64_t peak)
{
    cq_str    s      = { 0 };
    cq_status status = p->status;

    cq_str_add(&s, "{\"traceEvents\": [");
    for (size_t i = 0; i < p->events.n && status == CQ_OK; i++)
        status = add_event(&s, &p->events.items[i], i == 0);
    cq_str_printf(&s, "\n], \"otherData\": {\"peak_bytes\": \"%" PRIu64 "\"}}\n", peak);
    if (status == CQ_OK)
        status = s.status;
    if (status == CQ_OK)
        status = cq_file_write(path, s.text, s.len);
    cq_str_clear(&s);
    return status;
}

CQ_API cq_status cq_profile_save(cq_profile *p, const char *path, const cq_session *session)
{
    CQ_NEED(p && path);
    cq_status status;

    cq_mutex_lock(&p->mutex);
    status = save(p, path, session ? cq_session_peak_memory(session) : 0);
    cq_vec_clear(&p->events);
    cq_mutex_unlock(&p->mutex);
    return status;
}
