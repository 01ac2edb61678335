// calque against ONNX Runtime in WebAssembly, one thread each, in Node:
//
//     node bench/web.mjs build/npm/calque CACHE MODEL.onnx…
//
// CACHE has ortweb/node_modules/onnxruntime-web. Runs are interleaved; a ratio below 1 means that calque is faster.
// Times are processor times, which do not include waiting for a processor. Inputs are
// float32 of the declared sizes, with 1 for dynamic ones. Outputs are compared too.
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const ROUNDS = 7, SECONDS = 5; // at least
const [folder, cache, ...paths] = process.argv.slice(2);
const calque = await import(pathToFileURL(resolve(folder, "calque.js")));
const ort = createRequire(`${resolve(cache)}/ortweb/`)("onnxruntime-web");
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";

async function signature(bytes) {
  const { inputs } = await calque.info({ "model.onnx": bytes });
  return inputs.map(({ name, dtype, shape }) => ({ name, dtype, dims: shape ? shape.split("x").map((size) => Number(size) || 1) : [] }));
}

async function timed(run) {
  const begin = process.cpuUsage();
  const outputs = await run();
  const { user, system } = process.cpuUsage(begin);
  return { time: (user + system) / 1000, outputs };
}

function difference(a, b) {
  let largest = 0;
  for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs(a[i] - b[i]) / (1 + Math.abs(b[i])));
  return largest;
}

const ratios = [];
for (const path of paths) {
  const bytes = new Uint8Array(await readFile(path));
  const inputs = await signature(bytes.slice());
  const ours = await calque.Session.create(bytes.slice());
  const theirs = await ort.InferenceSession.create(bytes.slice());
  const feeds = {}, ortFeeds = {};
  for (const { name, dtype, dims } of inputs) {
    const count = dims.reduce((product, size) => product * size, 1);
    const data = dtype === "int64" ? new BigInt64Array(count).fill(1n) : Float32Array.from({ length: count }, (_, i) => Math.sin(i));
    feeds[name] = new calque.Tensor(dtype, data, dims);
    ortFeeds[name] = new ort.Tensor(dtype, data, dims);
  }
  const best = [Infinity, Infinity];
  let got, want;
  for (let i = 0, end = performance.now() + 1000 * SECONDS; i < ROUNDS || performance.now() < end; i++) {
    const [a, b] = [await timed(() => ours.run(feeds)), await timed(() => theirs.run(ortFeeds))];
    best[0] = Math.min(best[0], a.time);
    best[1] = Math.min(best[1], b.time);
    [got, want] = [a.outputs, b.outputs];
  }
  const name = ours.outputNames[0], ratio = best[0] / best[1];
  ratios.push(ratio);
  console.log(`${basename(path, ".onnx").padEnd(20)} calque ${best[0].toFixed(1)} ms  ONNX Runtime ${best[1].toFixed(1)} ms  ` +
              `ratio ${ratio.toFixed(2)}  difference ${difference(got[name].data, want[name].data).toExponential(1)}`);
  ours.release();
  await theirs.release();
}
console.log(`geometric mean ${Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length).toFixed(2)}`);
process.exit(0);
