/* Methods of str. */
#include "script/builtins/builtin.h"
#include "base/str.h"
#include "script/python/python.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cq_text *self(const cq_fncall *c)
{
    return c->args[0].u.text;
}

static cq_status finish(cq_fncall *c, cq_str *s, cq_status status)
{
    if (status == CQ_OK)
        status = s->status;
    if (status == CQ_OK)
        status = cq_builtin_text(c->ev, cq_str_text(s), s->len, &c->result);
    cq_str_clear(s);
    return status;
}

static cq_status text_add(cq_fncall *c)
{
    cq_str s = { 0 };

    cq_str_add_n(&s, self(c)->text, self(c)->len);
    cq_str_add_n(&s, c->args[1].u.text->text, c->args[1].u.text->len);
    return finish(c, &s, CQ_OK);
}

static cq_status text_mul(cq_fncall *c)
{
    cq_str  s = { 0 };
    int64_t times;

    CQ_TRY(cq_eval_plain(c->ev, c->args[1], &times));
    for (int64_t i = 0; i < times && s.len <= CQ_EVAL_MAX_TEXT; i++)
        cq_str_add_n(&s, self(c)->text, self(c)->len);
    return finish(c, &s, CQ_OK);
}

enum { LE = 'l', GE = 'g' };

static cq_status text_compare(cq_fncall *c)
{
    const int order = strcmp(self(c)->text, c->args[1].u.text->text);

    c->result = cq_val_of_bool(c->row->how == '<'   ? order < 0
                               : c->row->how == '>' ? order > 0
                               : c->row->how == LE  ? order <= 0
                                                    : order >= 0);
    return CQ_OK;
}

/* The value of a field: "", "0", "name", "0[1]", "name.attr". */
static cq_status field_value(cq_fncall *c, const char *field, size_t len, size_t *next, cq_val *out)
{
    char   name[64];
    size_t n = strcspn(field, ".["), at = SIZE_MAX;

    n = n < len ? n : len;
    snprintf(name, sizeof name, "%.*s", (int)(n < 63 ? n : 63), field);
    if (!n)
        at = (*next)++;
    else if (isdigit((unsigned char)*name))
        at = strtoul(name, NULL, 10) + 1;
    *out = cq_fncall_arg(c, at, name);
    while (n < len && c->ev->program->python) {
        const bool   is_index = field[n] == '[';
        const size_t part     = strcspn(field + n + 1, is_index ? "]" : ".[");

        snprintf(name, sizeof name, "%.*s", (int)(part < 63 ? part : 63), field + n + 1);
        if (!is_index) {
            CQ_TRY(cq_eval_attribute(c->ev, *out, cq_name(c->ev->program, name), out));
        } else if (isdigit((unsigned char)*name)) {
            CQ_TRY(cq_eval_get_item(c->ev, *out, cq_val_of_i64(strtol(name, NULL, 10)), out));
        } else {
            cq_val key;

            CQ_TRY(cq_builtin_text(c->ev, name, strlen(name), &key));
            CQ_TRY(cq_eval_get_item(c->ev, *out, key, out));
        }
        n += 1 + part + is_index;
    }
    return CQ_OK;
}

/* Formats {name!r:spec}, without its braces. TorchScript ignores the specification. */
static cq_status format_field(cq_fncall *c, cq_str *s, const char *field, size_t len, size_t *next)
{
    const size_t name   = strcspn(field, ":}") < len ? strcspn(field, ":}") : len;
    const char  *mark   = memchr(field, '!', name);
    const size_t end    = mark ? (size_t)(mark - field) : name;
    cq_str       text   = { 0 };
    cq_status    status = CQ_OK;
    cq_val       v;

    CQ_TRY(field_value(c, field, end, next, &v));
    if (mark && mark[1] == 'r' && c->ev->program->python) {
        status = cq_eval_format(c->ev, &text, v, true);
        if (status == CQ_OK)
            status = cq_builtin_text(c->ev, cq_str_text(&text), text.len, &v);
        cq_str_clear(&text);
        CQ_TRY(status);
    }
    if (name + 1 < len && c->ev->program->python)
        return cq_python_format_spec(c->ev, s, v, field + name + 1, len - name - 1);
    return cq_eval_format(c->ev, s, v, false);
}

/* "{} {0} {name:>5}".format(…) */
static cq_status text_format(cq_fncall *c)
{
    cq_str      s      = { 0 };
    size_t      next   = 1;
    cq_status   status = CQ_OK;
    const char *p;

    for (p = self(c)->text; *p && status == CQ_OK; p++) {
        const size_t len = strcspn(p, "}");

        if ((p[0] == '{' && p[1] == '{') || (p[0] == '}' && p[1] == '}')) {
            cq_str_add_char(&s, *p++);
        } else if (*p != '{') {
            cq_str_add_char(&s, *p);
        } else {
            if (!p[len])
                break;
            status = format_field(c, &s, p + 1, len - 1, &next);
            p += len;
        }
    }
    return finish(c, &s, status);
}

/* Formats one argument of %: d is an integer, f and e have six digits, s is str(). */
static cq_status format_as(cq_eval *ev, cq_str *s, char how, cq_val v)
{
    double f = v.kind == CQ_VAL_FLOAT ? v.u.f.value
               : v.kind == CQ_VAL_INT ? (double)v.u.i.value
                                      : 0;

    if (v.kind == CQ_VAL_FLOAT && cq_val_is_symbolic(v))
        ev->text_is_open = true;
    if (v.kind == CQ_VAL_FLOAT && strchr("diu", how))
        cq_str_printf(s, "%.0f", trunc(f));
    else if ((v.kind == CQ_VAL_FLOAT || v.kind == CQ_VAL_INT) && strchr("fF", how))
        cq_str_printf(s, "%f", f);
    else if ((v.kind == CQ_VAL_FLOAT || v.kind == CQ_VAL_INT) && strchr("eE", how))
        cq_str_printf(s, how == 'e' ? "%e" : "%E", f);
    else
        return cq_eval_format(ev, s, v, how == 'r' && ev->program->python);
    return s->status;
}

/* "%-5d", "%.2f": handled as a format specification. */
static cq_status format_wide(cq_eval *ev, cq_str *s, const char *flags, size_t len, char how,
                             cq_val v)
{
    const bool is_text = how == 's' || how == 'r' || !cq_val_is_number(v);
    char       spec[64];
    size_t     n      = 0;
    cq_str     text   = { 0 };
    cq_status  status = CQ_OK;

    if (len + 4 > sizeof spec)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "the width of the format is too large");
    if (memchr(flags, '-', len))
        spec[n++] = '<';
    else if (is_text)
        spec[n++] = '>';
    for (size_t i = 0; i < len; i++)
        if (flags[i] != '-')
            spec[n++] = flags[i];
    if (!is_text)
        spec[n++] = strchr("iu", how) ? 'd' : how;
    if (!is_text)
        return cq_python_format_spec(ev, s, v, spec, n);
    status = cq_eval_format(ev, &text, v, how == 'r');
    if (status == CQ_OK)
        status = cq_builtin_text(ev, cq_str_text(&text), text.len, &v);
    cq_str_clear(&text);
    return status == CQ_OK ? cq_python_format_spec(ev, s, v, spec, n) : status;
}

/* "%d of %s" % (…) */
static cq_status text_percent(cq_fncall *c)
{
    cq_str      s      = { 0 };
    cq_status   status = CQ_OK;
    cq_val      arg;
    size_t      next = 0;
    const char *p;

    arg = c->args[1];
    for (p = self(c)->text; *p && status == CQ_OK; p++) {
        if (*p != '%') {
            cq_str_add_char(&s, *p);
        } else if (p[1] == '%') {
            cq_str_add_char(&s, *p++);
        } else {
            const char *from = p + 1;
            size_t      len;
            cq_val      named   = CQ_NONE;
            const bool  by_name = *from == '(' && arg.kind == CQ_VAL_DICT && c->ev->program->python;

            if (by_name) { /* "%(name)s" % {…} */
                len    = strcspn(from, ")");
                status = cq_builtin_text(c->ev, from + 1, len ? len - 1 : 0, &named);
                if (status == CQ_OK)
                    status = cq_eval_get_item(c->ev, arg, named, &named);
                if (status != CQ_OK || !from[len])
                    break;
                from += len + 1;
            }
            len = strspn(from, "0123456789.-+ ");
            p   = from + len;
            if (!*p)
                break;
            if (c->ev->program->python && (len || strchr("xXo", *p))) {
                const cq_val v = by_name ? named
                                 : arg.kind == CQ_VAL_TUPLE && next < arg.u.list->n
                                     ? arg.u.list->items[next++]
                                     : arg;

                status = format_wide(c->ev, &s, from, len, *p, v);
                continue;
            }
            if (by_name)
                status = format_as(c->ev, &s, *p, named);
            else if (arg.kind == CQ_VAL_TUPLE && next < arg.u.list->n)
                status = format_as(c->ev, &s, *p, arg.u.list->items[next++]);
            else
                status = format_as(c->ev, &s, *p, arg);
        }
    }
    return finish(c, &s, status);
}

static cq_status text_join(cq_fncall *c)
{
    cq_str s = { 0 };
    cq_val items;
    bool   known;

    CQ_TRY(cq_eval_items(c->ev, c->args[1], &items, &known));
    for (size_t i = 0; known && i < items.u.list->n; i++) {
        if (i)
            cq_str_add_n(&s, self(c)->text, self(c)->len);
        if (items.u.list->items[i].kind == CQ_VAL_STR)
            cq_str_add(&s, items.u.list->items[i].u.text->text);
    }
    return finish(c, &s, CQ_OK);
}

static cq_status text_split(cq_fncall *c)
{
    cq_val      sep = cq_builtin_arg(c, 1), limit = cq_builtin_arg(c, 2);
    int64_t     max = -1;
    const char *p;

    if (limit.kind == CQ_VAL_INT)
        max = limit.u.i.value;
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    p = self(c)->text;
    for (;;) {
        const char *end;
        size_t      skip;
        cq_val      piece;

        if (sep.kind != CQ_VAL_STR || !sep.u.text->len) {
            p += strspn(p, " \t\n\r");
            if (!*p)
                return CQ_OK;
            end  = max == 0 ? p + strlen(p) : p + strcspn(p, " \t\n\r");
            skip = 0;
        } else {
            end  = max == 0 ? NULL : strstr(p, sep.u.text->text);
            skip = sep.u.text->len;
        }
        CQ_TRY(cq_builtin_text(c->ev, p, end ? (size_t)(end - p) : strlen(p), &piece));
        CQ_TRY(cq_list_push(c->result.u.list, piece));
        if (!end)
            return CQ_OK;
        p = end + skip;
        max -= max > 0;
    }
}

enum { LEFT = 1, RIGHT = 2 };

static cq_status strip(cq_fncall *c)
{
    const bool  left = c->row->how & LEFT, right = c->row->how & RIGHT;
    const char *p = self(c)->text, *chars = " \t\n\r\v\f";
    size_t      len = self(c)->len;

    if (c->n > 1 && c->args[1].kind == CQ_VAL_STR)
        chars = c->args[1].u.text->text;
    while (left && len && strchr(chars, *p))
        p++, len--;
    while (right && len && strchr(chars, p[len - 1]))
        len--;
    return cq_builtin_text(c->ev, p, len, &c->result);
}

static cq_status text_replace(cq_fncall *c)
{
    cq_str      s   = { 0 };
    int64_t     max = -1; /* negative: no limit */
    const char *p, *hit;

    if (!c->args[1].u.text->len)
        return cq_fncall_decline(c);
    if (c->n > 3)
        CQ_TRY(cq_eval_plain(c->ev, c->args[3], &max));
    p = self(c)->text;
    while (max != 0 && (hit = strstr(p, c->args[1].u.text->text)) && s.len <= CQ_EVAL_MAX_TEXT) {
        max -= max > 0;
        cq_str_add_n(&s, p, (size_t)(hit - p));
        cq_str_add(&s, c->args[2].u.text->text);
        p = hit + c->args[1].u.text->len;
    }
    cq_str_add(&s, p);
    return finish(c, &s, CQ_OK);
}

/* The part of a string from start to end, which are the arguments from i on. A negative end counts
 * from one past the last character, as in TorchScript. */
static cq_status part_of(cq_fncall *c, size_t i, const char **text, size_t *len)
{
    int64_t size = (int64_t)self(c)->len, start = 0, end = -1;

    if (c->n > i)
        CQ_TRY(cq_eval_plain(c->ev, c->args[i], &start));
    if (c->n > i + 1)
        CQ_TRY(cq_eval_plain(c->ev, c->args[i + 1], &end));
    start = start < -size ? 0 : start < 0 ? size + start : start > size ? size : start;
    end   = end < -size ? 0 : end < 0 ? size + end + 1 : end > size ? size : end;
    *text = self(c)->text + start;
    *len  = end > start ? (size_t)(end - start) : 0;
    return CQ_OK;
}

static bool is_at(const char *text, size_t len, const cq_text *part)
{
    return len >= part->len && memcmp(text, part->text, part->len) == 0;
}

static cq_status starts_or_ends(cq_fncall *c)
{
    const cq_text *part = c->args[1].u.text;
    const char    *text;
    size_t         len, skip;

    CQ_TRY(part_of(c, 2, &text, &len));
    skip      = c->row->how == RIGHT && len > part->len ? len - part->len : 0;
    c->result = cq_val_of_bool(is_at(text + skip, len - skip, part));
    return CQ_OK;
}

/* startswith(("a", "b")) */
static cq_status starts_with_any(cq_fncall *c)
{
    c->result = cq_val_of_bool(false);
    for (size_t i = 0; i < c->args[1].u.list->n && !c->result.u.b.value; i++)
        CQ_TRY(CQ_CALL(c->ev, &c->result,
                       c->row->how == LEFT ? "aten::startswith" : "aten::endswith", c->args[0],
                       c->args[1].u.list->items[i]));
    return CQ_OK;
}

/* The position of a substring; with MUST a missing substring is an error. */
enum { MUST = 4 };

/* A search from the end compares at each position: for "aa…a" in "aa…a" the cost is the product of
 * the lengths. */
static cq_status find_last(cq_fncall *c, const char **hit, const char *text, size_t len)
{
    const cq_text *part = c->args[1].u.text;

    *hit = NULL;
    if (part->len > len)
        return CQ_OK;
    CQ_TRY(cq_eval_spend(c->ev, (len - part->len + 1) * (1 + part->len / CQ_EVAL_STEP_ITEMS)));
    for (size_t i = len - part->len + 1; i-- > 0 && !*hit;)
        *hit = is_at(text + i, len - i, part) ? text + i : NULL;
    return CQ_OK;
}

static cq_status text_find(cq_fncall *c)
{
    const cq_text *part  = c->args[1].u.text;
    int64_t        found = -1;
    const char    *text, *hit;
    size_t         len;

    CQ_TRY(part_of(c, 2, &text, &len));
    if (c->row->how & RIGHT)
        CQ_TRY(find_last(c, &hit, text, len));
    else
        hit = cq_find_bytes(text, len, part->text, part->len);
    if (hit)
        found = hit - self(c)->text;
    if (found < 0 && c->row->how & MUST)
        c->ev->raised_class = "ValueError";
    if (found < 0 && c->row->how & MUST)
        return cq_fail(CQ_E_ARGUMENT, c->name, NULL, "substring \"%.60s\" not found", part->text);
    c->result = cq_val_of_i64(found);
    return CQ_OK;
}

enum { ALL, FIRST, TITLE }; /* which letters become upper case; all others become lower case */

static cq_status map_letters(cq_fncall *c)
{
    cq_str s = { 0 };

    for (size_t i = 0; i < self(c)->len; i++) {
        const unsigned char ch = (unsigned char)self(c)->text[i];
        const bool          is_small =
            (c->row->how == FIRST && i) ||
            (c->row->how == TITLE && i && isalpha((unsigned char)self(c)->text[i - 1]));

        cq_str_add_char(&s, (char)(is_small ? tolower(ch) : c->row->letter(ch)));
    }
    return finish(c, &s, CQ_OK);
}

static cq_status every_letter(cq_fncall *c)
{
    bool all = self(c)->len > 0;

    for (size_t i = 0; i < self(c)->len; i++)
        all &= c->row->letter((unsigned char)self(c)->text[i]) != 0;
    c->result = cq_val_of_bool(all);
    return CQ_OK;
}

/* isupper, islower: the string has a letter of that case and none of the other. */
static cq_status is_cased(cq_fncall *c)
{
    bool some = false, other = false;

    for (size_t i = 0; i < self(c)->len; i++) {
        const unsigned char ch = (unsigned char)self(c)->text[i];

        some |= c->row->letter(ch) != 0;
        other |= isalpha(ch) && !c->row->letter(ch);
    }
    c->result = cq_val_of_bool(some && !other);
    return CQ_OK;
}

static cq_status text_count(cq_fncall *c)
{
    const cq_text *part = c->args[1].u.text;
    int64_t        n    = 0;
    const char    *text, *end, *hit;
    size_t         len;

    if (!part->len)
        return cq_fncall_decline(c);
    CQ_TRY(part_of(c, 2, &text, &len));
    end = text + len;
    for (; (hit = cq_find_bytes(text, (size_t)(end - text), part->text, part->len)); n++)
        text = hit + part->len;
    c->result = cq_val_of_i64(n);
    return CQ_OK;
}

static cq_status text_ord(cq_fncall *c)
{
    if (self(c)->len != 1)
        return cq_fncall_decline(c);
    c->result = cq_val_of_i64((unsigned char)self(c)->text[0]);
    return CQ_OK;
}

static cq_status text_chr(cq_fncall *c)
{
    int64_t i;
    char    ch;

    CQ_TRY(cq_eval_plain(c->ev, c->args[0], &i));
    if (i < 0 || i > 127)
        return cq_fail(CQ_E_UNSUPPORTED, "chr", NULL, "%lld is not an ASCII character",
                       (long long)i);
    ch = (char)i;
    return cq_builtin_text(c->ev, &ch, 1, &c->result);
}

static cq_status any_str(cq_fncall *c)
{
    cq_str s = { 0 };

    if (!c->n)
        return cq_builtin_text(c->ev, "", 0, &c->result);
    return finish(c, &s, cq_eval_format(c->ev, &s, c->args[0], false));
}

/* As in PyTorch: the hash of an integer is the integer, everything else uses the hash of the C++
 * library. */
static cq_status any_hash(cq_fncall *c)
{
    if (c->args[0].kind == CQ_VAL_STR && self(c)->open)
        return cq_builtin_open_text("hash");
    if (c->args[0].kind != CQ_VAL_INT)
        return cq_fail(CQ_E_UNSUPPORTED, "hash", "compute a number from the tensors instead",
                       "the hash of %s depends on the machine and cannot be expressed in ONNX",
                       cq_eval_type_name(c->args[0]));
    c->result = c->args[0];
    return CQ_OK;
}

const cq_builtin cq_builtins_text[] = {
    { "add(str a, str b)", .fn = text_add },
    { "mul(str a, b)", .fn = text_mul },
    { "lt(str a, str b)", .fn = text_compare, .how = '<' },
    { "gt(str a, str b)", .fn = text_compare, .how = '>' },
    { "le(str a, str b)", .fn = text_compare, .how = LE },
    { "ge(str a, str b)", .fn = text_compare, .how = GE },
    { "format(str self, ...)", .fn = text_format },
    { "remainder(str self, args)", .fn = text_percent },
    { "percentFormat(str self, args)", .fn = text_percent },
    { "join(str self, values)", .fn = text_join },
    { "split(str self, separator?, max?)", .fn = text_split },
    { "strip(str self, chars?)", .fn = strip, .how = LEFT | RIGHT },
    { "lstrip(str self, chars?)", .fn = strip, .how = LEFT },
    { "rstrip(str self, chars?)", .fn = strip, .how = RIGHT },
    { "replace(str self, str old, str new, max?)", .fn = text_replace },
    { "startswith(str self, str substr, start?, end?)", .fn = starts_or_ends, .how = LEFT },
    { "endswith(str self, str substr, start?, end?)", .fn = starts_or_ends, .how = RIGHT },
    { "startswith(str self, items parts)", .fn = starts_with_any, .how = LEFT },
    { "endswith(str self, items parts)", .fn = starts_with_any, .how = RIGHT },
    { "find(str self, str substr, start?, end?)", .fn = text_find, .how = LEFT },
    { "rfind(str self, str substr, start?, end?)", .fn = text_find, .how = RIGHT },
    { "index(str self, str substr, start?, end?)", .fn = text_find, .how = LEFT | MUST },
    { "rindex(str self, str substr, start?, end?)", .fn = text_find, .how = RIGHT | MUST },
    { "upper(str self)", .fn = map_letters, .how = ALL, .letter = toupper },
    { "lower(str self)", .fn = map_letters, .how = ALL, .letter = tolower },
    { "capitalize(str self)", .fn = map_letters, .how = FIRST, .letter = toupper },
    { "title(str self)", .fn = map_letters, .how = TITLE, .letter = toupper },
    { "isupper(str self)", .fn = is_cased, .letter = isupper },
    { "islower(str self)", .fn = is_cased, .letter = islower },
    { "isdigit(str self)", .fn = every_letter, .letter = isdigit },
    { "isalpha(str self)", .fn = every_letter, .letter = isalpha },
    { "isalnum(str self)", .fn = every_letter, .letter = isalnum },
    { "isspace(str self)", .fn = every_letter, .letter = isspace },
    { "isdecimal(str self)", .fn = every_letter, .letter = isdigit },
    { "isnumeric(str self)", .fn = every_letter, .letter = isdigit },
    { "count(str self, str substr, start?, end?)", .fn = text_count },
    { "ord(str string)", .fn = text_ord },
    { "chr(i)", .fn = text_chr },
    { "str(object?)", .fn = any_str },
    { "hash(object)", .fn = any_hash },
    { 0 },
};
