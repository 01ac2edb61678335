// Simplifies ONNX models with onnxsim, one after the other: reads lines "IN OUT" (tab between) and
// writes "ok SECONDS" or "error MESSAGE" for each. ONNXSIM is the folder of the package.
import { readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { simplify } = await import(pathToFileURL(process.env.ONNXSIM + "/index.mjs"));
console.log = () => {}; // it prints a summary of operators

for await (const line of createInterface({ input: process.stdin })) {
  const [from, to] = line.split("\t");
  const begin = process.hrtime.bigint();
  try {
    const { model } = await simplify(await readFile(from));
    await writeFile(to, model);
    process.stdout.write(`ok ${Number(process.hrtime.bigint() - begin) * 1e-9}\n`);
  } catch (error) {
    process.stdout.write(`error ${String(error.message || error).replaceAll("\n", " ").slice(0, 200)}\n`);
  }
}
