/* Draws the first view as a static SVG image with the coordinates of the layout. The page draws the
 * same items by the same rules (web/view/view.js). */
#include "view/view.h"

#include "base/printable.h"

#include <math.h>

static const char style[] =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"
    ".t{font-size:13px;font-weight:600;fill:#1b1f24}.s{font-size:11.5px;fill:#57606a}"
    ".i .t,.w{fill:#fff}.i .s{fill:#fffd}"
    ".e{fill:none;stroke:#8c959f;stroke-width:1.4}.a{fill:#8c959f}.l{font-size:10.5px;fill:#6e7781}"
    ".b{fill:#fff;stroke:#8c959f}.o{fill:#f6f8fa;stroke:#afb8c1}.p{fill:#57606a}"
    ".conv{fill:#cfe3ff}.matrix{fill:#d7dcff}.activation{fill:#ffd9d2}.pool{fill:#d3f0d8}"
    ".norm{fill:#fbe8b8}.math{fill:#e6e9ee}.shape{fill:#efe3d3}.reduce{fill:#d9f1ef}"
    ".recurrent{fill:#ead9ff}.control{fill:#ffe0f0}.quant{fill:#e2f0c4}.data,.type,.other,.random,"
    ".signal{fill:#ededed}";

static void add_text(cq_str *s, const char *text)
{
    cq_str clean = { 0 };

    cq_str_add_name(&clean, text ? text : "");
    for (const char *c = cq_str_text(&clean); *c; c++)
        switch (*c) {
        case '<': cq_str_add(s, "&lt;"); break;
        case '>': cq_str_add(s, "&gt;"); break;
        case '&': cq_str_add(s, "&amp;"); break;
        case '"': cq_str_add(s, "&quot;"); break;
        default: cq_str_add_char(s, *c);
        }
    if (clean.status != CQ_OK)
        s->status = clean.status;
    cq_str_clear(&clean);
}

static void add_label(cq_str *s, const char *style_class, double x, double y, const char *anchor,
                      const char *text)
{
    cq_str_printf(s, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", style_class, x,
                  y, anchor);
    add_text(s, text);
    cq_str_add(s, "</text>\n");
}

/* ---- vertical positions ---- */

typedef struct frame {
    const cq_view_canvas *c;
    double                x, y;         /* of the top left corner */
    double               *top, *bottom; /* of the ranks */
} frame;

static double gap_above(const cq_view_canvas *c, uint32_t rank)
{
    const bool is_first = c->ports[0].n && rank == 1;
    const bool is_last  = c->ports[1].n && rank + 1 == c->n_ranks;

    return is_first || is_last ? CQ_VIEW_GAP_PORT : CQ_VIEW_GAP_Y;
}

static cq_status place_ranks(frame *f, cq_arena *arena, double header)
{
    const cq_view_canvas *c = f->c;
    double                y = f->y + header + (c->ports[0].n ? 0 : CQ_VIEW_PAD / 2);

    f->top    = cq_arena_array(arena, c->n_ranks + 1, sizeof *f->top);
    f->bottom = cq_arena_array(arena, c->n_ranks + 1, sizeof *f->bottom);
    if (!f->top || !f->bottom)
        return CQ_E_NO_MEMORY;
    for (uint32_t r = 0; r < c->n_ranks; r++) {
        double tallest = 0;

        for (uint32_t i = c->starts[r]; i < c->starts[r + 1]; i++)
            if (c->ranks[i] < c->items.n)
                tallest = fmax(tallest, c->items.items[c->ranks[i]].height);
        y += r ? gap_above(c, r) : 0;
        f->top[r] = y;
        y += tallest;
        f->bottom[r] = y;
    }
    return CQ_OK;
}

static double top_of(const frame *f, const cq_view_item *item)
{
    return (f->top[item->rank] + f->bottom[item->rank]) / 2 - item->height / 2.0;
}

/* ---- edges ---- */

/* Straight down beside the label, then a curve. */
static void curve(cq_str *s, double x0, double y0, double x1, double y1)
{
    const double lead   = y0 + (y1 - y0 > 2 * CQ_VIEW_LEAD ? CQ_VIEW_LEAD : 0);
    const double middle = (lead + y1) / 2;

    if (fabs(x0 - x1) < 0.5)
        cq_str_printf(s, "L%.1f %.1f", x1, y1);
    else
        cq_str_printf(s, "V%.1fC%.1f %.1f %.1f %.1f %.1f %.1f", lead, x0, middle, x1, middle, x1,
                      y1);
}

static void add_shape(cq_str *s, const char *type)
{
    cq_str text = { 0 };

    cq_view_add_shape(&text, type);
    add_text(s, cq_str_text(&text));
    cq_str_clear(&text);
}

static void add_edge(cq_str *s, const cq_view *v, const frame *f, const cq_view_edge *e,
                     bool has_label)
{
    const cq_view_item *from = &f->c->items.items[e->from], *to = &f->c->items.items[e->to];
    double              x = f->x + from->x + cq_view_port_offset(v, from, e->from_port),
           y              = from->kind == CQ_VIEW_PORT_IN ? f->y : top_of(f, from) + from->height;
    const double x0 = x, y0 = y;
    double       next;

    cq_str_printf(s, "<path class=\"e\" d=\"M%.1f %.1f", x, y);
    if (y < f->bottom[from->rank])
        cq_str_printf(s, "V%.1f", f->bottom[from->rank]), y = f->bottom[from->rank];
    for (uint32_t i = 0; i < e->n_bends; i++) {
        const uint32_t rank = from->rank + 1 + i;

        next = f->x + f->c->dummies.items[e->bends[i]].x;

        curve(s, x, y, next, f->top[rank]);
        cq_str_printf(s, "V%.1f", f->bottom[rank]);
        x = next, y = f->bottom[rank];
    }
    next = f->x + to->x + cq_view_port_offset(v, to, e->to_port);
    curve(s, x, y, next, f->top[to->rank]);
    x = next, y = top_of(f, to);
    cq_str_printf(s, "V%.1f\"/>\n", y);
    if (to->kind != CQ_VIEW_PORT_OUT && !to->is_open)
        cq_str_printf(s, "<path class=\"a\" d=\"M%.1f %.1fl-3.6 -7h7.2z\"/>\n", x, y);
    if (has_label && from->kind < CQ_VIEW_INPUT && to->kind != CQ_VIEW_PORT_OUT) {
        cq_str_printf(s, "<text class=\"l\" x=\"%.1f\" y=\"%.1f\">", x0 + 6,
                      y0 + (from->repeats && !from->is_open ? 19 : 12));
        add_shape(s, v->values.items[e->value].type);
        cq_str_add(s, "</text>\n");
    }
}

/* ---- items ---- */

static cq_status add_canvas(cq_str *s, const cq_view *v, cq_arena *arena, const cq_view_canvas *c,
                            double x, double y, double header);

static void add_texts(cq_str *s, const cq_view_item *item, double x, double top)
{
    const bool two = item->detail && *item->detail;

    add_label(s, "t", x, top + (two ? 19 : 21), "middle", item->label);
    if (two)
        add_label(s, "s", x, top + 36, "middle", item->detail);
}

static void add_closed(cq_str *s, const cq_view *v, const cq_view_item *item, double x, double top)
{
    const double left    = x - item->width / 2.0;
    const bool   is_port = item->kind == CQ_VIEW_INPUT || item->kind == CQ_VIEW_OUTPUT;
    const char  *family  = item->kind == CQ_VIEW_OP
                               ? cq_view_category(cq_view_op_type(&v->ops.items[item->op]))
                           : is_port ? "p"
                                     : "b";

    if (is_port)
        cq_str_add(s, "<g class=\"i\">");
    if (item->repeats)
        for (int i = 2; i > 0; i--)
            cq_str_printf(s,
                          "<rect class=\"b\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
                          "rx=\"8\"/>\n",
                          left + 4 * i, top + 4 * i, item->width, item->height);
    cq_str_printf(s,
                  "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" "
                  "rx=\"%d\"/>\n",
                  family, left, top, item->width, item->height, is_port ? item->height / 2 : 8);
    if (item->repeats) {
        cq_str_printf(s,
                      "<text class=\"t\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">× %u</text>\n",
                      left + item->width - 10, top + 19, item->repeats);
        add_texts(s, item, x - 22, top);
    } else {
        add_texts(s, item, x, top);
    }
    if (is_port)
        cq_str_add(s, "</g>");
}

static cq_status add_item(cq_str *s, const cq_view *v, cq_arena *arena, const frame *f,
                          const cq_view_item *item)
{
    const double          x = f->x + item->x, top = top_of(f, item);
    const cq_view_canvas *c = item->is_open ? &v->canvases.items[item->canvas] : NULL;

    if (item->kind >= CQ_VIEW_PORT_IN)
        return CQ_OK;
    if (!c) {
        add_closed(s, v, item, x, top);
        return CQ_OK;
    }
    cq_str_printf(
        s, "<rect class=\"o\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"10\"/>\n",
        x - item->width / 2.0, top, item->width, item->height);
    add_label(s, "t", x - item->width / 2.0 + 12, top + 20, "start", item->label);
    return add_canvas(s, v, arena, c, x - c->width / 2.0, top, CQ_VIEW_HEADER);
}

static cq_status add_canvas(cq_str *s, const cq_view *v, cq_arena *arena, const cq_view_canvas *c,
                            double x, double y, double header)
{
    frame f = { .c = c, .x = x, .y = y };

    CQ_TRY(place_ranks(&f, arena, header));
    for (size_t i = 0; i < c->items.n; i++)
        CQ_TRY(add_item(s, v, arena, &f, &c->items.items[i]));
    for (size_t i = 0; i < c->edges.n; i++)
        add_edge(s, v, &f, &c->edges.items[i],
                 !i || c->edges.items[i - 1].from != c->edges.items[i].from ||
                     c->edges.items[i - 1].value != c->edges.items[i].value);
    return CQ_OK;
}

cq_status cq_view_write_svg(cq_str *s, const cq_view *v)
{
    const cq_view_canvas *c     = &v->canvases.items[v->root];
    cq_arena             *arena = cq_arena_new();
    const int             top   = 28;
    cq_status             status;

    if (!arena)
        return CQ_E_NO_MEMORY;
    cq_str_printf(s,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
                  c->width, c->height + top, c->width, c->height + top);
    add_text(s, v->title);
    cq_str_printf(s,
                  "</title>\n<style>%s</style>\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                  style);
    status = add_canvas(s, v, arena, c, 0, top - CQ_VIEW_HEADER, CQ_VIEW_HEADER);
    add_label(s, "t", 12, 20, "start", v->title);
    cq_str_add(s, "</svg>\n");
    cq_arena_free(arena);
    return status;
}
