/** calque: PyTorch models to ONNX, in WebAssembly. */

export type Bytes = Uint8Array | ArrayBuffer;
/** The bytes of a model; files by name, the model first; or the name of a built-in model. */
export type Model = Bytes | Record<string, Bytes | string> | string;

export interface Progress {
  what: string;
  done: number;
  total: number;
}

export interface Common {
  /** Further files that the model refers to, such as external data, by name. */
  files?: Record<string, Bytes | string>;
  onProgress?: (progress: Progress) => void;
}

/** Other options of the command line are accepted in camel case: { keepInitializersAsInputs: true }. */
export interface Options extends Common {
  [option: string]: unknown;
}

export interface ExportOptions extends Options {
  /** Example inputs: "1x3x224x224", "batchx3x224x224", "int64[2,3]=zeros". */
  inputs?: string[];
  opset?: number | "latest";
  inputNames?: string;
  outputNames?: string;
  dynamicAxes?: Record<string, Record<string, string> | number[]>;
  /** Runs the model and its export, and compares. */
  verify?: boolean;
  /** A state dict, checkpoint or safetensors file, or the name of one of the files. */
  weights?: Bytes | string;
  /** Python source: the expression that builds the model, "Net(num_classes=10)". */
  entry?: string;
}

export interface ConvertOptions extends Options {
  opset?: number;
  to?: "float16" | "bfloat16" | "float32";
  inputs?: string[];
  rename?: string[];
  verify?: boolean;
}

export interface Written {
  model: Uint8Array;
  /** Other files that were written, such as external data. */
  files: Record<string, Uint8Array>;
  /** The line that the command line prints: size, nodes, verdict. */
  message: string;
}

export interface Finding {
  file: string;
  code: string;
  where: string;
  what: string;
  hint: string;
  severity: string;
}

export interface Difference {
  code: string;
  where: string;
  what: string;
}

export interface Audit {
  file: string;
  format: string;
  verdict: "safe" | "unknown" | "hostile";
  findings: object[];
}

export class CalqueError extends Error {
  /** The exit status of the command, or the status of the C API. */
  status: number;
  hint: string;
  /** All lines of the error, with the location and the source line. */
  details: string;
}

export function exportModel(model: Model, options?: ExportOptions): Promise<Written>;
export function check(model: Model, options?: Options): Promise<{ ok: boolean; findings: Finding[] }>;
export function optimize(model: Model, options?: Options): Promise<Written>;
export function convert(model: Model, options?: ConvertOptions): Promise<Written>;
export function info(model: Model, options?: Options): Promise<Record<string, unknown>>;
export function diff(a: Bytes, b: Bytes, options?: Options): Promise<Difference[]>;
export function audit(model: Model, options?: Options): Promise<Audit>;

/** Runs a command line on files in memory. */
export function run(
  words: (string | number)[],
  options?: Common,
): Promise<{ status: number; stdout: string; stderr: string; files: Record<string, Uint8Array> }>;

export type Type =
  | "bool" | "uint8" | "int8" | "int16" | "int32" | "int64" | "float16" | "bfloat16" | "float32" | "float64"
  | "uint16" | "uint32" | "uint64";
export type Data =
  | Uint8Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint16Array | Float32Array | Float64Array
  | Uint32Array | BigUint64Array;

export class Tensor {
  constructor(type: Type, data: Data | number[] | bigint[], dims?: number[]);
  readonly type: Type;
  readonly data: Data;
  readonly dims: number[];
}

export class Session {
  static create(model: Bytes, options?: { files?: Record<string, Uint8Array> }): Promise<Session>;
  readonly inputNames: string[];
  readonly outputNames: string[];
  run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>>;
  release(): void;
}
