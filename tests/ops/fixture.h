/* Cases of operators as tests/ops/make.py wrote them: JSON to values. Used by ops_test.c,
 * which replays them, and by tests/tools/op_export.c, which exports them. */
#ifndef CQ_TESTS_OPS_FIXTURE_H
#define CQ_TESTS_OPS_FIXTURE_H

#include "aten/core/ctx.h"
#include "base/str.h"

#include <jansson.h>

/* The cases of a file: an array of objects. Free with json_decref. */
cq_status cq_fixture_load(json_t **out, const char *path);

/* A value of a case; the context owns it. */
cq_status cq_fixture_val(cq_ctx *cx, cq_val *out, const json_t *j);

enum { CQ_FIXTURE_MAX_ARGS = 64 };

/* All arguments of a case. */
cq_status cq_fixture_args(cq_ctx *cx, cq_val *args, size_t *n, const json_t *one);

/* "aten::add.Tensor(float32[2, 3], float32[3], 2)", for people. */
void cq_fixture_describe(cq_str *out, const json_t *one);

#endif
