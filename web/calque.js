// calque as a JavaScript module, for Node, bundlers and browsers. Every function runs a command of the command line in
// an instance of its own, on files in memory: results and messages are those of the command line.
import { Text, instantiate } from "./module.js";

export { Session, Tensor } from "./session.js";

const FOLDER = "/work";

/** A command failed. message, where, hint and excerpt are what the command line prints. */
export class CalqueError extends Error {
  constructor(status, stderr) {
    const lines = stderr.trimEnd().split("\n");
    const first = Math.max(lines.findIndex((line) => line.startsWith("error: ")), 0);
    super(lines[first].replace(/^error: /, "") || `calque failed with status ${status}`);
    this.name = "CalqueError";
    this.status = status;
    this.details = lines.slice(first).join("\n");
    this.hint = lines.find((line) => line.startsWith("  hint: "))?.slice(8) ?? "";
  }
}

function writeFiles(FS, files) {
  FS.mkdir(FOLDER);
  FS.chdir(FOLDER);
  for (const [name, data] of Object.entries(files)) {
    const parts = name.split("/").filter((part) => part && part !== "." && part !== "..");
    if (!parts.length) throw new TypeError(`invalid file name '${name}'`);
    const path = `${FOLDER}/${parts.join("/")}`;
    FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    FS.writeFile(path, typeof data === "string" ? new TextEncoder().encode(data) : bytesOf(data), { canOwn: true });
  }
}

function bytesOf(data) {
  if (data instanceof Uint8Array) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw new TypeError("expected a Uint8Array or an ArrayBuffer");
}

/** All files below the working folder, by name. */
function readFiles(FS, folder, into, given) {
  for (const name of FS.readdir(folder)) {
    if (name === "." || name === "..") continue;
    const path = `${folder}/${name}`;
    const key = path.slice(FOLDER.length + 1);
    if (FS.isDir(FS.stat(path).mode)) readFiles(FS, path, into, given);
    else if (!Object.hasOwn(given, key)) into[key] = FS.readFile(path);
  }
  return into;
}

function follow(module, onProgress) {
  const handler = module.addFunction((user, what, done, total) => {
    if (what) onProgress({ what: module.UTF8ToString(what), done: Number(done), total: Number(total) });
  }, "viijj");
  module._cq_set_progress_handler(handler, 0);
}

/**
 * Runs a command line: run(["check", "model.onnx"], { files: { "model.onnx": bytes } }). Resolves to the exit status,
 * both outputs, and the files that the command wrote.
 */
export async function run(words, { files = {}, onProgress } = {}) {
  const stdout = new Text(), stderr = new Text();
  const module = await instantiate((byte) => stdout.push(byte), (byte) => stderr.push(byte));
  writeFiles(module.FS, files);
  if (onProgress) follow(module, onProgress);
  let status = 1;
  try {
    status = module.callMain(words.map(String)) ?? 0;
  } catch (error) {
    if (error?.name !== "ExitStatus") {
      const memory = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
      const text = memory ? "error: the model needs more memory or a deeper stack than WebAssembly has\n" +
                            "  hint: use the command line\n" : `error: ${error?.message ?? error}\n`;
      return { status: 1, stdout: `${stdout}`, stderr: `${stderr}${text}`, files: {} };
    }
    status = error.status;
  }
  return { status, stdout: `${stdout}`, stderr: `${stderr}`, files: readFiles(module.FS, FOLDER, {}, files) };
}

// ---- options ----

const toOption = (name) => "--" + name.replace(/[A-Z]/g, (letter) => "-" + letter.toLowerCase());

/** { opset: 18, inputs: ["1x3"], verify: true } as words of the command line. Lists repeat the option. */
function words(options, special = {}) {
  const found = [];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    const option = special[name] ?? toOption(name);
    for (const one of Array.isArray(value) ? value : [value]) {
      found.push(option);
      if (one !== true) found.push(typeof one === "object" ? JSON.stringify(one) : String(one));
    }
  }
  return found;
}

const isBytes = (value) => value instanceof ArrayBuffer || ArrayBuffer.isView(value);

/** A model is bytes, or files by name, the model first; or the name of a built-in model. */
function takeModel(model, name) {
  if (typeof model === "string") return { path: model, files: {} };
  if (isBytes(model)) return { path: name, files: { [name]: bytesOf(model) } };
  const names = Object.keys(model ?? {});
  if (!names.length) throw new TypeError("expected the bytes of a model, or files by name");
  return { path: names[0], files: { ...model } };
}

async function succeed(line, options) {
  const done = await run(line, options);
  if (done.status !== 0) throw new CalqueError(done.status, done.stderr);
  return done;
}

const common = ({ files, onProgress, ...options }) => ({ files: files ?? {}, onProgress, options });

async function transform(verb, model, given, special) {
  const { path, files } = takeModel(model, "model.onnx");
  const { files: more, onProgress, options } = common(given);
  const done = await succeed([verb, path, "-o", "out.onnx", ...words(options, special)],
                             { files: { ...files, ...more }, onProgress });
  const { "out.onnx": result, ...others } = done.files;
  return { model: result, files: others, message: done.stderr.trim() };
}

// ---- verbs ----

/** Exports a model to ONNX: a .pt2, a TorchScript archive, { "net.py": source }, or the name of a built-in model. */
export async function exportModel(model, given = {}) {
  const { path, files } = takeModel(model, "model.pt");
  const { files: more, onProgress, options } = common(given);
  const { weights, ...rest } = options;
  const all = { ...files, ...more };
  if (isBytes(weights)) {
    all["weights.bin"] = bytesOf(weights);
    rest.weights = "weights.bin";
  } else if (weights !== undefined) rest.weights = weights;
  const done = await succeed(["export", path, "-o", "out.onnx", ...words(rest, { inputs: "--input" })],
                             { files: all, onProgress });
  const { "out.onnx": result, ...others } = done.files;
  return { model: result, files: others, message: done.stderr.trim() };
}

/** Every violation of the rules of ONNX. */
export async function check(model, given = {}) {
  const { path, files } = takeModel(model, "model.onnx");
  const { files: more, options } = common(given);
  const done = await run(["check", "--json", path, ...words(options)], { files: { ...files, ...more } });
  let findings;
  try {
    findings = JSON.parse(done.stdout);
  } catch {
    throw new CalqueError(done.status, done.stderr);
  }
  return { ok: done.status === 0, findings };
}

export const optimize = (model, options = {}) => transform("optimize", model, options);
export const convert = (model, options = {}) => transform("convert", model, options);

/** The contents of any file that calque reads. */
export async function info(model, given = {}) {
  const { path, files } = takeModel(model, "model");
  const { files: more, options } = common(given);
  const done = await succeed(["info", "--json", path, ...words(options)], { files: { ...files, ...more } });
  return JSON.parse(done.stdout);
}

/** What differs between two ONNX models. */
export async function diff(a, b, given = {}) {
  const { files: more, options } = common(given);
  const done = await run(["diff", "--json", "a.onnx", "b.onnx", ...words(options)],
                         { files: { ...more, "a.onnx": bytesOf(a), "b.onnx": bytesOf(b) } });
  if (done.stderr.startsWith("error: ")) throw new CalqueError(done.status, done.stderr);
  return JSON.parse(done.stdout || "[]");
}

/** What an untrusted file contains. */
export async function audit(model, given = {}) {
  const { path, files } = takeModel(model, "model");
  const { files: more, options } = common(given);
  const done = await run(["audit", "--json", path, ...words(options)], { files: { ...files, ...more } });
  try {
    return JSON.parse(done.stdout)[0];
  } catch {
    throw new CalqueError(done.status, done.stderr);
  }
}
