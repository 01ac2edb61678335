// The functions of the npm package: node functions.mjs DATA, where DATA is tests/data. Prints a line for each failure
// and the sum.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { CalqueError, Session, Tensor, audit, check, convert, diff, exportModel, info, optimize } from "calque";

const SOURCE = `import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, n: int = 2):
        super().__init__()
        self.layer = nn.Linear(3, n)

    def forward(self, x):
        return self.layer(x) * 0 + 1
`;
const program = new Uint8Array(await readFile(`${process.argv[2]}/pt2/any_length.214.pt2`));
const copy = (bytes) => new Uint8Array(bytes);
const net = () => exportModel({ "net.py": SOURCE }, { entry: "Net(4)", inputs: ["batchx3"], inputNames: "x", outputNames: "y" });

const tests = {
  async "exportModel verifies"() {
    const { model, message } = await exportModel(copy(program), { verify: true, opset: 18 });
    assert.match(message, /6 outputs verified/);
    assert.deepEqual(await check(model, { full: true }), { ok: true, findings: [] });
  },
  async "exportModel reads source"() {
    assert.equal((await info((await net()).model)).model.format, "ONNX model");
  },
  async "onProgress is called for large weights"() {
    const seen = [];
    await exportModel("alexnet", { onProgress: ({ done, total }) => seen.push(done <= total) });
    assert.ok(seen.length > 0 && seen.every(Boolean));
  },
  async "a failure has message, hint and details"() {
    await assert.rejects(exportModel(new Uint8Array([1, 2, 3])), (error) => {
      assert.ok(error instanceof CalqueError);
      assert.match(error.message, /not a zip archive/);
      assert.match(error.hint, /damaged/);
      assert.match(error.details, /model\.pt/);
      return true;
    });
  },
  async "check lists violations"() {
    const { ok, findings } = await check(new Uint8Array([255, 255]));
    assert.ok(!ok && findings.length === 1 && findings[0].code && findings[0].what);
  },
  async "optimize and convert"() {
    const { model } = await net();
    const small = await optimize(copy(model));
    assert.ok(small.model.length <= model.length);
    const { model: other } = await convert(copy(model), { opset: 13 });
    assert.notDeepEqual(await diff(copy(model), copy(other)), []);
    assert.deepEqual(await diff(copy(model), copy(model)), []);
  },
  async "audit"() {
    assert.equal((await audit(copy(program))).verdict, "safe");
  },
  async "Session runs"() {
    const session = await Session.create((await net()).model);
    assert.deepEqual([session.inputNames, session.outputNames], [["x"], ["y"]]);
    for (const rows of [1, 2, 5]) {
      const { y } = await session.run({ x: new Tensor("float32", new Array(3 * rows).fill(2), [rows, 3]) });
      assert.deepEqual(y, new Tensor("float32", new Array(4 * rows).fill(1), [rows, 4]));
    }
    await assert.rejects(session.run({ z: new Tensor("float32", [1]) }), /unknown input 'z'/);
    await assert.rejects(session.run({ x: new Tensor("float32", [1, 2], [1, 2]) }), { name: "CalqueError" });
    session.release();
    await assert.rejects(session.run({}), /released/);
  },
  async "Tensor checks its sizes"() {
    assert.throws(() => new Tensor("float32", [1, 2], [3]), /need 3 elements, got 2/);
    assert.throws(() => new Tensor("text", []), /unknown element type 'text'/);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}: ${error.stack ?? error.message}`);
  }
}
console.log(JSON.stringify({ passed: Object.keys(tests).length - failed, failed }));
