// The page: picks files, shows what they are, fills in the form, and runs commands in the worker.
const LIMIT = 1.5e9; // bytes: a file, its copy in WebAssembly and the result have to fit in memory
const VERBS = [
  ["export", "Export to ONNX"], ["view", "View"], ["check", "Check"], ["optimize", "Optimize"], ["convert", "Convert"],
  ["quantize", "Quantize"], ["diff", "Compare"], ["audit", "Audit"],
];
const WRITES = { export: ".onnx", optimize: ".optimized.onnx", convert: ".converted.onnx", quantize: ".quantized.onnx" };
const $ = (id) => document.getElementById(id);

// ---- the worker ----

const worker = new Worker("worker.js", { type: "module" });
const waiting = new Map();
let lastId = 0;

worker.onmessage = ({ data: { id, progress, done } }) => {
  if (progress) return waiting.get(id)?.onProgress?.(progress);
  waiting.get(id)?.resolve(done);
  waiting.delete(id);
};
worker.onerror = () => showError("error: the WebAssembly module cannot be loaded\n  hint: use a newer browser");

function run(words, files = {}, onProgress) {
  return new Promise((resolve) => {
    waiting.set(++lastId, { resolve, onProgress });
    worker.postMessage({ id: lastId, words, files });
  });
}

// ---- the model ----

let files = {}; // by name; the model first
let model = "";
let knownVerbs = new Set();
const isSource = () => model.endsWith(".py");
const isOnnx = () => /\.(onnx|onnxtxt)$/.test(model);

/** The model among several files: source before archives, the rest is weights. */
function pickModel(names) {
  const rank = (name) => (/\.py$/.test(name) ? 0 : /\.(pt2|onnx)$/.test(name) ? 1 : /\.safetensors$/.test(name) ? 3 : 2);
  return [...names].sort((a, b) => rank(a) - rank(b))[0];
}

async function open(list) {
  const large = list.find((file) => file.size > LIMIT);
  if (!list.length) return;
  clearResult();
  $("model").hidden = true;
  if (large) {
    showError(`error: ${large.name} has ${(large.size / 1e9).toFixed(2)} GB; this page handles files up to ` +
              `${LIMIT / 1e9} GB\n  hint: use the command line, which has no limit`);
    return;
  }
  files = Object.fromEntries(list.map((file) => [file.name, file]));
  model = pickModel(Object.keys(files));
  $("result").classList.add("used");
  $("state").textContent = `Reading ${model}…`;
  const [text, json] = [await run(["info", model], files), await run(["info", "--json", model], files)];
  clearResult();
  if (text.status !== 0 && !isSource()) {
    showError(text.stderr);
    return;
  }
  const info = json.status === 0 ? JSON.parse(json.stdout) : {};
  $("name").textContent = model;
  $("contents").textContent = text.stdout || text.stderr;
  $("facts").replaceChildren(...describe(info));
  fillForm(info);
  $("model").hidden = false;
  $("name").focus();
}

function element(tag, ...children) {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
}

const shown = (key, value) => (typeof value !== "number" ? String(value) : key !== "weights" ? value.toLocaleString("en")
  : value < 1e6 ? `${(value / 1e3).toFixed(1)} kB` : `${(value / 1e6).toFixed(1)} MB`);

/** What a file is, from `calque info --json`: facts, then inputs and outputs. */
function describe(info) {
  const facts = Object.entries(info.model ?? {}).filter(([, value]) => value !== null && value !== "" && typeof value !== "object");
  const parts = [element("dl", ...facts.map(([key, value]) => element("div", element("dt", key), element("dd", shown(key, value)))))];
  const rows = ["inputs", "outputs"].flatMap((kind) => (Array.isArray(info[kind]) ? info[kind] : []).slice(0, 8)
    .map(({ name, dtype, shape }) => [kind.slice(0, -1), name || "", dtype ? `${dtype} ${shape}` : ""]));
  if (!rows.length) return parts;
  const cells = (row) => [Object.assign(element("th", row[0]), { scope: "row" }), element("td", row[1]), element("td", element("code", row[2]))];
  return [...parts, element("table", element("tbody", ...rows.map((row) => element("tr", ...cells(row)))))];
}

/** The example inputs that the signature asks for, as `calque info` suggests them. */
function suggestedInputs(info) {
  const method = info.methods?.find((one) => one["to begin with"]);
  return (method?.["to begin with"] ?? "").split(/\s*--input\s+/).filter(Boolean).map((text) => text.replace(/^'|'$/g, ""));
}

function fillForm(info) {
  $("inputs").value = suggestedInputs(info).join("\n");
  $("inputs").placeholder = info.inputs?.length ? "not needed: the file has them" : "batchx3x224x224";
  $("entry").value = "";
  $("opset").value = $("more").value = "";
  const others = Object.keys(files).filter((name) => name !== model);
  $("weights").replaceChildren(...["", ...others].map((name) => new Option(name || "none: random weights", name)));
  if (others.length) $("weights").value = others[0];
  const possible = VERBS.filter(([verb]) => knownVerbs.has(verb) &&
    (verb === "export" ? !isOnnx() : ["audit", "view"].includes(verb) || isOnnx()));
  $("verbs").replaceChildren(...possible.map(([verb, label], i) => {
    const item = document.createElement("label"), radio = document.createElement("input");
    Object.assign(radio, { type: "radio", name: "verb", value: verb, checked: i === 0 });
    item.append(radio, ` ${label}`);
    return item;
  }));
  showFields();
}

const chosenVerb = () => document.querySelector("input[name=verb]:checked")?.value ?? "export";

function showFields() {
  const verb = chosenVerb();
  for (const part of document.querySelectorAll("[data-for]")) {
    const names = part.dataset.for.split(" ");
    part.hidden = !names.includes(verb) || (names.includes("source") && !isSource()) || (part.dataset.unless === "onnx" && isOnnx());
  }
  $("more").placeholder = EXAMPLES[verb] ?? "";
}

// ---- commands ----

function exportWords(verb) {
  const inputs = $("inputs").value.split("\n").map((line) => line.trim()).filter(Boolean);
  const words = inputs.flatMap((line) => ["--input", line]);
  if (verb === "export" && $("verify").checked) words.push("--verify");
  if (isSource() && $("entry").value.trim()) words.push("--entry", $("entry").value.trim());
  if (isSource() && $("weights").value) words.push("--weights", $("weights").value);
  return words;
}

const EXAMPLES = {
  export: "--output-names scores --operator-export-type onnx_fallthrough", view: "--input batchx3x224x224", check: "--json",
  optimize: "--for onnxruntime", convert: "--inputs x=batchx3x224x224", quantize: "--bits 4 --block 32", audit: "--json",
};

/** The words of a line as a shell splits them: quotes keep blanks. */
const splitWords = (line) => [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"));

function command(verb) {
  const out = model.replace(/\.[^.]*$/, "") + (WRITES[verb] ?? "");
  const words = [verb, model], given = { ...files };
  if (!isOnnx() && ["export", "view"].includes(verb)) words.push(...exportWords(verb));
  if (!$("more").closest("[data-for]").hidden) words.push(...splitWords($("more").value));
  if (verb === "view") return { words: [...words, "-o", "view.html"], given, out: "view.html" };
  if (["export", "convert"].includes(verb) && $("opset").value) words.push("--opset", $("opset").value);
  if (verb === "convert" && $("to").value) words.push("--to", $("to").value);
  if (verb === "quantize") words.push("--mode", $("mode").value);
  if (verb === "check" && $("full").checked) words.push("--full");
  if (verb === "diff" && $("other").files[0]) {
    given["other.onnx"] = $("other").files[0];
    words.push("other.onnx");
  }
  if (WRITES[verb]) words.push("-o", out);
  return { words, given, out };
}

const VERDICTS = {
  check: (done) => (done.status === 0 ? "The model is valid." : ""),
  diff: (done) => (done.status === 0 ? "The models are the same." : ""),
  audit: () => "",
};

async function start(event) {
  event.preventDefault();
  const verb = chosenVerb(), { words, given, out } = command(verb);
  clearResult();
  $("result").classList.add("used");
  $("start").disabled = true;
  $("state").textContent = "Working…";
  $("progress").hidden = false;
  $("progress").removeAttribute("value");
  const done = await run(words, given, ({ what, done: bytes, total }) => {
    $("state").textContent = total ? `Working: ${what}, ${Math.floor((100 * bytes) / total)} %` : `Working: ${what}`;
    if (total) Object.assign($("progress"), { max: total, value: bytes });
  });
  $("start").disabled = false;
  $("progress").hidden = true;
  showResult(verb, done, out);
}

function showResult(verb, done, out) {
  const failed = done.stderr.startsWith("error: ") || (WRITES[verb] && done.status !== 0);
  $("output").textContent = done.stdout;
  if (failed) {
    $("state").textContent = "";
    showError(done.stderr);
    return;
  }
  $("state").textContent = VERDICTS[verb]?.(done) || done.stderr.trim() || (done.stdout ? "Done." : "");
  $("state").classList.toggle("good", done.status === 0);
  for (const [name, data] of Object.entries(done.files)) offer(name, data);
  if (verb === "view" && done.files[out]) {
    $("view").src = URL.createObjectURL(new Blob([done.files[out]], { type: "text/html" }));
    $("view").hidden = false;
    document.body.classList.add("viewing");
    $("view").scrollIntoView({ block: "nearest" });
  }
}

function offer(name, data) {
  const link = document.createElement("a");
  link.className = "button";
  link.href = URL.createObjectURL(new Blob([data], { type: "application/octet-stream" }));
  link.download = name;
  link.textContent = `Download ${name} (${data.length.toLocaleString("en")} bytes)`;
  $("download").append(link);
  if (!name.endsWith(".onnx")) return;
  const next = element("button", `Open ${name} here`);
  next.type = "button";
  next.addEventListener("click", () => open([new File([data], name)]));
  $("download").append(next);
}

function clearResult() {
  for (const link of $("download").querySelectorAll("a")) URL.revokeObjectURL(link.href);
  for (const id of ["state", "output", "error", "download"]) $(id).replaceChildren();
  $("state").classList.remove("good");
  $("result").classList.remove("used");
  document.body.classList.remove("viewing");
  $("view").hidden = true;
  $("view").removeAttribute("src");
}

function showError(text) {
  $("result").classList.add("used");
  $("error").textContent = text.trimEnd();
}

// ---- start ----

async function openExample(name) {
  const response = await fetch(`examples/${name}`);
  await open([new File([await response.arrayBuffer()], name)]);
}

$("files").addEventListener("change", () => open([...$("files").files]));
$("examples").addEventListener("click", ({ target }) => target.closest("[data-example]") && openExample(target.closest("[data-example]").dataset.example));
$("verbs").addEventListener("change", showFields);
$("form").addEventListener("submit", start);
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  $("drop").classList.add("over");
});
document.addEventListener("dragleave", () => $("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  open([...event.dataTransfer.files]);
});
if ("serviceWorker" in navigator) navigator.serviceWorker.register("service-worker.js");
const [help, version] = [await run(["--help"]), await run(["--version"])];
knownVerbs = new Set(VERBS.map(([verb]) => verb).filter((verb) => new RegExp(`^\\s+${verb}\\b`, "m").test(help.stdout)));
$("version").textContent = version.stdout.trim();
document.documentElement.dataset.ready = "true";
