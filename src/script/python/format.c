/* str(), repr() and format() of Python source. */
#include "script/python/python.h"
#include "base/str.h"
#include "script/builtins/builtin.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- objects ---- */

static const char *dtype_name(int64_t n)
{
    static const char *const names[] = { "uint8",     "int8",      "int16",      "int32",
                                         "int64",     "float16",   "float32",    "float64",
                                         "complex32", "complex64", "complex128", "bool",
                                         "qint8",     "quint8",    "qint32",     "bfloat16" };

    return n >= 0 && n < 16 ? names[n] : "dtype";
}

static cq_status format_named(cq_eval *ev, cq_str *s, const cq_object *t)
{
    cq_str_printf(s, "%s(", t->cls->name);
    for (size_t i = 0; i < t->cls->n_fields && i < t->self.u.list->n; i++) {
        cq_str_printf(s, "%s%s=", i ? ", " : "", t->cls->fields[i].name);
        CQ_TRY(cq_eval_format(ev, s, t->self.u.list->items[i], true));
    }
    cq_str_add_char(s, ')');
    return s->status;
}

static cq_status format_by_method(cq_eval *ev, cq_str *s, cq_val v, bool quoted, bool *found)
{
    cq_val text;

    *found = false;
    if (!quoted)
        CQ_TRY(cq_python_special(ev, v, "__str__", NULL, 0, &text, found));
    if (!*found)
        CQ_TRY(cq_python_special(ev, v, "__repr__", NULL, 0, &text, found));
    if (!*found)
        return CQ_OK;
    if (text.kind != CQ_VAL_STR)
        return cq_python_raise(ev, "TypeError", "__str__ returned %s", cq_eval_type_name(text));
    cq_str_add_n(s, text.u.text->text, text.u.text->len);
    return s->status;
}

cq_status cq_python_format(cq_eval *ev, cq_str *s, cq_val v, bool quoted, bool *found)
{
    cq_object *t = cq_object_of(v);
    char       a[64], b[64], c[64];

    *found = false;
    if (t && t->type)
        CQ_TRY(format_by_method(ev, s, v, quoted, found));
    if (*found || !t)
        return CQ_OK;
    *found = true;
    switch (t->kind) {
    case CQ_OBJECT_INSTANCE:
        if (t->self.kind != CQ_VAL_NONE)
            return cq_eval_format(ev, s, t->self, quoted);
        cq_str_printf(s, "<%s object>", t->qualified ? t->qualified : "object");
        break;
    case CQ_OBJECT_CLASS:
        cq_str_printf(s, "<class '%s'>", t->qualified ? t->qualified : t->cls->name);
        break;
    case CQ_OBJECT_BUILTIN:
        cq_str_printf(s,
                      strcmp(t->text, "Size") == 0 || strcmp(t->text, "Tensor") == 0
                          ? "<class 'torch.%s'>"
                      : cq_python_is_type_name(t->text) ? "<class '%s'>"
                                                        : "<built-in function %s>",
                      t->text);
        break;
    case CQ_OBJECT_FUNCTION:
        cq_str_printf(s, "<function %s>", t->def->name ? t->def->name : "<lambda>");
        break;
    case CQ_OBJECT_NAMED: return format_named(ev, s, t);
    case CQ_OBJECT_MODULE: cq_str_printf(s, "<module '%s'>", t->text); break;
    case CQ_OBJECT_DTYPE: cq_str_printf(s, "torch.%s", dtype_name(t->self.u.i.value)); break;
    case CQ_OBJECT_ELLIPSIS: cq_str_add(s, "Ellipsis"); break;
    case CQ_OBJECT_RANGE:
        cq_str_printf(s, "range(%s, %s", cq_int_text(t->start, a), cq_int_text(t->stop, b));
        cq_str_printf(s, cq_int_is(t->step, 1) ? ")" : ", %s)", cq_int_text(t->step, c));
        break;
    case CQ_OBJECT_SLICE: cq_str_add(s, "slice"); return cq_eval_format(ev, s, t->self, true);
    default: *found = false; break;
    }
    return s->status;
}

/* ---- format specifications ---- */

/* [[fill]align][sign][#][0][width][grouping][.precision][type] */
typedef struct spec {
    char fill, align, sign, group, type;
    bool alternate;
    int  width, precision; /* -1: not given */
} spec;

static int read_number(const char **p, const char *end)
{
    int n = 0;

    for (; *p < end && isdigit((unsigned char)**p); (*p)++)
        n = n > 100000 ? n : n * 10 + (**p - '0');
    return n;
}

static bool read_spec(spec *s, const char *p, size_t len)
{
    const char *end = p + len;

    *s = (spec){ .fill = ' ', .precision = -1 };
    if (len > 1 && strchr("<>=^", p[1])) {
        s->fill  = p[0];
        s->align = p[1];
        p += 2;
    } else if (len && *p && strchr("<>=^", *p)) {
        s->align = *p++;
    }
    if (p < end && strchr("+- ", *p))
        s->sign = *p++;
    if (p < end && *p == '#') {
        s->alternate = true;
        p++;
    }
    if (p < end && *p == '0') {
        s->fill  = s->align ? s->fill : '0';
        s->align = s->align ? s->align : '=';
        p++;
    }
    s->width = read_number(&p, end);
    if (p < end && (*p == ',' || *p == '_'))
        s->group = *p++;
    if (p < end && *p == '.') {
        p++;
        s->precision = read_number(&p, end);
    }
    if (p < end)
        s->type = *p++;
    return p == end && s->width <= 10000 && s->precision <= 1000;
}

static void add_grouped(cq_str *out, const char *digits, char group)
{
    const size_t n = strspn(digits, "0123456789");

    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            cq_str_add_char(out, group);
        cq_str_add_char(out, digits[i]);
    }
    cq_str_add(out, digits + n);
}

static void add_integer(cq_str *out, const spec *s, uint64_t n)
{
    const char    *kind = s->type ? strchr("boxX", s->type) : NULL;
    const unsigned base = !kind ? 10 : *kind == 'b' ? 2 : *kind == 'o' ? 8 : 16;
    char           text[72], *p = text + sizeof text - 1;

    *p = '\0';
    do {
        *--p = (s->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[n % base];
        n /= base;
    } while (n);
    if (s->alternate && kind)
        cq_str_printf(out, "0%c", *kind);
    if (s->group)
        add_grouped(out, p, s->group);
    else
        cq_str_add(out, p);
}

static void write_float(char *out, size_t size, char type, int digits, double f)
{
    switch (type) {
    case 'e': snprintf(out, size, "%.*e", digits, f); break;
    case 'E': snprintf(out, size, "%.*E", digits, f); break;
    case 'f':
    case 'F': snprintf(out, size, "%.*f", digits, f); break;
    case 'G': snprintf(out, size, "%.*G", digits, f); break;
    default: snprintf(out, size, "%.*g", digits, f); break;
    }
}

static void add_float(cq_eval *ev, cq_str *out, const spec *s, double f)
{
    const char type = s->type == '%' ? 'f' : s->type ? s->type : 'g';
    char       text[1400];
    cq_str     plain = { 0 };

    if (!s->type && s->precision < 0) {
        if (cq_eval_format(ev, &plain, cq_val_of_f64(f), false) == CQ_OK)
            snprintf(text, sizeof text, "%s", cq_str_text(&plain));
        cq_str_clear(&plain);
    } else {
        write_float(text, sizeof text, type, s->precision < 0 ? 6 : s->precision,
                    s->type == '%' ? 100 * f : f);
        if (!s->type && !strpbrk(text, ".eni"))
            snprintf(text + strlen(text), sizeof text - strlen(text), ".0");
    }
    if (s->group)
        add_grouped(out, text, s->group);
    else
        cq_str_add(out, text);
    if (s->type == '%')
        cq_str_add_char(out, '%');
}

/* The number of characters, without UTF-8 continuation bytes. */
static size_t n_letters(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

static void add_padded(cq_str *out, const spec *s, const char *sign, const char *text, size_t len,
                       bool is_number)
{
    const size_t n      = strlen(sign) + n_letters(text, len);
    const size_t pad    = (size_t)s->width > n ? (size_t)s->width - n : 0;
    const char   align  = s->align ? s->align : is_number ? '>' : '<';
    const size_t left   = align == '>' ? pad : align == '^' ? pad / 2 : 0;
    const size_t prefix = is_number && s->alternate && len > 2 && strchr("xXbo", text[1]) ? 2 : 0;

    for (size_t i = 0; i < left; i++)
        cq_str_add_char(out, s->fill);
    cq_str_add(out, sign);
    if (align == '=' && prefix)
        cq_str_add_n(out, text, prefix);
    for (size_t i = 0; align == '=' && i < pad; i++)
        cq_str_add_char(out, s->fill);
    cq_str_add_n(out, text + (align == '=' ? prefix : 0), len - (align == '=' ? prefix : 0));
    for (size_t i = left; align != '=' && i < pad; i++)
        cq_str_add_char(out, s->fill);
}

static const char *sign_of(const spec *s, bool negative)
{
    return negative ? "-" : s->sign == '+' ? "+" : s->sign == ' ' ? " " : "";
}

static cq_status format_number(cq_eval *ev, cq_str *out, const spec *s, cq_val v)
{
    const bool is_float = v.kind == CQ_VAL_FLOAT || (s->type && strchr("eEfFgG%", s->type));
    double     f        = v.kind == CQ_VAL_FLOAT ? v.u.f.value : 0;
    int64_t    i        = v.kind == CQ_VAL_INT ? v.u.i.value : v.kind == CQ_VAL_BOOL && v.u.b.value;
    cq_str     text     = { 0 };
    bool       negative;

    if (cq_val_is_symbolic(v))
        ev->text_is_open = true;
    if (v.kind != CQ_VAL_FLOAT)
        f = (double)i;
    negative = is_float ? signbit(f) != 0 && f == f : i < 0;
    if (s->type && !strchr(is_float ? "eEfFgG%" : "bdoxXn", s->type))
        return cq_python_raise(ev, "ValueError", "Unknown format code '%c'", s->type);
    if (is_float)
        add_float(ev, &text, s, negative ? -f : f);
    else
        add_integer(&text, s, i < 0 ? 0 - (uint64_t)i : (uint64_t)i);
    add_padded(out, s, sign_of(s, negative), cq_str_text(&text), text.len, true);
    cq_str_clear(&text);
    return out->status;
}

cq_status cq_python_format_spec(cq_eval *ev, cq_str *out, cq_val v, const char *text, size_t len)
{
    cq_str    plain = { 0 };
    cq_val    arg, result;
    cq_text  *t;
    spec      s;
    bool      found = false;
    cq_status status;

    if (cq_python_has_special(ev, v, "__format__")) {
        CQ_TRY(cq_text_new(&t, text, len));
        CQ_TRY(cq_eval_own(ev, cq_val_of_text(t), &arg));
        CQ_TRY(cq_python_special(ev, v, "__format__", &arg, 1, &result, &found));
        return cq_eval_format(ev, out, result, false);
    }
    if (!len)
        return cq_eval_format(ev, out, v, false);
    if (!read_spec(&s, text, len))
        return cq_python_raise(ev, "ValueError", "Invalid format specifier '%.*s'", (int)len, text);
    v = cq_python_native(v);
    if (v.kind == CQ_VAL_TENSOR && !v.u.tensor->rank)
        CQ_TRY(CQ_CALL(ev, &v, "aten::item", v));
    if (cq_val_is_number(v) && v.kind != CQ_VAL_COMPLEX && (v.kind != CQ_VAL_BOOL || s.type))
        return format_number(ev, out, &s, v);
    if (s.type && s.type != 's')
        return cq_python_raise(ev, "ValueError", "Unknown format code '%c' for '%s'", s.type,
                               cq_eval_type_name(v));
    status = cq_eval_format(ev, &plain, v, false);
    if (status == CQ_OK) {
        size_t n = plain.len;

        if (s.precision >= 0 && (size_t)s.precision < n)
            n = (size_t)s.precision;
        add_padded(out, &s, "", cq_str_text(&plain), n, false);
        status = out->status;
    }
    cq_str_clear(&plain);
    return status;
}
