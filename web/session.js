// Running ONNX models: a prepared session in an instance of its own, over the C API.
import { Text, instantiate } from "./module.js";

// Element types by their number in <calque/tensor.h>. float16 and bfloat16 are bits in a Uint16Array.
const TYPES = [
  ["bool", 1, Uint8Array], ["uint8", 2, Uint8Array], ["int8", 3, Int8Array], ["int16", 4, Int16Array],
  ["int32", 5, Int32Array], ["int64", 6, BigInt64Array], ["float16", 7, Uint16Array], ["bfloat16", 8, Uint16Array],
  ["float32", 9, Float32Array], ["float64", 10, Float64Array], ["uint16", 13, Uint16Array],
  ["uint32", 14, Uint32Array], ["uint64", 15, BigUint64Array],
];
const byName = new Map(TYPES.map(([name, number, array]) => [name, { number, array }]));
const byNumber = new Map(TYPES.map(([name, number, array]) => [number, { name, array }]));

/** A tensor: its element type, its elements in row-major order, and its sizes. */
export class Tensor {
  constructor(type, data, dims) {
    const known = byName.get(type);
    if (!known) throw new TypeError(`unknown element type '${type}'; expected one of ${[...byName.keys()].join(", ")}`);
    this.type = type;
    this.data = data instanceof known.array ? data : known.array.from(data);
    this.dims = dims ? [...dims] : [this.data.length];
    const count = this.dims.reduce((product, size) => product * size, 1);
    if (count !== this.data.length)
      throw new RangeError(`sizes ${this.dims.join("x")} need ${count} elements, got ${this.data.length}`);
  }
}

/** A model that is ready to run. Call release() when it is no longer needed. */
export class Session {
  #module;
  #handle;

  constructor(module, handle) {
    this.#module = module;
    this.#handle = handle;
    const names = (count, name) => Array.from({ length: count }, (_, i) => module.UTF8ToString(name(handle, i)));
    this.inputNames = names(module._cq_session_n_inputs(handle), module._cq_session_input_name);
    this.outputNames = names(module._cq_session_n_outputs(handle), module._cq_session_output_name);
  }

  /** Prepares an ONNX model; files are its external data, by name. */
  static async create(model, { files = {} } = {}) {
    const unused = new Text();
    const module = await instantiate((byte) => unused.push(byte), (byte) => unused.push(byte));
    const bytes = model instanceof ArrayBuffer ? new Uint8Array(model) : model;
    for (const [name, data] of Object.entries({ ...files, "model.onnx": bytes }))
      module.FS.writeFile(`/${name}`, data, { canOwn: true });
    const path = allocateText(module, "/model.onnx"), out = module._malloc(4);
    const status = module._cq_session_prepare_file(out, path, 0);
    const handle = pointerAt(module, out);
    module._free(path);
    module._free(out);
    if (status) throw lastError(module);
    return new Session(module, handle);
  }

  /** Runs the model: tensors by input name to tensors by output name. */
  async run(feeds) {
    const module = this.#module;
    if (!this.#handle) throw new Error("the session was released");
    const unknown = Object.keys(feeds).find((name) => !this.inputNames.includes(name));
    if (unknown !== undefined)
      throw new TypeError(`unknown input '${unknown}'; expected ${this.inputNames.join(", ")}`);
    const n = this.inputNames.length, m = this.outputNames.length;
    const inputs = module._malloc(4 * Math.max(n, 1)), outputs = module._malloc(4 * Math.max(m, 1));
    const made = [];
    try {
      this.inputNames.forEach((name, i) => {
        const tensor = feeds[name] ? makeTensor(module, feeds[name]) : 0;
        if (tensor) made.push(tensor);
        view(module).setUint32(inputs + 4 * i, tensor, true);
      });
      for (let i = 0; i < m; i++) view(module).setUint32(outputs + 4 * i, 0, true);
      if (module._cq_session_run_tensors(this.#handle, inputs, n, outputs, m)) throw lastError(module);
      return Object.fromEntries(this.outputNames.map((name, i) =>
        [name, takeTensor(module, pointerAt(module, outputs + 4 * i))]));
    } finally {
      made.forEach((tensor) => module._cq_tensor_release(tensor));
      module._free(inputs);
      module._free(outputs);
    }
  }

  release() {
    if (this.#handle) this.#module._cq_session_free(this.#handle);
    this.#handle = 0;
    this.#module = null;
  }
}

// ---- memory of the instance; its buffer changes when it grows ----

const view = (module) => new DataView(module.HEAPU8.buffer);
const pointerAt = (module, address) => view(module).getUint32(address, true);

function allocateText(module, text) {
  const bytes = new TextEncoder().encode(text + "\0");
  const address = module._malloc(bytes.length);
  module.HEAPU8.set(bytes, address);
  return address;
}

/** The tensor owns the only copy of the data in the instance's memory. */
function makeTensor(module, tensor) {
  const { number } = byName.get(tensor.type);
  const data = new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
  const bytes = module._malloc(Math.max(data.length, 1));
  if (!bytes) throw new RangeError(`out of memory: the input has ${data.length} bytes`);
  const out = module._malloc(4), sizes = module._malloc(8 * Math.max(tensor.dims.length, 1));
  tensor.dims.forEach((size, i) => view(module).setBigInt64(sizes + 8 * i, BigInt(size), true));
  module.HEAPU8.set(data, bytes);
  module.calqueFree ??= module.addFunction(module._free, "vi");
  const status = module._cq_tensor_wrap(out, number, tensor.dims.length, sizes, bytes, module.calqueFree, bytes);
  const made = pointerAt(module, out);
  [out, sizes].forEach((address) => module._free(address));
  if (status) {
    module._free(bytes);
    throw lastError(module);
  }
  return made;
}

function takeTensor(module, tensor) {
  const out = module._malloc(4);
  const status = module._cq_tensor_contiguous(out, tensor);
  const plain = pointerAt(module, out);
  module._free(out);
  module._cq_tensor_release(tensor);
  if (status) throw lastError(module);
  const type = byNumber.get(module._cq_tensor_dtype(plain));
  const dims = Array.from({ length: module._cq_tensor_rank(plain) }, (_, i) => Number(module._cq_tensor_size(plain, i)));
  const count = Number(module._cq_tensor_numel(plain));
  if (!type) {
    module._cq_tensor_release(plain);
    throw new TypeError("the output's element type has no JavaScript array");
  }
  const begin = module._cq_tensor_data(plain);
  const data = new type.array(module.HEAPU8.slice(begin, begin + count * type.array.BYTES_PER_ELEMENT).buffer);
  module._cq_tensor_release(plain);
  return new Tensor(type.name, data, dims);
}

function lastError(module) {
  const record = module._cq_last_error();
  const text = (index) => module.UTF8ToString(pointerAt(module, record + 4 * index));
  const error = new Error([text(2), text(1)].filter(Boolean).join(": "));
  return Object.assign(error, { name: "CalqueError", status: pointerAt(module, record), where: text(2), hint: text(3) });
}
