// calque view in a real browser: Debian's chromium, headless, driven by puppeteer-core.
//
//     node tests/browser/view.mjs [TEST…]    CALQUE, CALQUE_CACHE and CHROMIUM name the programs and the cache
//
// Screenshots are kept in build/screenshots.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const HERE = path.dirname(fileURLToPath(import.meta.url)), ROOT = path.resolve(HERE, "../..");
const BUILD = process.env.CALQUE_BUILD || path.join(ROOT, "build");
const CALQUE = process.env.CALQUE || path.join(BUILD, "calque");
const CACHE = process.env.CALQUE_CACHE || path.join(ROOT, ".cache");
const CHROMIUM = process.env.CHROMIUM || "/usr/bin/chromium";
const WORK = path.join(BUILD, "browser"), SHOTS = path.join(ROOT, "build", "screenshots");
// The first paint of 10,000 nodes takes at most 1 s, or on a slow machine this many times that of 100 nodes.
const FIRST_PAINT_LIMIT = 1000, FIRST_PAINT_RATIO = 10;

let passed = 0, failed = 0;
function check(what, condition, detail) {
  if (condition) passed++;
  else { failed++; console.log("FAIL " + what + (detail === undefined ? "" : ": " + detail)); }
}
function skip(why) {
  const wrong = process.env.CI === "true";
  console.log("SKIP view in a browser: " + why);
  console.log(wrong ? "0 passed, 1 failed" : "0 passed, 0 failed, 1 skipped");
  process.exit(wrong ? 1 : 0);
}

if (!fs.existsSync(CHROMIUM)) skip(CHROMIUM + " is missing; tools/setup.sh browser installs it");
let puppeteer, axe;
try {
  const require = createRequire(path.join(CACHE, "browser", "index.js"));
  puppeteer = require("puppeteer-core");
  axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
} catch (error) {
  skip("puppeteer-core or axe-core is missing; tools/setup.sh browser installs them");
}
fs.mkdirSync(WORK, { recursive: true });
fs.mkdirSync(SHOTS, { recursive: true });

function calque(...args) { return execFileSync(CALQUE, args, { cwd: HERE, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }); }
function file(name) { return path.join(WORK, name); }
function view(name, model, ...options) { calque("view", model, "-q", "-o", file(name + ".html"), ...options); return file(name + ".html"); }

/* An ONNX model from ONNX's text syntax. */
function parsed(name, text) {
  fs.writeFileSync(file(name + ".txt"), text);
  calque("print", "--parse", file(name + ".txt"), "-q", "-o", file(name + ".onnx"));
  return file(name + ".onnx");
}
const HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n';

function flat(n) {
  let text = HEADER + "net (float[1,8] x) => (float[1,8] y) {\n v0 = Relu(x)\n";
  for (let i = 1; i < n - 1; i++) text += i % 7 ? ` v${i} = Relu(v${i - 1})\n` : ` v${i} = Add(v${i - 1}, v${i - 6})\n`;
  return text + ` y = Relu(v${n - 2})\n}`;
}

const browser = await puppeteer.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--force-color-profile=srgb", "--hide-scrollbars"] });

async function open(html, hash = "", features = []) {
  const page = await browser.newPage();
  page.errors = [];
  page.on("pageerror", (e) => page.errors.push(e.message));
  page.on("console", (m) => m.type() === "error" && page.errors.push(m.text()));
  page.on("request", (r) => !/^(file|data|blob):/.test(r.url()) && page.errors.push("request of " + r.url()));
  await page.setViewport({ width: 1400, height: 900 });
  await page.emulateMediaFeatures(features);
  await page.goto(pathToFileURL(html).href + hash);
  return page;
}
async function finish(page, name) {
  const facts = await page.$eval(".facts", (e) => e.textContent);
  check(name + ": a space separates number and unit", !/\d[A-Za-z]/.test(facts), facts);
  await page.screenshot({ path: path.join(SHOTS, name + ".png") });
  check(name + ": no errors and no requests", page.errors.length === 0, page.errors.join("; "));
  await page.close();
}
const items = (page) => page.$$eval(".item", (list) => list.length);
const labels = (page) => page.$$eval(".item > .t", (list) => list.map((t) => t.textContent));
const panel = (page) => page.$eval("aside", (e) => e.innerText);
async function click(page, label) {
  const at = await page.evaluate((wanted) => {
    const text = [...document.querySelectorAll(".item > .t")].find((t) => t.textContent === wanted);
    if (!text) return null;
    const r = text.getBoundingClientRect();
    return [r.x + r.width / 2, r.y + r.height / 2];
  }, label);
  if (!at) { check("there is an item " + label, false); return; }
  await page.mouse.click(...at);
}

/* Boxes of one level do not overlap, and edges stay out of the items that they pass. */
async function overlaps(page) {
  return page.evaluate(() => {
    const rect = (g) => { const b = g.querySelector("rect.f"); return ["x", "y", "width", "height"].map((k) => +b.getAttribute(k)); };
    const all = [...document.querySelectorAll(".item")].map((g) => ({ key: g.dataset.key, open: g.classList.contains("open"), r: rect(g) }));
    const found = [];
    const level = (key) => key.slice(0, key.lastIndexOf("/"));
    for (const a of all)
      for (const b of all)
        if (a.key < b.key && level(a.key) === level(b.key) && a.r[0] < b.r[0] + b.r[2] && b.r[0] < a.r[0] + a.r[2] && a.r[1] < b.r[1] + b.r[3] && b.r[1] < a.r[1] + a.r[3])
          found.push(a.key + " and " + b.key);
    for (const e of document.querySelectorAll("path.e")) {
      const length = e.getTotalLength();
      for (let at = 3; at < length - 3; at += 6) {
        const p = e.getPointAtLength(at);
        for (const a of all)
          if (!a.open && p.x > a.r[0] + 2 && p.x < a.r[0] + a.r[2] - 2 && p.y > a.r[1] + 2 && p.y < a.r[1] + a.r[3] - 2) { found.push("edge through " + a.key); at = length; break; }
      }
    }
    return found;
  });
}

async function audit(page, what) {
  await page.evaluate(axe);
  const results = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  const bad = results.violations.filter((v) => v.impact === "serious" || v.impact === "critical");
  check(what + ": axe-core finds nothing serious", bad.length === 0, bad.map((v) => v.id + " " + v.nodes.slice(0, 2).map((n) => n.html.slice(0, 120)).join(" ")).join("; "));
}

// ---- models ----

async function classics() {
  for (const name of ["alexnet", "resnet50", "vgg16"]) {
    const html = view(name, name), page = await open(html);
    const n = await items(page);
    check(name + " opens as about a dozen boxes", n >= 8 && n <= 30, n);
    check(name + " is smaller than 400 kB", fs.statSync(html).size < 400000, fs.statSync(html).size);
    check(name + ": nothing overlaps", (await overlaps(page)).length === 0, (await overlaps(page))[0]);
    const text = await panel(page);
    check(name + ": the summary comes first", /parameters/i.test(text) && /memory of activations/i.test(text) && /opset/.test(text));
    if (name === "resnet50") {
      await click(page, "layer3");
      check("layer3 opens", (await items(page)) > n);
      check("identical blocks are one box", (await labels(page)).includes("1 … 5") && (await page.$eval(".badge", (e) => e.textContent)) === "× 5");
      await click(page, "0");
      check("a block inside opens", (await labels(page)).filter((l) => l === "Conv").length >= 4);
      check("open boxes: nothing overlaps", (await overlaps(page)).length === 0, (await overlaps(page))[0]);
      await page.screenshot({ path: path.join(SHOTS, "resnet50-open.png") });
      await page.keyboard.press("c");
      check("all boxes close", (await items(page)) <= n);
    }
    await audit(page, name);
    await finish(page, name);
  }
}

async function panels() {
  const page = await open(view("resnet18", "resnet18"));
  await page.keyboard.press("/");
  await page.keyboard.type("conv 1x64x112".replace(/x/g, "×"));
  await page.waitForSelector(".hits li");
  check("search finds a node by operator and shape", (await page.$$eval(".hits li", (l) => l.map((x) => x.textContent))).some((t) => t.includes("/conv1/Conv")));
  await page.keyboard.press("Enter");
  const text = await panel(page);
  check("the panel of a node has attributes, types and FLOPs", /kernel_shape\s*\[7, 7\]/.test(text) && /float32\[1,64,112,112\]/.test(text) && /FLOPs\s*236 M/.test(text) && /convolution of a feature map/.test(text), text.slice(0, 200));
  check("the address names the node", (await page.evaluate(() => location.hash)) === "#%2Fconv1%2FConv");
  await page.evaluate(() => [...document.querySelectorAll("aside button.link")].find((b) => b.textContent.startsWith("conv1.weight")).click());
  const weight = await panel(page);
  check("the panel of a weight has statistics and a histogram", /minimum/.test(weight) && /standard deviation/.test(weight) && /zeros/.test(weight) && /first values/i.test(weight) && (await page.$$("aside svg .bin")).length === 32);
  await audit(page, "panel");
  await finish(page, "resnet18-weight");
  const linked = await open(file("resnet18.html"), "#" + encodeURIComponent("/layer2/0/downsample/0/Conv"));
  check("a link opens the boxes around its node and shows it", /downsample/.test(await panel(linked)) && (await linked.$$eval(".item.sel .t", (l) => l.map((t) => t.textContent))).join() === "Conv");
  await finish(linked, "resnet18-link");
}

async function keyboard() {
  const page = await open(file("resnet18.html"));
  await page.evaluate(() => document.querySelector(".item[tabindex='0']").focus());
  await page.keyboard.press("ArrowDown");
  const second = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  check("an arrow key follows the edge", /^Conv .*operator: convolution/.test(second), second);
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
  const before = await items(page);
  await page.keyboard.press("Enter");
  check("Enter opens a box", (await items(page)) > before && (await page.evaluate(() => document.activeElement.getAttribute("aria-expanded"))) === "true");
  await page.keyboard.press("ArrowDown");
  check("the next arrow key goes inside", (await page.evaluate(() => document.activeElement.dataset.key.split("/").length)) === 3);
  await page.keyboard.press("Escape");
  check("Escape closes the box around", (await items(page)) === before);
  await page.keyboard.press("f");
  await finish(page, "keyboard");
}

async function themes() {
  const page = await open(file("resnet50.html"), "", [{ name: "prefers-color-scheme", value: "dark" }]);
  check("the page follows prefers-color-scheme", (await page.$eval(".cv", (e) => e.dataset.theme)) === "dark");
  await audit(page, "dark");
  await page.screenshot({ path: path.join(SHOTS, "resnet50-dark.png") });
  await page.click("header button");
  check("the switch makes it light", (await page.$eval(".cv", (e) => e.dataset.theme)) === "light");
  await page.evaluate(() => localStorage.clear());
  await finish(page, "resnet50-light");
  const phone = await open(file("resnet50.html"));
  await phone.setViewport({ width: 390, height: 800, isMobile: true, hasTouch: true });
  await phone.reload();
  check("a phone has no horizontal scroll bar", await phone.evaluate(() => document.documentElement.scrollWidth <= 390));
  await finish(phone, "resnet50-phone");
}

async function control() {
  const page = await open(view("loop", "models/loop.py", "--entry", "Net()", "--input", "batchx16", "--script"));
  const before = await labels(page);
  check("Loop and If are boxes", before.includes("Loop") && before.includes("If"));
  await click(page, "Loop");
  check("the body of a loop opens", (await labels(page)).includes("And"));
  const joined = await page.evaluate(() => {
    const ends = [...document.querySelectorAll("path.arrow")].map((a) => a.getAttribute("d").match(/M([\d.]+) ([\d.]+)/).slice(1).map(Number));
    const inputs = [...document.querySelectorAll(".item.port > rect.f")].filter((r) => r.parentNode.dataset.key.split("/").length > 2).map((r) => ["x", "y", "width"].map((k) => +r.getAttribute(k)));
    return inputs.filter(([x, y, w]) => ends.some(([ex, ey]) => Math.abs(ex - x - w / 2) < 1 && Math.abs(ey - y) < 1)).length;
  });
  check("lines into a loop go on to the inputs of its body", joined >= 2, joined);
  check("the panel names the source line", /loop\.py:\d+/.test(await panel(page)));
  check("loop: nothing overlaps", (await overlaps(page)).length === 0, (await overlaps(page))[0]);
  await page.keyboard.press("f");
  await finish(page, "loop");
}

async function language() {
  const page = await open(view("language", "models/language.py", "--entry", "Model()", "--input", "int64[batch,seq]"));
  check("32 layers are one box", (await page.$eval(".badge", (e) => e.textContent)) === "× 32" && (await items(page)) < 30);
  const summary = await panel(page);
  await click(page, "layers.0 … 31");
  check("it opens as 32 boxes", (await labels(page)).filter((l) => /^layers\.\d+$/.test(l)).length === 32);
  await click(page, "layers.0");
  await click(page, "self_attn");
  check("language: nothing overlaps", (await overlaps(page)).length === 0, (await overlaps(page))[0]);
  check("FLOPs are a formula of the sizes", /as a formula\s*[\d.]+ M·batch·seq \+ [\d.]+ k·batch·seq²/.test(summary), summary.slice(0, 300));
  check("sizes are symbols", (await page.$$eval(".l", (l) => l.map((t) => t.textContent))).some((t) => t.includes("batch×seq×64")));
  await finish(page, "language");
}

function firstPaint(page) {
  return page.evaluate(() => new Promise((done) => {
    const entry = () => performance.getEntriesByName("first-contentful-paint")[0];
    const wait = () => (entry() ? done(entry().startTime) : setTimeout(wait, 20));
    wait();
  }));
}

/* A report of an export that failed: an operator that the graph has is marked at its node. */
async function reported() {
  const source = file("foreign.py"), report = file("foreign.json"), kept = file("foreign.onnx");
  fs.writeFileSync(source, "import torch\n\n\ndef forward(x):\n    return torch.ops.mylib.scale(torch.relu(x), 2.0)\n");
  try { calque("export", source, "--input", "2x3", "--report", report, "-o", file("never.onnx")); } catch { /* it cannot be exported */ }
  calque("export", source, "--input", "2x3", "--operator-export-type", "onnx_fallthrough", "-q", "-o", kept);
  const page = await open(view("reported", kept, "--report", report));
  await click(page, "scale");
  check("a report marks the operator that could not be exported", /mylib::scale could not be exported \(.*foreign\.py:5:/.test(await panel(page)), (await panel(page)).slice(0, 300));
  await finish(page, "reported");
}

/* A file of weights alone: tensors in the boxes of their modules. */
async function checkpoint() {
  const script = file("save.py"), saved = file("saved.pth");
  fs.writeFileSync(script, `import torch\nfrom torch import nn\nnet = nn.Sequential(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)), nn.Linear(8, 4))\ntorch.save(net.state_dict(), ${JSON.stringify(saved)})\n`);
  execFileSync(CALQUE, ["py", script], { cwd: WORK });
  const page = await open(view("checkpoint", saved));
  check("a checkpoint has tensors and parameters", /tensors\s*9/.test(await panel(page)) && /parameters\s*2\d\d \(/.test(await panel(page)) && /weights by module/i.test(await panel(page)), await panel(page));
  await page.keyboard.press("o");
  await page.keyboard.press("o");
  await click(page, "running_mean");
  check("a tensor of a checkpoint has statistics", /0\.1\.running_mean/.test(await panel(page)) && /standard deviation/.test(await panel(page)), await panel(page));
  check("checkpoint: nothing overlaps", (await overlaps(page)).length === 0, (await overlaps(page))[0]);
  await audit(page, "checkpoint");
  await finish(page, "checkpoint");
}

/* Errors of calque quantize at the nodes of the source and of the result; sizes of --input. */
async function quantized() {
  const layers = HEADER + "net (float[batch,64] x) => (float[batch,64] y) <float[64,64] w = {" + Array.from({ length: 4096 }, (_, i) => Math.sin(i).toFixed(4)) + "}> {\n [first] h = MatMul(x, w)\n [act] r = Relu(h)\n [second] y = MatMul(r, w)\n}";
  const source = parsed("layers", layers), errors = file("layers.errors.json"), result = file("layers.quantized.onnx");
  calque("quantize", source, "--mode", "dynamic", "-q", "--errors", errors, "-o", result);
  const measured = JSON.parse(fs.readFileSync(errors, "utf8")).quantized;
  check("quantize --errors has every layer and output", measured.map((x) => x.name).join() === "first,second,y" && measured[0].error > 0, JSON.stringify(measured));
  for (const model of [source, result]) {
    const page = await open(view("quantized", model, "--report", errors, "--input", "4x64"));
    check("errors of quantization are at the nodes", (await page.$$eval(".item .s", (l) => l.map((t) => t.textContent))).filter((t) => /^error \d\.\d+ %$/.test(t)).length === 2);
    check("the summary has the largest errors", /largest errors of quantization/i.test(await panel(page)));
    if (model === source) check("FLOPs are those of --input", /FLOPs\s*65.5 k at batch = 4/.test(await panel(page)), await panel(page));
    await click(page, model === source ? "MatMul" : "MatMulInteger");
    check("the panel has the errors of a layer", /quantization\s*quantized/.test(await panel(page)) && /error of the result\s*\d\.\d+ %/.test(await panel(page)), await panel(page));
    await finish(page, "quantized");
  }
}

async function large() {
  const small = await open(view("small", parsed("small", flat(100)))), least = await firstPaint(small);
  await small.close();
  const model = parsed("flat", flat(10000)), html = view("flat", model), page = await open(html), paint = await firstPaint(page);
  const n = await items(page);
  check("10,000 nodes open as a dozen boxes", n >= 8 && n <= 20, n);
  check("10,000 nodes are painted in time", paint < Math.max(FIRST_PAINT_LIMIT, FIRST_PAINT_RATIO * least), `${Math.round(paint)} ms, 100 nodes ${Math.round(least)} ms`);
  console.log(`10,000 nodes: first paint after ${Math.round(paint)} ms (100 nodes ${Math.round(least)} ms), page ${Math.round(fs.statSync(html).size / 1000)} kB`);
  await click(page, "part 3 of 12");
  check("a part opens as parts", (await items(page)) > n);
  await page.keyboard.press("/");
  await page.keyboard.type("v7777");
  await page.waitForSelector(".hits li");
  await page.keyboard.press("Enter");
  check("a node deep inside is found", (await page.$$(".item.sel")).length === 1 && /v7777/.test(await panel(page)));
  check("10,000 nodes: nothing overlaps", (await overlaps(page)).length === 0, (await overlaps(page))[0]);
  await finish(page, "flat-10000");
  const huge = view("huge", parsed("huge", flat(100000))), most = await open(huge);
  check("100,000 nodes open as a dozen boxes", (await items(most)) >= 8 && (await items(most)) <= 20, await items(most));
  await most.keyboard.press("/");
  await most.keyboard.type("v77777");
  await most.waitForSelector(".hits li");
  await most.keyboard.press("Enter");
  check("one of 100,000 nodes is found", /v77777/.test(await panel(most)) && (await most.$$(".item.sel")).length === 1);
  console.log(`100,000 nodes: first paint after ${Math.round(await firstPaint(most))} ms, page ${Math.round(fs.statSync(huge).size / 1000)} kB`);
  await finish(most, "flat-100000");
}

async function overlays() {
  calque("export", "resnet18", "-q", "-o", file("resnet18.onnx"));
  calque("run", file("resnet18.onnx"), "-q", "--profile", file("resnet18.profile.json"));
  let page = await open(view("profile", file("resnet18.onnx"), "--profile", file("resnet18.profile.json")));
  check("a profile shows times", /ms · \d+(\.\d)? %/.test((await page.$$eval(".item .s", (l) => l.map((t) => t.textContent))).join("\n")) && /slowest/i.test(await panel(page)));
  await audit(page, "profile");
  await finish(page, "profile");

  const table = calque("profile", file("resnet18.onnx"), "-q", "--repeat", "2", "--html", file("profiled.html"));
  check("profile prints tables by operator and module", /Conv\+Relu/.test(table) && /layer4$/m.test(table) && /3\.63 GFLOP, [\d.]+ GFLOP\/s/.test(table), table.slice(0, 200));
  const totals = JSON.parse(calque("profile", "models/language.py", "--entry", "Model()", "--input", "int64[2,16]", "--repeat", "2", "--json"));
  check("FLOPs are those of the sizes of the run", totals.flops > 100e6 && totals.flops < 130e6, totals.flops);
  check("the operators of a profile add up", Math.abs(totals.operators.reduce((s, r) => s + r.seconds, 0) / totals.seconds - 1) < 1e-6);
  page = await open(file("profiled.html"));
  check("profile --html shows times", /slowest/i.test(await panel(page)));
  await page.close();

  calque("strip", file("resnet18.onnx"), "-q", "-o", file("stripped.onnx"));
  page = await open(view("stripped", file("stripped.onnx")));
  check("a stripped model has its structure", (await items(page)) >= 8);
  check("findings of one kind are grouped", (await page.$$("aside .note")).length === 1 && /^37 × external-file: the data was stripped/.test(await page.$eval("aside details summary", (e) => e.textContent)));
  await finish(page, "stripped");

  const a = parsed("a", HEADER + "net (float[4] x) => (float[4] y) { a = Relu(x)\n b = Exp(a)\n c = Abs(b)\n y = Neg(c) }");
  const b = parsed("b", HEADER + "net (float[4] x) => (float[4] y) { a = Relu(x)\n b = Exp(a)\n c = Abs(b)\n d = Sqrt(c)\n y = Neg(d) }");
  page = await open(view("diff", a, "--diff", b));
  check("a diff has two graphs", (await page.$$("svg.graph")).length === 2);
  check("a diff marks the node that was added", (await page.$$eval(".item.d1 .t", (l) => l.map((t) => t.textContent))).join() === "Sqrt");
  check("a diff compares common values", /4 common values were compared; the largest deviation is \d*\.\d+/.test(await panel(page)), (await panel(page)).slice(0, 300));
  await audit(page, "diff");
  await finish(page, "diff");

  const branch = (op) => HEADER + `net (bool c, float[4] x) => (float[4] y) { y = If(c) <then_branch = t () => (float[4] p) { q = Relu(x)\n p = ${op}(q) }, else_branch = e () => (float[4] n) { n = Neg(x) }> }`;
  page = await open(view("diff-body", parsed("if-a", branch("Exp")), "--diff", parsed("if-b", branch("Abs"))));
  await page.keyboard.press("o");
  const marked = await page.$$eval(".item[class*=' d']:not(.box) .t, .item.d3.open > .t", (l) => l.map((t) => t.textContent));
  check("a diff marks nodes in bodies", marked.includes("Exp") && marked.includes("Abs") && !marked.includes("Relu") && !marked.includes("Neg"), marked.join());
  await finish(page, "diff-body");

  calque("convert", file("resnet18.onnx"), "-q", "--no-verify", "--to", "float16", "-o", file("half.onnx"));
  page = await open(view("diff-half", file("resnet18.onnx"), "--diff", file("half.onnx")));
  check("a diff of precisions shows deviations", /common values were compared; the largest deviation is (?!0$)/m.test(await panel(page)));
  await page.select("header select", "deviation");
  check("nodes that were not compared have a colour", (await page.$$eval(".item:not(.box):not(.port) > rect.f", (l) => l.map((r) => getComputedStyle(r).fill))).every((fill) => fill !== "rgb(0, 0, 0)"));
  await click(page, "layer2");
  check("a diff opens a module in both graphs", (await page.$$eval(".item.open > .t", (l) => l.map((t) => t.textContent))).join() === "layer2,layer2");
  check("the deviation is shown at the nodes", /Δ \d\.\de-\d/.test((await page.$$eval(".item .s", (l) => l.map((t) => t.textContent))).join("\n")));
  await finish(page, "diff-half");
}

/* --open gives the page to xdg-open, from inside of the sandbox. */
async function opening() {
  const bin = file("bin"), said = file("opened");
  fs.mkdirSync(bin, { recursive: true });
  fs.rmSync(said, { force: true });
  fs.writeFileSync(path.join(bin, "xdg-open"), `#!/bin/sh\necho "$1" >${said}.part && mv ${said}.part ${said}\n`, { mode: 0o755 });
  execFileSync(CALQUE, ["view", file("a.onnx"), "-q", "-o", file("a.html"), "--open"], { env: { ...process.env, PATH: bin + ":" + process.env.PATH } });
  for (let i = 0; i < 100 && !fs.existsSync(said); i++) await new Promise((done) => setTimeout(done, 50));
  check("--open starts the browser", fs.existsSync(said) && fs.readFileSync(said, "utf8").trim() === file("a.html"));
}

/* Sizes that are expressions: commas inside of parentheses, and long ones. */
async function expressions() {
  const page = await open(view("expressions", parsed("expressions", HEADER + 'net (float["min(8,n)",4] x) => (float["min(8,n)",4] y) { a = Relu(x)\n y = Neg(a) }')));
  const shown = await page.$$eval(".l", (l) => l.map((t) => t.textContent));
  check("a size that is an expression stays whole", shown.includes("min(8,n)×4"), shown.join(" "));
  await finish(page, "expressions");
}

async function hostile() {
  const evil = "</script><img src=x onerror=window.hit=1>";
  const model = parsed("hostile", HEADER + `"${evil}" (float[4] "${evil}x") => (float[4] "${evil}y") {\n ["${evil}/a/b"] "${evil}z" = Relu("${evil}x")\n ["${evil}/a/c"] "${evil}y" = Relu("${evil}z")\n}`);
  const page = await open(view("hostile", model));
  await page.keyboard.press("/");
  await page.keyboard.type("onerror");
  await page.keyboard.press("Enter");
  check("names of a file are never markup", (await page.evaluate(() => window.hit)) === undefined && (await page.$$("img")).length === 0 && /onerror/.test(await panel(page)));
  await finish(page, "hostile");
}

for (const test of [classics, panels, keyboard, themes, control, language, reported, checkpoint, quantized, large, overlays, opening, expressions, hostile]) {
  if (process.argv.length > 2 && !process.argv.includes(test.name)) continue;
  try {
    await test();
  } catch (error) {
    check(test.name, false, error.stack);
  }
}
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
