/* Draws a document of `calque view`: calqueView(element, document). README.md describes the document.
 * The layout comes with it; this file moves items apart when a box is opened. Every text of a model
 * reaches the page as a text node, never as markup. */
"use strict";

const calqueView = (() => {
  const OP = 0, BOX = 1, INPUT = 2, OUTPUT = 3, PORT_IN = 4, PORT_OUT = 5;
  const GAP_X = 26, GAP_BEND = 14, GAP_LABEL = 6, GAP_Y = 36, LEAD = 13, GAP_PORT = 22, PAD = 18, HEADER = 30, LABEL_LETTER = 7, LONGEST_SIZE = 12; // as in src/view/view.h and labels.c
  const SVG = "http://www.w3.org/2000/svg";

  // ---- elements and numbers ----

  function make(tag, attributes, ...children) {
    const e = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {}))
      if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) e.setAttribute(key, value === true ? "" : value);
    e.append(...children.filter((c) => c !== null && c !== undefined));
    return e;
  }

  function draw(tag, attributes, text) {
    const e = document.createElementNS(SVG, tag);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    return e;
  }

  const round = (x) => Math.round(x * 10) / 10;

  function short(x, units, step) {
    let i = 0;
    while (Math.abs(x) >= step * 0.9995 && i + 1 < units.length) { x /= step; i++; }
    return (i && x < 9.995 ? x.toFixed(2) : i && x < 99.95 ? x.toFixed(1) : Math.round(x)) + (units[i] ? " " + units[i] : "");
  }
  const bytes = (x) => x === 1 ? "1 byte" : short(x, ["bytes", "kB", "MB", "GB", "TB"], 1000);
  const amount = (x) => short(x, ["", "k", "M", "G", "T", "P"], 1000);
  const operations = (x) => short(x, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"], 1000);
  const three = (x) => x >= 99.95 ? x.toFixed(0) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2);
  const time = (s) => s >= 1 ? three(s) + " s" : s >= 1e-3 ? three(s * 1e3) + " ms" : three(s * 1e6) + " µs";
  const grouped = (x) => x.toLocaleString("en-US");
  const plain = (x) => x === null ? "not finite" : Number.isInteger(x) ? String(x) : Math.abs(x) >= 1e-4 && Math.abs(x) < 1e6 ? String(+x.toPrecision(5)) : x.toExponential(3);
  const share = (x) => x < 0.0005 ? "< 0.1 %" : (100 * x).toFixed(x >= 0.0995 ? 0 : 1) + " %";
  const percent = (x) => x < 0 ? "not measured" : (100 * x).toPrecision(2) + " %";
  const atSizes = (doc) => doc.sizes ? " at " + doc.sizes : doc.fixed ? " at dynamic sizes of 1" : "";

  /* "float32[64,min(2,n)]" as its sizes: commas inside of parentheses belong to an expression. */
  function sizesOf(type) {
    const sizes = [""];
    let depth = 0;
    for (const c of type.includes("[") ? type.slice(type.indexOf("[") + 1, -1) : "") {
      depth += (c === "(") - (c === ")");
      if (c === "," && !depth) sizes.push(""); else sizes[sizes.length - 1] += c;
    }
    return sizes;
  }
  const shapeOf = (type) => sizesOf(type).join("×");
  const labelOf = (type) => sizesOf(type).map((s) => s.length > LONGEST_SIZE ? "…" : s).join("×"); // as cq_view_add_shape

  // ---- the document ----

  /* Where nodes and canvases are, and sums over boxes. */
  class Model {
    constructor(doc) {
      this.doc = doc;
      this.owner = [];    // of a canvas: [canvas, item]
      this.home = [];     // of a node: [canvas, item]
      this.users = null;
      this.sums = new Map();
      const queue = [doc.root], seen = new Set(queue);
      while (queue.length) {
        const c = queue.shift();
        doc.canvases[c].i.forEach((item, i) => {
          if (item.n !== undefined && !this.home[item.n]) this.home[item.n] = [c, i];
          if (item.c !== undefined && !seen.has(item.c)) {
            seen.add(item.c);
            this.owner[item.c] = [c, i];
            queue.push(item.c);
          }
        });
      }
    }
    item([c, i]) { return this.doc.canvases[c].i[i]; }
    node(item) { return item.n === undefined ? null : this.doc.nodes[item.n]; }
    op(node) { return node && node.o !== undefined ? this.doc.ops[node.o] : null; }
    value(i) { return this.doc.values[i]; }

    /* The items from the root to a target, each as [canvas, item]. */
    chain(target) {
      const out = [target];
      for (let c = target[0]; this.owner[c]; c = this.owner[c][0]) out.unshift(this.owner[c]);
      return out;
    }

    /* Sum of a field of nodes, over everything in an item. */
    sum(item, field) {
      const node = this.node(item);
      const own = node && node[field] > 0 ? node[field] : 0;
      if (item.c === undefined) return own;
      const key = field + item.c;
      if (!this.sums.has(key)) {
        this.sums.set(key, 0); // a function that calls itself
        this.sums.set(key, this.doc.canvases[item.c].i.reduce((s, x) => s + this.sum(x, field), 0));
      }
      return own + this.sums.get(key);
    }

    /* How many nodes of an item satisfy a test, by name. */
    count(item, name, test) {
      const node = this.node(item);
      const own = node && test(node) ? 1 : 0;
      if (item.c === undefined) return own;
      const key = name + item.c;
      if (!this.sums.has(key)) {
        this.sums.set(key, 0);
        this.sums.set(key, this.doc.canvases[item.c].i.reduce((s, x) => s + this.count(x, name, test), 0));
      }
      return own + this.sums.get(key);
    }

    /* The largest relative deviation of results in an item; -1: nothing was compared. */
    deviation(item) {
      const node = this.node(item);
      let worst = -1;
      for (const v of node && node.u || []) {
        const x = v >= 0 && this.value(v);
        if (x && x[3] !== undefined) worst = Math.max(worst, x[4] > 0 ? x[3] / x[4] : x[3]);
      }
      if (item.c === undefined) return worst;
      const key = "deviation" + item.c;
      if (!this.sums.has(key)) {
        this.sums.set(key, -1);
        this.sums.set(key, Math.max(-1, ...this.doc.canvases[item.c].i.map((x) => this.deviation(x))));
      }
      return Math.max(worst, this.sums.get(key));
    }

    /* The largest error of quantization of layers in an item; -1: none was measured. */
    layerError(item) {
      const node = this.node(item);
      const own = node && node.q ? (node.q[1] >= 0 ? node.q[1] : node.q[0]) : -1;
      if (item.c === undefined) return own;
      const key = "error" + item.c;
      if (!this.sums.has(key)) {
        this.sums.set(key, -1);
        this.sums.set(key, Math.max(-1, ...this.doc.canvases[item.c].i.map((x) => this.layerError(x))));
      }
      return Math.max(own, this.sums.get(key));
    }

    usersOf(value) {
      if (!this.users) {
        this.users = new Map();
        this.doc.nodes.forEach((n, i) => (n.i || []).forEach((v) => {
          if (v < 0) return;
          if (!this.users.has(v)) this.users.set(v, []);
          const list = this.users.get(v);
          if (list[list.length - 1] !== i) list.push(i);
        }));
        this.makers = new Map();
        this.doc.nodes.forEach((n, i) => (n.u || []).forEach((v) => v >= 0 && this.makers.set(v, i)));
      }
      return this.users.get(value) || [];
    }
    makerOf(value) { this.usersOf(value); return this.makers.get(value); }
  }

  // ---- layout ----

  /* Positions near the wanted ones that keep their distances: pooled means of neighbours that
   * would overlap. distance[i] is from i - 1 to i. */
  function separate(wanted, distance) {
    const pools = []; // [sum of wanted positions, count]
    let offset = 0;
    const offsets = wanted.map((_, i) => (offset += i ? distance[i] : 0));
    wanted.forEach((x, i) => {
      let pool = [x - offsets[i], 1];
      while (pools.length && pools[pools.length - 1][0] / pools[pools.length - 1][1] > pool[0] / pool[1]) {
        const last = pools.pop();
        pool = [pool[0] + last[0], pool[1] + last[1]];
      }
      pools.push(pool);
    });
    const out = [];
    for (const [sum, n] of pools)
      for (let k = 0; k < n; k++) out.push(sum / n + offsets[out.length]);
    return out;
  }

  /* The content of a canvas at some state of its boxes: sizes and positions relative to its corner. */
  function arrange(model, canvas, key, open, extra) {
    const c = model.doc.canvases[canvas], n = c.i.length;
    const w = new Array(n), h = new Array(n), inner = new Array(n);
    let changed = false;
    c.i.forEach((item, i) => {
      if (item.k >= PORT_IN) { w[i] = 2; h[i] = 0; return; }
      const id = key + "/" + i;
      const second = extra(item);
      w[i] = second ? Math.max(item.w, second.length * 6.6 + 14 + (item.r ? 44 : 0)) : item.w;
      h[i] = second ? Math.max(item.h, 46) : item.h;
      if (item.c !== undefined && open.has(id)) {
        inner[i] = arrange(model, item.c, id, open, extra);
        w[i] = Math.max(item.w, inner[i].w);
        h[i] = inner[i].h;
      }
      changed = changed || w[i] !== (item.O ? item.W : item.w);
    });
    const x = c.i.map((item) => item.x), d = c.d.slice();
    const label = new Array(n).fill(0); // where the labels of its edges end, right of its centre
    for (const e of c.e) {
      const text = labelOf(model.value(e[2])[1]), box = inner[e[0]];
      if (text && c.i[e[0]].k < INPUT && c.i[e[1]].k !== PORT_OUT)
        label[e[0]] = Math.max(label[e[0]], (box && e[3] >= 0 ? box.x[e[3]] - box.w / 2 : 0) + text.length * LABEL_LETTER + 6);
    }
    if (changed)
      for (const rank of c.r) {
        const width = rank.map((e) => e < 0 ? 0 : w[e]);
        const distance = rank.map((e, k) => k ? Math.max(width[k - 1] / 2 + (e < 0 || rank[k - 1] < 0 ? GAP_BEND : GAP_X), (rank[k - 1] < 0 ? 0 : label[rank[k - 1]]) + GAP_LABEL) + width[k] / 2 : 0);
        separate(rank.map((e) => e < 0 ? d[~e] : x[e]), distance).forEach((p, k) => {
          if (rank[k] < 0) d[~rank[k]] = p; else x[rank[k]] = p;
        });
      }
    let left = Infinity, right = -Infinity;
    c.r.forEach((rank) => rank.forEach((e) => {
      const p = e < 0 ? d[~e] : x[e], half = e < 0 ? 0 : w[e] / 2;
      left = Math.min(left, p - half); right = Math.max(right, p + half);
    }));
    if (left === Infinity) left = right = 0;
    const labels = x.reduce((most, at, i) => Math.max(most, at + label[i] - 10 - right), 0);
    left -= labels; right += labels; // on both sides, so that a column stays in the middle of its box
    for (let i = 0; i < n; i++) x[i] += PAD - left;
    for (let i = 0; i < d.length; i++) d[i] += PAD - left;
    const hasIn = c.i.some((item) => item.k === PORT_IN), hasOut = c.i.some((item) => item.k === PORT_OUT);
    const top = [], bottom = [], rankOf = new Array(n);
    let y = HEADER + (hasIn ? 0 : PAD / 2);
    c.r.forEach((rank, r) => {
      if (r) y += (hasIn && r === 1) || (hasOut && r === c.r.length - 1) ? GAP_PORT : GAP_Y;
      top[r] = y;
      y += rank.reduce((m, e) => e < 0 ? m : Math.max(m, h[e]), 0);
      bottom[r] = y;
      for (const e of rank) if (e >= 0) rankOf[e] = r;
    });
    return { canvas, key, inner, w: right - left + 2 * PAD, h: y + (hasOut ? 0 : PAD), x, d, ws: w, hs: h, top, bottom, rankOf };
  }

  // ---- a graph on the page ----

  class Pane {
    constructor(view, doc, host, title) {
      this.view = view;
      this.model = new Model(doc);
      this.host = host;
      this.open = new Set();
      this.openFirst(doc.root, "");
      this.svg = draw("svg", { class: "graph", role: "group", "aria-label": "Graph of " + title + ". Arrow keys move along edges, Enter opens a box or shows a node." });
      this.world = draw("g", {});
      this.svg.append(this.world);
      host.append(this.svg);
      this.scale = 1; this.tx = 0; this.ty = 0;
      this.map = make("canvas", { class: "map", width: 150, height: 150, "aria-hidden": "true" });
      host.append(this.map);
      this.listen();
      this.render();
    }

    openFirst(canvas, key) {
      this.model.doc.canvases[canvas].i.forEach((item, i) => {
        if (!item.O) return;
        this.open.add(key + "/" + i);
        this.openFirst(item.c, key + "/" + i);
      });
    }

    // -- drawing --

    render() {
      const doc = this.model.doc;
      this.shown = new Map();   // key of an item to { g, x, y, w, h, item, key }
      this.lines = [];
      this.boxes = [];
      const layer = draw("g", {});
      const root = arrange(this.model, doc.root, "", this.open, (item) => this.view.extra(this.model, item));
      this.width = root.w; this.height = root.h;
      this.drawCanvas(layer, root, 0, -HEADER, 0);
      this.marks = draw("g", { "aria-hidden": "true", "pointer-events": "none" });
      this.world.replaceChildren(layer, this.marks);
      this.mark();
      this.drawMap();
    }

    drawCanvas(layer, a, x0, y0, depth) {
      const c = this.model.doc.canvases[a.canvas];
      const edges = draw("g", { "aria-hidden": "true" }), items = draw("g", {}), labels = draw("g", { "aria-hidden": "true" });
      layer.append(edges, items, labels);
      c.i.forEach((item, i) => {
        if (item.k >= PORT_IN) return;
        const r = a.rankOf[i], y = (a.top[r] + a.bottom[r]) / 2 - a.hs[i] / 2;
        this.drawItem(items, item, a.key + "/" + i, x0 + a.x[i] - a.ws[i] / 2, y0 + y, a.ws[i], a.hs[i], a.inner[i], depth);
      });
      const starts = new Map(), values = new Map();
      c.e.forEach((e) => this.drawEdge(edges, a, c, e, x0, y0, starts, values));
      for (const path of values.values()) edges.append(draw("path", { class: "e", d: path }));
      const rows = [...starts.values()].sort((p, q) => p.y - q.y || p.x - q.x);
      rows.forEach(({ x, y, texts }, i) => { // a label ends before the next one of its row
        const text = [...texts].join(" · "), next = rows[i + 1];
        const room = next && next.y === y ? Math.floor((next.x - x - 4) / LABEL_LETTER) : 34;
        if (room > 2) labels.append(draw("text", { class: "l", x, y }, text.length > Math.min(room, 34) ? text.slice(0, Math.min(room, 34) - 1) + "…" : text));
      });
    }

    /* An edge goes straight down beside the items of a rank and its label, and curves between ranks. */
    drawEdge(layer, a, c, e, x0, y0, starts, values) {
      const [from, to, value, fromPort, toPort] = e;
      const end = (i, port) => {
        const inner = a.inner[i];
        return x0 + a.x[i] + (inner && port >= 0 ? inner.x[port] - inner.w / 2 : 0);
      };
      const rf = a.rankOf[from], rt = a.rankOf[to];
      let x = end(from, fromPort), y = c.i[from].k === PORT_IN ? y0 : y0 + (a.top[rf] + a.bottom[rf]) / 2 + a.hs[from] / 2;
      const start = [x, y];
      let path = "M" + round(x) + " " + round(y);
      const down = (py) => { if (py - y > 0.5) { path += "V" + round(py); y = py; } };
      const curve = (px, py) => {
        const lead = y + (py - y > 2 * LEAD ? LEAD : 0), m = round((lead + py) / 2);
        path += Math.abs(px - x) < 0.5 ? "V" + round(py) : "V" + round(lead) + "C" + round(x) + " " + m + " " + round(px) + " " + m + " " + round(px) + " " + round(py);
        x = px; y = py;
      };
      down(y0 + a.bottom[rf]);
      for (let k = 5; k < e.length; k++) {
        const r = rf + k - 4;
        curve(x0 + a.d[e[k]], y0 + a.top[r]);
        down(y0 + a.bottom[r]);
      }
      curve(end(to, toPort), y0 + a.top[rt]);
      down(y0 + (a.top[rt] + a.bottom[rt]) / 2 - a.hs[to] / 2);
      values.set(from + ":" + value, (values.get(from + ":" + value) || "") + path); // one line where edges coincide
      this.lines.push({ path, from: a.key + "/" + from, to: a.key + "/" + to, value });
      if (c.i[to].k !== PORT_OUT && !a.inner[to])
        layer.append(draw("path", { class: "arrow", d: "M" + round(x) + " " + round(y) + "l-3.6 -7h7.2z" }));
      const label = labelOf(this.model.value(value)[1]), key = from + ":" + round(start[0]);
      if (c.i[from].k >= INPUT || c.i[to].k === PORT_OUT || !label) return; // an input has its shape inside
      if (!starts.has(key)) starts.set(key, { x: round(start[0] + 6), y: round(start[1] + (c.i[from].r && !a.inner[from] ? 19 : 12)), texts: new Set() });
      starts.get(key).texts.add(label);
    }

    drawItem(layer, item, key, x, y, w, h, inner, depth) {
      const node = this.model.node(item), op = this.model.op(node);
      const g = draw("g", { tabindex: -1, role: "button" });
      const classes = ["item"];
      if (item.k === INPUT || item.k === OUTPUT) classes.push("port");
      if (item.k === BOX) classes.push("box");
      if (inner) classes.push("open", depth % 2 ? "even" : "odd");
      if (node && node.d) classes.push("d" + node.d);
      else if (item.c !== undefined && !inner && this.model.count(item, "d", (n) => n.d > 0)) classes.push("d3");
      g.setAttribute("class", classes.join(" "));
      if (item.c !== undefined) g.setAttribute("aria-expanded", inner ? "true" : "false");
      if (item.r && !inner)
        for (const d of [8, 4]) g.append(draw("rect", { class: "u", x: round(x + d), y: round(y + d), width: w, height: h, rx: 8 }));
      const rect = draw("rect", { class: "f", x: round(x), y: round(y), width: round(w), height: round(h), rx: classes.includes("port") ? h / 2 : inner ? 10 : 8 });
      const colour = inner ? null : this.view.colour(this.model, item, op);
      if (colour) rect.style.fill = colour;
      g.append(rect);
      const extra = this.view.extra(this.model, item);
      if (inner) {
        g.append(draw("text", { class: "t", x: round(x + 12), y: round(y + 20) }, item.l || ""));
        const label = (item.t ? item.t : "") + (item.r ? " × " + item.r : "") + (extra ? "  " + extra : "");
        g.append(draw("text", { class: "s", x: round(x + w - 30), y: round(y + 20), "text-anchor": "end" }, fits(item.l, label, w) ? label : ""));
        g.append(draw("path", { class: "plus", d: "M" + round(x + w - 21) + " " + round(y + 15.5) + "h9" }));
      } else {
        const two = item.s || extra, middle = x + w / 2 - (item.r ? 20 : 0) - (item.k === BOX ? 5 : 0);
        g.append(draw("text", { class: "t", x: round(middle), y: round(y + (two ? 19 : h / 2 + 5)), "text-anchor": "middle" }, item.l || ""));
        if (two) g.append(draw("text", { class: "s", x: round(item.r ? middle : x + w / 2), y: round(y + 36), "text-anchor": "middle" }, extra || item.s));
        if (item.r) g.append(draw("text", { class: "badge", x: round(x + w - 22), y: round(y + 20), "text-anchor": "end" }, "× " + item.r));
        if (item.c !== undefined) g.append(draw("path", { class: "plus", d: "M" + round(x + w - 17) + " " + round(y + 15) + "h9m-4.5 -4.5v9" }));
      }
      const notes = node && node.N && !node.d ? node.N.length : item.c !== undefined && !inner ? this.model.count(item, "N", (n) => n.N && !n.d) : 0;
      if (notes) {
        g.append(draw("circle", { class: "flag", cx: round(x + 2), cy: round(y + 2), r: 8 }));
        g.append(draw("path", { class: "flagt", d: "M" + round(x + 2) + " " + round(y - 2.5) + "v5m0 2.4v1.4" }));
      }
      for (const t of g.querySelectorAll("text")) t.after(" "); // so that the texts are separate words
      g.setAttribute("aria-label", this.describe(g, item, op));
      layer.append(g);
      g.dataset.key = key;
      this.shown.set(key, { g, x, y, w, h, item, key });
      this.boxes.push([x, y, w, h, item.k, depth, colour]);
      if (!inner) return;
      this.drawCanvas(layer, inner, x + w / 2 - inner.w / 2, y, depth + 1);
      // The header again, above the edges that enter the box.
      const head = draw("g", { class: classes.join(" ").replace("item", "head"), "aria-hidden": "true", "pointer-events": "none" });
      head.append(draw("circle", { class: "disc", cx: round(x + w - 16.5), cy: round(y + 15.5), r: 8 }));
      for (const part of g.querySelectorAll(".t, .s, .plus")) { head.append(part.cloneNode(true)); part.style.visibility = "hidden"; }
      layer.append(head);
    }

    /* For screen readers: what is written on the item, in this order, and what it is. */
    describe(g, item, op) {
      const texts = [...g.querySelectorAll("text")].map((t) => t.textContent).filter(Boolean).join(" ");
      const kind = item.k === INPUT ? "input of the graph" : item.k === OUTPUT ? "output of the graph" : item.n !== undefined ? "operator" : item.P ? "part" : item.r ? item.r + " identical blocks" : "module";
      return texts + ", " + kind + (op && op[3] ? ": " + op[3] : "");
    }

    /* Selection, search hits and the item that Tab reaches. */
    mark() {
      const key = this.selected;
      for (const s of this.shown.values()) {
        s.g.classList.toggle("sel", s.key === key);
        s.g.setAttribute("tabindex", -1);
      }
      const focus = this.shown.get(key) || this.shown.values().next().value;
      if (focus) focus.g.setAttribute("tabindex", 0);
      this.marks.replaceChildren(...(key ? this.lines.filter((l) => l.from === key || l.to === key).map((l) => draw("path", { class: "e on", d: l.path })) : []));
    }

    // -- moving --

    apply() {
      this.world.setAttribute("transform", "translate(" + round(this.tx) + " " + round(this.ty) + ") scale(" + this.scale.toFixed(4) + ")");
      this.svg.style.setProperty("--labels", this.scale < 0.45 ? "none" : "block");
      this.drawMap();
    }
    size() { return [this.svg.clientWidth || 800, this.svg.clientHeight || 600]; }

    /* All of it if that can be read; else the width, from the top. */
    fit(all, scale) {
      const [w, h] = this.size();
      const sx = (w - 40) / this.width, sy = (h - 40) / (this.height - HEADER + 20);
      this.scale = Math.min(all ? sx : Math.max(sx, 0.3), all ? sy : Math.max(sy, 0.8), 1.25);
      this.scale = scale || Math.max(0.02, all ? this.scale : Math.min(this.scale, Math.max(sx, 0.3)));
      this.tx = (w - this.width * this.scale) / 2;
      this.ty = Math.max(20, (h - (this.height - HEADER) * this.scale) / 2);
      this.apply();
    }
    zoom(factor, x, y) {
      this.view.touched = true;
      const [w, h] = this.size();
      if (x === undefined) { x = w / 2; y = h / 2; }
      const next = Math.min(4, Math.max(0.02, this.scale * factor));
      this.tx = x - (x - this.tx) * next / this.scale;
      this.ty = y - (y - this.ty) * next / this.scale;
      this.scale = next;
      this.apply();
    }
    pan(dx, dy) { this.view.touched = true; this.tx += dx; this.ty += dy; this.apply(); }

    show(key) {
      const s = this.shown.get(key);
      if (!s) return;
      this.view.touched = true;
      const [w, h] = this.size();
      if (this.scale < 0.6) this.scale = 0.9;
      this.tx = w / 2 - (s.x + s.w / 2) * this.scale;
      this.ty = s.h * this.scale > h * 0.8 ? 40 - s.y * this.scale : h / 2 - (s.y + s.h / 2) * this.scale;
      this.apply();
    }

    drawMap() {
      const m = this.map, g = m.getContext("2d");
      if (!g) return;
      const ratio = Math.min(150 / this.width, 190 / this.height), w = Math.max(30, this.width * ratio), h = Math.max(30, this.height * ratio);
      const style = getComputedStyle(this.view.root), colour = (name) => style.getPropertyValue(name).trim();
      m.width = w; m.height = h;
      for (const [x, y, bw, bh, kind, depth] of this.boxes) {
        g.fillStyle = kind === BOX ? colour(depth % 2 ? "--open2" : "--open") : colour("--edge");
        g.strokeStyle = colour("--edge");
        g.lineWidth = 0.5;
        g.fillRect(x * ratio, y * ratio, Math.max(1, bw * ratio), Math.max(1, bh * ratio));
        if (kind === BOX) g.strokeRect(x * ratio, y * ratio, bw * ratio, bh * ratio);
      }
      const [vw, vh] = this.size(), clamp = (x, most) => Math.min(most, Math.max(0, x));
      const left = clamp(-this.tx / this.scale * ratio, w - 2), top = clamp(-this.ty / this.scale * ratio, h - 2);
      const right = clamp((vw - this.tx) / this.scale * ratio, w), bottom = clamp((vh - this.ty) / this.scale * ratio, h);
      m.style.visibility = left <= 0 && top <= 0 && right >= w && bottom >= h - HEADER * ratio ? "hidden" : "";
      g.fillStyle = g.strokeStyle = colour("--accent"); g.lineWidth = 2;
      g.globalAlpha = 0.14;
      g.fillRect(left, top, right - left, bottom - top);
      g.globalAlpha = 1;
      g.strokeRect(left + 1, top + 1, Math.max(2, right - left - 2), Math.max(2, bottom - top - 2));
      this.mapRatio = ratio;
    }

    listen() {
      const pointers = new Map();
      let moved = 0, spread = 0;
      this.svg.addEventListener("pointerdown", (e) => {
        pointers.set(e.pointerId, [e.clientX, e.clientY]); moved = 0;
        const p = [...pointers.values()];
        if (p.length === 2) spread = Math.hypot(p[0][0] - p[1][0], p[0][1] - p[1][1]);
      });
      window.addEventListener("pointermove", (e) => {
        const last = pointers.get(e.pointerId);
        if (!last) return;
        const dx = e.clientX - last[0], dy = e.clientY - last[1];
        pointers.set(e.pointerId, [e.clientX, e.clientY]);
        moved += Math.abs(dx) + Math.abs(dy);
        const p = [...pointers.values()];
        if (p.length === 1) this.pan(dx, dy);
        else if (p.length === 2) {
          const now = Math.hypot(p[0][0] - p[1][0], p[0][1] - p[1][1]), r = this.svg.getBoundingClientRect();
          if (spread > 0) this.zoom(now / spread, (p[0][0] + p[1][0]) / 2 - r.left, (p[0][1] + p[1][1]) / 2 - r.top);
          spread = now;
        }
      });
      const release = (e) => pointers.delete(e.pointerId);
      window.addEventListener("pointerup", release);
      window.addEventListener("pointercancel", release);
      this.svg.addEventListener("wheel", (e) => {
        e.preventDefault();
        const r = this.svg.getBoundingClientRect(), unit = e.deltaMode ? 30 : 1;
        if (e.ctrlKey || e.metaKey) this.zoom(Math.exp(-e.deltaY * unit / 300), e.clientX - r.left, e.clientY - r.top);
        else this.pan(-(e.shiftKey ? e.deltaY : e.deltaX) * unit, e.shiftKey ? 0 : -e.deltaY * unit);
      }, { passive: false });
      this.svg.addEventListener("click", (e) => {
        if (moved > 6) return;
        const g = e.target.closest(".item");
        if (!g) { this.select(null); return; }
        this.activate(g.dataset.key);
      });
      this.svg.addEventListener("focusin", (e) => {
        const g = e.target.closest(".item");
        if (g && g.matches(":focus-visible")) this.keepInView(g.dataset.key);
      });
      this.svg.addEventListener("keydown", (e) => this.key(e));
      this.map.addEventListener("click", (e) => {
        const r = this.map.getBoundingClientRect(), [w, h] = this.size();
        this.tx = w / 2 - (e.clientX - r.left) / this.mapRatio * this.scale;
        this.ty = h / 2 - (e.clientY - r.top) / this.mapRatio * this.scale;
        this.apply();
      });
    }

    keepInView(key) {
      const s = this.shown.get(key), [w, h] = this.size();
      if (!s) return;
      const x = s.x * this.scale + this.tx, y = s.y * this.scale + this.ty;
      if (x < 0 || y < 0 || x + s.w * this.scale > w || y + Math.min(s.h, 60) * this.scale > h) this.show(key);
    }

    /* Arrow keys: along edges up and down, to the neighbour left and right. */
    key(e) {
      const g = e.target.closest(".item"), s = g && this.shown.get(g.dataset.key);
      if (!s) return;
      if (e.key === "Enter" || e.key === " ") { e.preventDefault(); this.activate(s.key, true); return; }
      if (e.key === "Escape") { this.up(s.key); return; }
      if (!e.key.startsWith("Arrow")) return;
      e.preventDefault();
      const next = this.neighbour(s, e.key);
      if (next) { this.mark(); next.g.setAttribute("tabindex", 0); next.g.focus(); this.keepInView(next.key); }
    }
    neighbour(s, key) {
      const cx = s.x + s.w / 2, down = key === "ArrowDown", vertical = down || key === "ArrowUp";
      if (vertical) {
        if (down && this.open.has(s.key)) { // into an open box
          const inside = [...this.shown.values()].filter((t) => t.key.startsWith(s.key + "/"));
          inside.sort((a, b) => a.y - b.y);
          if (inside.length) return inside[0];
        }
        const along = this.lines.filter((l) => down ? l.from === s.key : l.to === s.key).map((l) => this.shown.get(down ? l.to : l.from)).filter(Boolean);
        along.sort((a, b) => Math.abs(a.x + a.w / 2 - cx) - Math.abs(b.x + b.w / 2 - cx));
        if (along.length) return along[0];
      }
      let best = null, least = Infinity;
      for (const t of this.shown.values()) {
        if (t === s) continue;
        const dx = t.x + t.w / 2 - cx, dy = vertical ? (down ? t.y - s.y - s.h : s.y - t.y - t.h) : Math.abs(t.y + t.h / 2 - s.y - s.h / 2);
        if (vertical ? dy < 0 : (key === "ArrowRight" ? dx <= 0 : dx >= 0)) continue;
        const cost = vertical ? dy + Math.abs(dx) * 0.5 : Math.abs(dx) + dy * 3;
        if (cost < least) { least = cost; best = t; }
      }
      return best;
    }
    up(key) {
      const outer = key.slice(0, key.lastIndexOf("/"));
      if (!outer) return;
      this.toggle(outer);
      this.select(outer);
      this.shown.get(outer).g.focus();
    }

    // -- boxes and selection --

    activate(key, focus) {
      const s = this.shown.get(key);
      if (s.item.c !== undefined) {
        this.toggle(key);
        this.view.mirror(this, s.item, this.open.has(key));
      }
      this.select(key);
      if (focus) this.shown.get(key).g.focus();
    }

    /* The box stays where it is on the screen. */
    toggle(key) {
      this.view.touched = true;
      const before = this.shown.get(key), at = before && [before.x + before.w / 2, before.y];
      if (this.open.has(key)) this.open.delete(key); else this.open.add(key);
      this.render();
      const after = this.shown.get(key);
      if (at && after) {
        this.tx += (at[0] - after.x - after.w / 2) * this.scale;
        this.ty += (at[1] - after.y) * this.scale;
      }
      this.apply();
    }
    openAll(yes) {
      if (!yes) { this.open.clear(); this.render(); this.fit(); return; }
      // One level deeper, so that a large model does not open at once.
      for (const s of [...this.shown.values()]) if (s.item.c !== undefined) this.open.add(s.key);
      this.render();
      this.fit();
    }
    select(key, quiet) {
      this.selected = key;
      this.mark();
      const s = key && this.shown.get(key);
      this.view.selected(this, s ? s.item : null, quiet);
    }

    /* Opens the boxes around a target, [canvas, item], and scrolls to it. */
    reveal(target, quiet) {
      let key = "";
      const chain = this.model.chain(target);
      chain.forEach(([, i], depth) => { key += "/" + i; if (depth + 1 < chain.length) this.open.add(key); });
      this.render();
      this.apply();
      this.select(key, quiet);
      this.show(key);
      return key;
    }
    /* Opens or closes the box of a module, if the boxes around it are open. */
    setOpen(path, yes) {
      for (const s of this.shown.values())
        if (s.item.k === BOX && s.item.p === path && this.open.has(s.key) !== yes) { this.toggle(s.key); return; }
    }
    revealNode(n, quiet) { if (this.model.home[n]) return this.reveal(this.model.home[n], quiet); }
  }

  function fits(title, label, w) { return ((title || "").length * 8 + label.length * 6 + 50) < w; }

  // ---- the panel ----

  class Panel {
    constructor(view, host) { this.view = view; this.host = host; }
    put(...children) { this.host.replaceChildren(...children.flat(9).filter((c) => c !== null && c !== undefined && c !== false)); this.host.scrollTop = 0; }
    heading(text) { return make("h3", {}, text); }
    table(rows) {
      const body = make("tbody", {});
      for (const [key, value] of rows) if (value !== undefined && value !== null && value !== "") body.append(make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, value)));
      return make("table", {}, body);
    }
    button(text, action) { return make("button", { class: "link", type: "button", onclick: action }, text); }
    /* Findings. Many that say the same of different values are one, which opens. */
    notes(list) {
      const kinds = new Map();
      for (const text of list || []) {
        const parts = text.split(": "), kind = parts.length > 2 ? parts[0] + ": " + parts.slice(2).join(": ") : text;
        if (!kinds.has(kind)) kinds.set(kind, []);
        kinds.get(kind).push(text);
      }
      return [...kinds].map(([kind, all]) => all.length < 3 ? all.map((text) => make("p", { class: "note" }, text))
        : make("details", { class: "note" }, make("summary", {}, all.length + " × " + kind), ...all.map((text) => make("p", {}, text.split(": ")[1]))));
    }

    nodeLink(pane, n) {
      const node = pane.model.doc.nodes[n], op = pane.model.op(node);
      return this.button((op ? op[0] + " " : "") + node.n, () => pane.revealNode(n));
    }

    valueRow(pane, name, v) {
      if (v < 0) return make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "dim" }, "omitted"));
      const [text, type, weight, deviation, largest] = pane.model.value(v);
      const cell = make("td", {}, make("code", {}, type || "unknown type"), make("br", {}));
      if (weight >= 0) cell.append(this.button(text, () => this.weight(pane, weight)), make("span", { class: "dim" }, " weight"));
      else {
        const maker = pane.model.makerOf(v);
        cell.append(maker === undefined ? text : this.button(text, () => pane.revealNode(maker)));
      }
      if (deviation !== undefined) cell.append(make("br", {}), make("span", { class: "dim" }, "deviation " + plain(deviation) + (largest > 0 ? " (" + (100 * deviation / largest).toPrecision(2) + " % of the largest)" : "")));
      return make("tr", {}, make("th", { scope: "row" }, name), cell);
    }
    values(pane, title, list, names) {
      if (!list || !list.length) return [];
      const body = make("tbody", {});
      list.forEach((v, i) => body.append(this.valueRow(pane, names[Math.min(i, names.length - 1)] || String(i), v)));
      return [this.heading(title), make("table", {}, body)];
    }

    node(pane, n) {
      const model = pane.model, node = model.doc.nodes[n], op = model.op(node);
      if (!op) { this.port(pane, n); return; }
      if (model.doc.checkpoint) { this.weight(pane, model.value(node.i[0])[2]); return; }
      const weights = (node.i || []).filter((v) => v >= 0 && model.value(v)[2] >= 0).reduce((s, v) => s + model.doc.weights[model.value(v)[2]].b, 0);
      const states = ["", "only in this model", "only in this model", "differs"];
      this.put(this.back(),
        make("h2", {}, op[0]), op[3] ? make("p", {}, op[3]) : null, this.notes(node.N),
        this.table([["name", make("code", {}, node.n)], ["module", node.m], ["class", node.c], ["source", node.p ? make("code", {}, node.p) : ""],
          ["FLOPs", node.f ? amount(node.f) + atSizes(model.doc) : ""],
          ["weights", weights ? bytes(weights) : ""],
          ["time", node.t !== undefined ? time(node.t) + " (" + (100 * node.t / model.doc.seconds).toFixed(1) + " %)" : ""],
          ["speed", node.t > 0 && node.f ? (node.f / node.t / 1e9).toFixed(1) + " GFLOP/s" : ""],
          ["quantization", node.q ? (node.q[2] ? "quantized" : "stays in float") : ""],
          ["error of the weight", node.q ? percent(node.q[0]) : ""], ["error of the result", node.q ? percent(node.q[1]) : ""],
          ["diff", node.d ? states[node.d] : ""],
          ["in the other", node.w !== undefined && this.view.panes.length > 1 ? this.nodeLink(this.view.panes[pane === this.view.panes[0] ? 1 : 0], node.w) : ""]]),
        node.a ? [this.heading("attributes"), this.table(node.a.map(([k, v]) => [k, make("code", {}, v)]))] : null,
        this.values(pane, "inputs", node.i, op[4]), this.values(pane, "outputs", node.u, op[5]),
        this.readers(pane, node.u));
    }
    readers(pane, list) {
      const users = [...new Set((list || []).filter((v) => v >= 0).flatMap((v) => pane.model.usersOf(v)))];
      return users.length ? [this.heading("read by"), users.slice(0, 12).map((n) => make("p", {}, this.nodeLink(pane, n))), users.length > 12 ? make("p", { class: "dim" }, "and " + (users.length - 12) + " more") : null] : [];
    }
    port(pane, n) {
      const node = pane.model.doc.nodes[n], v = (node.u || node.i)[0];
      this.put(this.back(), make("h2", {}, node.n), make("p", { class: "dim" }, node.u ? "input" : "output"), this.table([["type", make("code", {}, pane.model.value(v)[1])]]),
        node.u ? this.readers(pane, node.u) : [this.heading("computed by"), pane.model.makerOf(v) === undefined ? null : make("p", {}, this.nodeLink(pane, pane.model.makerOf(v)))]);
    }

    box(pane, item) {
      const model = pane.model, seconds = model.sum(item, "t"), flops = item.f;
      const ops = new Map();
      const walk = (canvas, depth) => model.doc.canvases[canvas].i.forEach((x) => {
        const op = model.op(model.node(x));
        if (op) ops.set(op[0], (ops.get(op[0]) || 0) + 1);
        if (x.c !== undefined && depth < 40) walk(x.c, depth + 1);
      });
      walk(item.c, 0);
      this.put(this.back(), make("h2", {}, (item.r || !item.p ? item.l : item.p) + (item.r ? " × " + item.r : "")),
        item.r ? make("p", {}, item.r + " blocks of the same structure, one after the other") : null,
        item.P ? make("p", {}, "a part of a long sequence, cut where few values cross") : null,
        this.table([["class", item.P ? "" : item.t], [model.doc.checkpoint ? "tensors" : "nodes", grouped(item.q || 0)], ["FLOPs", flops ? amount(flops) + atSizes(model.doc) : ""], ["weights", item.b ? bytes(item.b) : ""],
          ["time", seconds ? time(seconds) + " (" + (100 * seconds / model.doc.seconds).toFixed(1) + " %)" : ""], ["speed", seconds && flops ? (flops / seconds / 1e9).toFixed(1) + " GFLOP/s" : ""]]),
        this.heading(model.doc.checkpoint ? "tensors by name" : "operators"), this.operators([...ops]));
    }
    operators(list) {
      list.sort((a, b) => b[1] - a[1]);
      const most = list.length ? list[0][1] : 1, body = make("tbody", {});
      for (const [name, n] of list.slice(0, 40)) {
        const bar = make("span", { class: "bar" });
        bar.style.width = Math.round(90 * n / most) + "px";
        body.append(make("tr", {}, make("td", {}, this.button(name, () => this.view.find(name))), make("td", { class: "r" }, grouped(n)), make("td", {}, bar)));
      }
      return make("table", {}, body);
    }

    weight(pane, index) {
      const model = pane.model, w = model.doc.weights[index], [name, type] = model.value(w.v), users = model.usersOf(w.v);
      this.put(this.back(), make("h2", {}, name), make("p", { class: "dim" }, "weight"),
        this.table([["type", make("code", {}, type)], ["elements", grouped(w.n)], ["size", bytes(w.b)],
          ...(w.s ? [["minimum", plain(w.s[0])], ["maximum", plain(w.s[1])], ["mean", plain(w.s[2])], ["standard deviation", plain(w.s[3])],
            ["zeros", grouped(w.z) + (w.n ? " (" + (100 * w.z / w.n).toFixed(1) + " %)" : "")], ["NaN", w.nan], ["infinite", w.inf]] : [["data", "not in the file"]])]),
        w.h ? [this.heading("histogram"), histogram(w)] : null,
        w.x && w.x.length ? [this.heading("first values"), make("p", {}, make("code", {}, w.x.map(plain).join(", ") + (w.n > w.x.length ? ", …" : "")))] : null,
        model.doc.checkpoint ? null : [this.heading(users.length > 1 ? "shared by " + users.length + " nodes" : "read by"), users.slice(0, 20).map((n) => make("p", {}, this.nodeLink(pane, n)))]);
    }
    back() { return make("p", {}, this.button("← summary", () => { this.view.panes.forEach((p) => { p.selected = null; p.mark(); }); this.summary(); })); }

    summary() {
      const panes = this.view.panes, pane = panes[0], doc = pane.model.doc;
      const ports = (kind) => doc.canvases.flatMap((c, i) => i === doc.root || pane.model.owner[i] && pane.model.owner[i][0] === doc.root && !doc.canvases[pane.model.owner[i][0]].i[pane.model.owner[i][1]].n ? c.i : []).filter((x) => x.k === kind && (x.n !== undefined))
        .map((x) => [this.button(x.l, () => pane.revealNode(x.n)), make("code", {}, x.s || "")]);
      const nodes = doc.nodes.reduce((s, n) => s + (n.o !== undefined), 0);
      const diff = panes.length > 1 ? this.differences() : null;
      this.put(make("h2", {}, doc.title), doc.doc ? make("p", {}, doc.doc) : null,
        this.notes(doc.notes), diff,
        this.table(doc.checkpoint ? [["tensors", grouped(nodes)], ["parameters", grouped(doc.params) + " (" + bytes(doc.bytes) + ")"]] : [["nodes", grouped(nodes)], ["parameters", grouped(doc.params) + " (" + bytes(doc.bytes) + ")"], ["FLOPs", doc.flops ? amount(doc.flops) + atSizes(doc) : ""], ["as a formula", doc.formula],
          ["time", doc.seconds !== undefined ? time(doc.seconds) + (doc.flops ? ", " + (doc.flops / doc.seconds / 1e9).toFixed(1) + " GFLOP/s" : "") : ""],
          ["opset", doc.opsets.map(([d, v]) => (d === "ai.onnx" ? "" : d + " ") + v).join(", ")], ["producer", doc.producer], ["IR version", doc.ir], ["functions", doc.functions || ""], ["graph", doc.graph]]),
        doc.checkpoint ? null : [this.heading("inputs"), this.table(ports(INPUT)), this.heading("outputs"), this.table(ports(OUTPUT))],
        doc.peak ? [this.heading("memory of activations"), memory(doc, (n) => pane.revealNode(n)), make("p", { class: "dim" }, "peak " + bytes(doc.peak) + atSizes(doc))] : null,
        doc.bytes ? [this.heading("weights by module"), treemap(pane)] : null,
        doc.seconds !== undefined ? [this.heading("slowest"), this.largest(pane, (n) => n.t || 0, time)] : null,
        doc.measured ? [this.heading("largest errors of quantization"), this.largest(pane, (n) => n.q ? Math.max(...n.q.slice(0, 2)) : 0, percent)] : null,
        this.heading(doc.checkpoint ? "tensors by name" : "operators"), this.operators(doc.ops.map((o) => [o[0], o[1]])),
        doc.metadata.length ? [this.heading("metadata"), this.table(doc.metadata.map(([k, v]) => [k, v.length > 300 ? v.slice(0, 300) + "…" : v]))] : null);
    }
    largest(pane, field, format) {
      const doc = pane.model.doc, list = doc.nodes.map((n, i) => [i, field(n)]).filter((x) => x[1] > 0).sort((a, b) => b[1] - a[1]).slice(0, 10), body = make("tbody", {});
      for (const [n, t] of list) {
        const bar = make("span", { class: "bar" });
        bar.style.width = Math.round(70 * t / list[0][1]) + "px";
        body.append(make("tr", {}, make("td", {}, this.nodeLink(pane, n)), make("td", { class: "r" }, format(t)), make("td", {}, bar)));
      }
      return make("table", {}, body);
    }
    differences() {
      const rows = [];
      this.view.panes.forEach((pane, k) => pane.model.doc.nodes.forEach((node, n) => {
        if (node.d && (k === 0 || node.d !== 3)) rows.push([k, n, node]);
      }));
      const deviations = this.view.panes[0].model.doc.values.filter((v) => v[3] !== undefined);
      const largest = deviations.reduce((m, v) => Math.max(m, v[3]), 0);
      const state = ([k, , node]) => ["", k ? "added" : "removed", "removed", "changed"][node.d];
      const counts = ["changed", "added", "removed"].map((name) => [rows.filter((row) => state(row) === name).length, name]).filter(([n]) => n);
      return [this.heading("differences"), make("p", {}, counts.length ? counts.map(([n, name]) => grouped(n) + " " + name).join(" · ") : "no node differs"),
        rows.slice(0, 60).map((row) => make("p", { class: "difference" }, make("span", { class: "state d" + row[2].d }, state(row)), this.nodeLink(this.view.panes[row[0]], row[1]))),
        rows.length > 60 ? make("p", { class: "dim" }, "and " + (rows.length - 60) + " more") : null,
        deviations.length ? make("p", {}, deviations.length + " common values were compared; the largest deviation is " + plain(largest)) : null, this.heading("this model")];
    }
  }

  // ---- plots ----

  function histogram(w) {
    const svg = draw("svg", { class: "plot", viewBox: "0 0 320 92", preserveAspectRatio: "none", role: "img", "aria-label": "histogram from " + plain(w.s[0]) + " to " + plain(w.s[1]) });
    const most = Math.max(...w.h), width = 320 / w.h.length;
    w.h.forEach((n, i) => { const h = n ? Math.max(1, 74 * n / most) : 0; svg.append(draw("rect", { class: "bin", x: round(i * width + 0.5), y: round(76 - h), width: round(width - 1), height: round(h) })); });
    svg.append(draw("text", { x: 0, y: 89 }, plain(w.s[0])), draw("text", { x: 320, y: 89, "text-anchor": "end" }, plain(w.s[1])));
    return svg;
  }

  function memory(doc, go) {
    const svg = draw("svg", { class: "plot", viewBox: "0 0 320 92", preserveAspectRatio: "none", role: "img", "aria-label": "memory of activations while the nodes run, at most " + bytes(doc.peak) });
    const n = doc.memory.length, x = (i) => 320 * i / Math.max(1, n), y = (b) => 88 - 82 * b / doc.peak;
    let path = "M0 88";
    doc.memory.forEach(([, b], i) => { path += "L" + round(x(i)) + " " + round(y(b)) + "L" + round(x(i + 1)) + " " + round(y(b)); });
    const area = draw("path", { class: "area", d: path + "L320 88Z" });
    svg.append(area);
    svg.addEventListener("click", (e) => {
      const r = svg.getBoundingClientRect(), i = Math.min(n - 1, Math.max(0, Math.floor((e.clientX - r.left) / r.width * n)));
      go(doc.memory[i][0]);
    });
    return svg;
  }

  /* Squarified: rows along the shorter side while their pieces stay near squares. */
  function squarify(pieces, x, y, w, h, out) {
    let rest = pieces.slice();
    while (rest.length) {
      const side = Math.min(w, h), total = rest.reduce((s, p) => s + p.size, 0), area = w * h;
      let row = [], sum = 0, worst = Infinity;
      for (const p of rest) {
        const s = sum + p.size, thick = s / total * area / side;
        const bad = Math.max(...[...row, p].map((q) => { const l = q.size / s * side; return Math.max(l / thick, thick / l); }));
        if (row.length && bad > worst) break;
        row.push(p); sum = s; worst = bad;
      }
      const thick = sum / total * area / side;
      let at = 0;
      for (const p of row) {
        const l = p.size / sum * side;
        out.push(w < h ? { ...p, x: x + at, y, w: l, h: thick } : { ...p, x, y: y + at, w: thick, h: l });
        at += l;
      }
      if (w < h) { y += thick; h -= thick; } else { x += thick; w -= thick; }
      rest = rest.slice(row.length);
    }
  }

  function treemap(pane) {
    const model = pane.model, doc = model.doc;
    const pieces = (canvas) => doc.canvases[canvas].i.map((item, i) => ({ item, target: [canvas, i], size: item.b || 0 })).filter((p) => p.size > 0);
    let list = pieces(doc.root);
    for (let round = 0; round < 60 && list.length < 24; round++) {
      const i = list.findIndex((p) => p.item.c !== undefined && pieces(p.item.c).length && (p.item.P || (!p.item.r && p.size > 0.2 * doc.bytes)));
      if (i < 0) break;
      list.splice(i, 1, ...pieces(list[i].item.c));
      list.sort((a, b) => b.size - a.size);
    }
    list.sort((a, b) => b.size - a.size);
    const svg = draw("svg", { class: "tree", viewBox: "0 0 320 180", role: "img", "aria-label": "size of the weights by module: " + list.slice(0, 6).map((p) => name(p) + " " + bytes(p.size)).join(", ") });
    const out = [];
    squarify(list.slice(0, 60), 0, 0, 320, 180, out);
    function name(p) {
      const node = model.node(p.item), around = model.owner[p.target[0]] && model.item(model.owner[p.target[0]]);
      return p.item.p && !p.item.r ? p.item.p : node && node.m ? node.m : around && around.p && p.item.r ? around.p + "." + p.item.l : p.item.l;
    }
    /* Modules of one module have one colour. */
    const common = list.length ? name(list[0]).split(".") : [];
    let depth = 0;
    while (depth + 1 < common.length && list.every((p) => name(p).split(".")[depth] === common[depth])) depth++;
    const groups = [...new Set(list.map((p) => name(p).split(".")[depth]))];
    const colours = ["conv", "norm", "pool", "matrix", "activation", "reduce", "shape", "recurrent", "quant", "control"];
    out.forEach((p) => {
      const rect = draw("rect", { x: round(p.x), y: round(p.y), width: round(p.w), height: round(p.h), rx: 2 });
      rect.style.fill = "var(--" + colours[groups.indexOf(name(p).split(".")[depth]) % colours.length] + ")";
      rect.append(draw("title", {}, name(p) + ", " + bytes(p.size)));
      rect.addEventListener("click", () => pane.reveal(p.target));
      svg.append(rect);
      if (p.w > 40 && p.h > 16) {
        const room = Math.floor((p.w - 8) / 6.4), text = name(p);
        svg.append(draw("text", { x: round(p.x + 4), y: round(p.y + 12) }, text.length > room ? "…" + text.slice(1 - room) : text));
        if (p.h > 30 && bytes(p.size).length <= room) svg.append(draw("text", { x: round(p.x + 4), y: round(p.y + 24) }, bytes(p.size)));
      }
    });
    return svg;
  }

  // ---- search ----

  class Search {
    constructor(view, host) {
      this.view = view;
      this.input = make("input", { type: "search", placeholder: "Search: name, operator, shape, line  ( / )", "aria-label": "Search nodes by name, operator, shape or source line", role: "combobox", "aria-expanded": "false", "aria-controls": "cv-hits", "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false" });
      this.list = make("ul", { class: "hits", id: "cv-hits", role: "listbox", "aria-label": "Search results", hidden: true });
      this.status = make("span", { class: "sr", role: "status" });
      host.append(this.input, this.list, this.status);
      this.input.addEventListener("input", () => this.update());
      this.input.addEventListener("focus", () => this.update());
      this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
      this.input.addEventListener("keydown", (e) => this.key(e));
    }
    index() {
      if (this.entries) return;
      this.entries = [];
      for (const pane of this.view.panes) {
        const model = pane.model;
        model.doc.nodes.forEach((node, i) => {
          if (!model.home[i]) return;
          const op = model.op(node), types = (node.u || []).filter((v) => v >= 0).map((v) => model.value(v)[1]).join(" ");
          const text = [node.n, op ? op[0] : "", types, types ? shapeOf(types) : "", node.p || "", node.m || "", node.c || ""].join(" ");
          this.entries.push({ text: text.toLowerCase(), title: op ? op[0] : node.u ? "input" : "output", detail: [node.n, types, node.p].filter(Boolean).join(" · "), go: () => pane.revealNode(i) });
        });
        model.doc.weights.forEach((w, i) => {
          const [name, type] = model.value(w.v);
          this.entries.push({ text: (name + " " + type + " " + shapeOf(type) + " weight").toLowerCase(), title: "weight", detail: name + " · " + type, go: () => this.view.panel.weight(pane, i) });
        });
      }
    }
    update() {
      const words = this.input.value.toLowerCase().trim().split(/\s+/).filter(Boolean);
      if (!words.length) { this.close(); return; }
      this.index();
      this.hits = [];
      let n = 0;
      for (const e of this.entries)
        if (words.every((w) => e.text.includes(w))) { n++; if (this.hits.length < 60) this.hits.push(e); }
      this.at = this.hits.length ? 0 : -1;
      this.list.replaceChildren(...this.hits.map((h, i) => make("li", { role: "option", id: "cv-hit-" + i, onmousedown: (e) => { e.preventDefault(); this.go(i); } }, h.title, make("small", {}, h.detail))));
      this.status.textContent = n + (n === 1 ? " result" : " results");
      if (!this.hits.length) this.list.append(make("li", { role: "option", "aria-disabled": "true" }, "nothing found"));
      this.list.hidden = false;
      this.input.setAttribute("aria-expanded", "true");
      this.move(0);
    }
    move(by) {
      if (!this.hits || !this.hits.length) return;
      this.at = (this.at + by + this.hits.length) % this.hits.length;
      [...this.list.children].forEach((li, i) => li.setAttribute("aria-selected", i === this.at ? "true" : "false"));
      this.input.setAttribute("aria-activedescendant", "cv-hit-" + this.at);
      this.list.children[this.at].scrollIntoView({ block: "nearest" });
    }
    key(e) {
      if (e.key === "ArrowDown" || e.key === "ArrowUp") { e.preventDefault(); this.move(e.key === "ArrowDown" ? 1 : -1); }
      else if (e.key === "Enter" && this.at >= 0) { e.preventDefault(); this.go(this.at); }
      else if (e.key === "Escape") this.close();
    }
    go(i) { const hit = this.hits[i]; this.close(); if (hit) hit.go(); }
    close() { this.list.hidden = true; this.input.setAttribute("aria-expanded", "false"); this.input.removeAttribute("aria-activedescendant"); }
  }

  // ---- all of it ----

  class View {
    constructor(host, doc, options) {
      this.options = options || {};
      this.root = make("div", { class: "cv" });
      host.replaceChildren(this.root);
      this.theme(this.remembered() || (window.matchMedia && matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
      const header = make("header", {}, make("h1", {}, doc.title), make("span", { class: "facts" }, this.facts(doc)));
      const stage = make("main", { class: "stage", "aria-label": "Graph" }), aside = make("aside", { "aria-label": "Details", tabindex: "0" });
      this.root.append(header, stage, aside);
      this.overlay = doc.seconds !== undefined ? "t" : doc.measured ? "q" : "family";
      this.panel = new Panel(this, aside);
      this.panes = [];
      for (const [d, title] of doc.other ? [[doc, doc.title], [doc.other, doc.other.title]] : [[doc, ""]]) {
        const pane = make("div", { class: "pane" }, title ? make("h2", {}, title) : null);
        stage.append(pane);
        this.panes.push(new Pane(this, d, pane, d.title));
      }
      this.buildTools(header, stage, doc);
      this.panel.summary();
      this.fit(false);
      this.listen();
      this.follow();
    }

    /* Graphs side by side have one scale. */
    fit(all) {
      this.panes.forEach((p) => p.fit(all));
      const scale = Math.min(...this.panes.map((p) => p.scale));
      if (this.panes.length > 1) this.panes.forEach((p) => p.fit(all, scale));
    }

    facts(doc) {
      const nodes = doc.nodes.reduce((s, n) => s + (n.o !== undefined), 0);
      return [grouped(nodes) + (doc.checkpoint ? " tensors" : " nodes"), amount(doc.params) + " parameters", doc.flops ? operations(doc.flops) : "", doc.opsets.length && !doc.checkpoint ? "opset " + (doc.opsets.find((o) => o[0] === "ai.onnx") || doc.opsets[0])[1] : ""].filter(Boolean).join("  ·  ");
    }

    buildTools(header, stage, doc) {
      const find = make("div", { class: "find" });
      this.search = new Search(this, find);
      const kinds = [["family", "operator"], ["f", "FLOPs"], ["b", "weights"]];
      if (doc.seconds !== undefined) kinds.push(["t", "time"]);
      if (doc.measured) kinds.push(["q", "quantization error"]);
      if (doc.other) kinds.push(["deviation", "deviation"]);
      const select = make("select", { "aria-label": "Colour nodes by", onchange: (e) => { this.overlay = e.target.value; this.drawLegend(); this.panes.forEach((p) => { p.render(); p.apply(); }); } },
        ...kinds.map(([value, text]) => make("option", { value, selected: value === this.overlay }, "colour: " + text)));
      header.append(find, select, make("button", { type: "button", "aria-label": "Switch between light and dark", title: "Light or dark (d)", onclick: () => this.switchTheme() }, "◐"));
      this.legend = make("p", { class: "legend" });
      stage.append(this.legend);
      this.drawLegend();
      const all = (f) => () => this.panes.forEach(f);
      stage.append(make("div", { class: "tools", role: "toolbar", "aria-label": "View" },
        make("button", { type: "button", "aria-label": "Zoom in", title: "Zoom in (+)", onclick: all((p) => p.zoom(1.25)) }, "+"),
        make("button", { type: "button", "aria-label": "Zoom out", title: "Zoom out (-)", onclick: all((p) => p.zoom(0.8)) }, "−"),
        make("button", { type: "button", "aria-label": "Fit", title: "Fit (f)", onclick: () => this.fit(true) }, "fit"),
        make("button", { type: "button", "aria-label": "Open one level", title: "Open one level (o)", onclick: all((p) => p.openAll(true)) }, "open"),
        make("button", { type: "button", "aria-label": "Close all boxes", title: "Close all (c)", onclick: all((p) => p.openAll(false)) }, "close")));
    }

    drawLegend() {
      const ends = { f: ["0", "all FLOPs"], b: ["0", "all weights"], t: ["0", "all of the time"], q: ["0.1 %", "10 % error"], deviation: ["1e-7", "0.1 of the largest value"] }[this.overlay];
      this.legend.hidden = !ends;
      if (ends) this.legend.replaceChildren(ends[0], make("i", {}), ends[1]);
    }

    /* The colour of an item: its family, or a share of the total. */
    colour(model, item, op) {
      const plainFill = item.k === OP ? "var(--other)" : null;
      if (this.overlay === "family") return op && item.k === OP ? "var(--" + (FAMILIES.has(op[2]) ? op[2] : "other") + ")" : null;
      if (this.overlay === "deviation" || this.overlay === "q") { // from 1e-7, or 1e-3, to 0.1
        const d = item.k >= INPUT ? -1 : this.relativeError(model, item), least = this.overlay === "q" ? 3 : 7;
        return d < 0 ? plainFill : heat(Math.min(1, Math.max(0, (Math.log10(d + 1e-30) + least) / (least - 1))), this.root.dataset.theme === "dark");
      }
      const total = this.overlay === "t" ? model.doc.seconds : this.overlay === "f" ? model.doc.flops : model.doc.bytes;
      const own = this.overlay === "t" ? model.sum(item, "t") : item[this.overlay] || 0;
      if (item.k >= INPUT || !total) return plainFill;
      return heat(Math.sqrt(Math.min(1, own / total)), this.root.dataset.theme === "dark");
    }
    relativeError(model, item) { return this.overlay === "q" ? model.layerError(item) : model.deviation(item); }
    extra(model, item) {
      if (this.overlay === "family" || item.k >= INPUT) return "";
      if (this.overlay === "deviation") { const d = model.deviation(item); return d < 0 ? "" : "Δ " + d.toExponential(1); }
      if (this.overlay === "q") { const d = model.layerError(item); return d < 0 ? "" : "error " + percent(d); }
      const own = this.overlay === "t" ? model.sum(item, "t") : item[this.overlay] || 0;
      const total = this.overlay === "t" ? model.doc.seconds : this.overlay === "f" ? model.doc.flops : model.doc.bytes;
      if (!own || !total) return "";
      return (this.overlay === "t" ? time(own) : this.overlay === "f" ? operations(own) : bytes(own)) + " · " + share(own / total);
    }

    selected(pane, item, quiet) {
      if (!item) { this.panel.summary(); this.link(""); return; }
      if (item.n !== undefined) this.panel.node(pane, item.n); else this.panel.box(pane, item);
      const node = pane.model.node(item);
      if (pane === this.panes[0]) this.link(node ? node.n : item.p ? "box:" + item.p : "");
      const other = this.panes.find((p) => p !== pane);
      if (other && node && node.w !== undefined && !quiet) { const keep = this.panel.host.scrollTop; other.revealNode(node.w, true); this.panel.node(pane, item.n); this.panel.host.scrollTop = keep; }
    }
    /* Graphs side by side open the same module. */
    mirror(pane, item, yes) {
      for (const other of this.panes) if (other !== pane && item.p) other.setOpen(item.p, yes);
    }
    link(name) {
      if (!this.options.links) return;
      this.own = name ? "#" + encodeURIComponent(name) : "";
      if (location.hash !== this.own) history.replaceState(null, "", this.own || location.pathname + location.search);
    }
    follow() {
      if (!this.options.links || location.hash.length < 2 || location.hash === this.own) return;
      let name;
      try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
      const pane = this.panes[0], doc = pane.model.doc;
      if (name.startsWith("box:")) {
        for (let c = 0; c < doc.canvases.length; c++) {
          const i = doc.canvases[c].i.findIndex((x) => x.k === BOX && x.p === name.slice(4));
          if (i >= 0) { pane.reveal([c, i]); return; }
        }
      } else {
        const n = doc.nodes.findIndex((x, i) => x.n === name && pane.model.home[i]);
        if (n >= 0) pane.revealNode(n);
      }
    }
    find(text) { this.search.input.value = text; this.search.input.focus(); this.search.update(); }

    remembered() { try { return localStorage.getItem("calque-theme"); } catch { return null; } }
    theme(name) { this.root.dataset.theme = name; }
    switchTheme() {
      const name = this.root.dataset.theme === "dark" ? "light" : "dark";
      this.theme(name);
      try { localStorage.setItem("calque-theme", name); } catch { /* a page from disk may have none */ }
      this.panes.forEach((p) => p.render());
    }
    listen() {
      document.addEventListener("keydown", (e) => {
        if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, select, textarea")) return;
        const all = (f) => { e.preventDefault(); this.panes.forEach(f); };
        if (e.key === "/") { e.preventDefault(); this.search.input.focus(); }
        else if (e.key === "+" || e.key === "=") all((p) => p.zoom(1.25));
        else if (e.key === "-") all((p) => p.zoom(0.8));
        else if (e.key === "f" || e.key === "0") { e.preventDefault(); this.fit(true); }
        else if (e.key === "o") all((p) => p.openAll(true));
        else if (e.key === "c") all((p) => p.openAll(false));
        else if (e.key === "d") this.switchTheme();
      });
      window.addEventListener("hashchange", () => this.follow());
      window.addEventListener("resize", () => (this.touched ? this.panes.forEach((p) => p.drawMap()) : this.fit(false)));
    }
  }

  const FAMILIES = new Set(["conv", "matrix", "activation", "pool", "norm", "math", "shape", "reduce", "recurrent", "control", "quant"]);

  /* From the background over orange to red. */
  function heat(t, dark) {
    const stops = dark ? [[40, 46, 56], [140, 84, 28], [176, 48, 32]] : [[246, 247, 249], [253, 200, 132], [238, 110, 82]];
    const i = t < 0.5 ? 0 : 1, u = (t - i * 0.5) * 2, c = stops[i].map((a, k) => Math.round(a + (stops[i + 1][k] - a) * u));
    return "rgb(" + c.join(" ") + ")";
  }

  return (host, doc, options) => new View(host, doc, options);
})();

if (typeof module !== "undefined") module.exports = { calqueView };
