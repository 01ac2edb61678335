// Instances of the WebAssembly module. In Node the module is read from disk, elsewhere it is fetched. It is compiled
// once; each instance has its own memory and files.
import createCalque from "./calque.mjs";

let compiled = null;

async function compile() {
  const url = new URL("./calque.wasm", import.meta.url);
  if (url.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`cannot load ${url.pathname}: status ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** A new instance. stdout and stderr are called with each byte that it writes. */
export async function instantiate(stdout, stderr) {
  compiled ??= compile();
  compiled.catch(() => (compiled = null)); // the next call tries again
  const wasm = await compiled;
  return createCalque({
    thisProgram: "calque",
    instantiateWasm(imports, receive) {
      WebAssembly.instantiate(wasm, imports).then((instance) => receive(instance, wasm));
      return {};
    },
    preRun: [(module) => module.FS.init(() => null, stdout, stderr)],
  });
}

/** Collects bytes and decodes them as UTF-8. */
export class Text {
  #bytes = new Uint8Array(256);
  #size = 0;

  push(byte) {
    if (byte === null) return;
    if (this.#size === this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#size);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#size++] = byte;
  }

  toString() {
    return new TextDecoder().decode(this.#bytes.subarray(0, this.#size));
  }
}
