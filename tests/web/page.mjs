// The page in Chromium: node page.mjs PAGE_FOLDER CHROMIUM CACHE DATA OUT. Prints a line for each failure and the sum.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { mkdir, readFile, rm } from "node:fs/promises";

const [folder, chromium, cache, data, out] = process.argv.slice(2);
const require = createRequire(`${cache}/browser/`);
const puppeteer = require("puppeteer-core");
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
const TYPES = { html: "text/html", js: "text/javascript", mjs: "text/javascript", css: "text/css", wasm: "application/wasm" };

const server = createServer(async (request, response) => {
  const path = new URL(request.url, "http://localhost").pathname.replace(/\/$/, "/index.html");
  try {
    const body = await readFile(folder + path);
    response.writeHead(200, { "content-type": TYPES[path.split(".").pop()] ?? "application/octet-stream" }).end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}/`;

const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"], protocolTimeout: 300000 });
const downloads = `${data}/downloads`;
await (await browser.target().createCDPSession())
  .send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: downloads });
const page = await browser.newPage();
page.setDefaultTimeout(180000);
const problems = [];
page.on("pageerror", (error) => problems.push(error.message));
page.on("console", (message) => message.type() === "error" && problems.push(message.text()));

const text = (id) => page.$eval(`#${id}`, (node) => node.textContent);
const ready = () => page.waitForSelector("html[data-ready=true]");
const pick = async (...paths) => (await page.$("#files")).uploadFile(...paths);
const fill = (id, value) => page.$eval(`#${id}`, (node, text) => (node.value = text), value);
const choose = (verb) => page.click(`input[value=${verb}]`);
const hasText = (id) => page.waitForFunction((name) => document.getElementById(name).textContent.trim() !== "", {}, id);

/** Submits the form and waits for the end. */
async function start() {
  await page.click("#start");
  await page.waitForFunction(() => !document.getElementById("start").disabled &&
    (document.getElementById("state").textContent + document.getElementById("error").textContent).trim() !== "");
}

/** Follows a download link, as a user does, and reads the file. */
async function download(name) {
  await rm(`${downloads}/${name}`, { force: true });
  const link = await page.waitForSelector(`#download a[download="${name}"]`, { timeout: 5000 });
  await link.click();
  for (let i = 0; i < 200; i++) {
    const bytes = await readFile(`${downloads}/${name}`).catch(() => null);
    if (bytes) return bytes; // Chromium renames the file when it is complete
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${name} was not downloaded`);
}

async function sameBytes(name, expected) {
  const got = await download(name), want = await readFile(`${data}/${expected}`);
  assert.ok(got.equals(want), `${name} has ${got.length} bytes, that of the command line ${want.length}, and they differ`);
}

async function open(...paths) {
  await pick(...paths);
  await page.waitForFunction((name) => document.getElementById("name").textContent === name &&
    !document.getElementById("model").hidden, {}, paths[0].split("/").pop());
}

async function checkAccessibility(name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run());
  const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), [], name);
}

const tests = {
  async "the page loads, and is accessible"() {
    await page.goto(url);
    await ready();
    assert.match(await text("version"), /^calque \d/);
    await checkAccessibility("empty page");
  },
  async "an archive is converted to the bytes of the command line"() {
    await open(`${data}/model.pt2`);
    assert.match(await text("contents"), /torch.export program/);
    await start();
    assert.match(await text("state"), /verified on 2 input sets/);
    await sameBytes("model.onnx", "model.onnx");
    await checkAccessibility("page with a result");
    await page.screenshot({ path: `${out}/page.png`, fullPage: true });
  },
  async "a bad file shows the error of the command line"() {
    await pick(`${data}/bad.pt`);
    await hasText("error");
    assert.equal((await text("error")).trim(), (await readFile(`${data}/bad.txt`, "utf8")).trim());
  },
  async "a file that is too large has a message"() {
    await pick(`${data}/large.onnx`);
    await hasText("error");
    assert.match(await text("error"), /large\.onnx has 1\.60 GB; this page handles files up to 1\.5 GB/);
  },
  async "source with random weights"() {
    await open(`${data}/digits.py`);
    assert.ok(await page.$eval("#entry", (node) => node.offsetParent !== null), "the field for the model is hidden");
    await fill("inputs", "batchx1x28x28");
    await start();
    assert.match(await text("state"), /verified/);
    await sameBytes("digits.onnx", "digits.onnx");
  },
  async "source with a checkpoint"() {
    await open(`${data}/digits.py`, `${data}/seven.pth`);
    assert.equal(await page.$eval("#weights", (node) => node.value), "seven.pth");
    await fill("inputs", "batchx1x28x28");
    await fill("entry", "Digits(7)");
    await start();
    assert.match(await text("state"), /verified/);
    await sameBytes("digits.onnx", "seven.onnx");
  },
  async "an error in source has its line"() {
    await open(`${data}/broken.py`);
    await fill("inputs", "2x3");
    await start();
    assert.equal((await text("error")).trim(), (await readFile(`${data}/broken.txt`, "utf8")).trim());
    assert.match(await text("error"), /broken\.py:5:/);
  },
  async "check, optimize, convert, quantize, compare, audit"() {
    await open(`${data}/digits.onnx`);
    await choose("check");
    await start();
    assert.equal(await text("state"), "The model is valid.");
    await fill("more", "--json '--full'");
    await start();
    assert.equal((await text("output")).trim(), "[]");
    await fill("more", "");
    await choose("optimize");
    await start();
    await sameBytes("digits.optimized.onnx", "digits.optimized.onnx");
    await choose("convert");
    await page.type("#opset", "13");
    await start();
    await sameBytes("digits.converted.onnx", "digits.13.onnx");
    await choose("quantize");
    await page.select("#mode", "dynamic");
    await start();
    assert.match(await text("state"), /dynamic, 8 bits/);
    await sameBytes("digits.quantized.onnx", "digits.quantized.onnx");
    await choose("diff");
    await (await page.$("#other")).uploadFile(`${data}/digits.13.onnx`);
    await start();
    assert.match(await text("output"), /opset-differs/);
    await (await page.$("#other")).uploadFile(`${data}/digits.onnx`);
    await start();
    assert.equal(await text("state"), "The models are the same.");
    await choose("audit");
    await start();
    assert.match(await text("output"), /safe/);
  },
  async "the view is that of the command line, in a sandboxed frame"() {
    await choose("view");
    await start();
    const frame = await (await page.$("#view")).contentFrame();
    await frame.waitForSelector(".item", { timeout: 20000 });
    assert.equal(await frame.evaluate(() => window.origin), "null", "the frame is not sandboxed");
    assert.deepEqual(await frame.$$eval(".item > .t", (list) => list.map((t) => t.textContent).slice(0, 2)), ["x", "Conv"]);
    await page.setViewport({ width: 1400, height: 900 });
    await page.$eval("#view", (node) => node.scrollIntoView({ block: "end" }));
    await page.screenshot({ path: `${out}/page-view.png` });
    await page.setViewport({ width: 1000, height: 800 });
    await sameBytes("view.html", "view.html");
  },
  async "an example works by keyboard"() {
    await page.focus("[data-example='program.pt2']");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.getElementById("name").textContent === "program.pt2" &&
      document.activeElement.id === "name");
    await page.focus("#start");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#download a");
  },
  async "a result is the next model, and the form has the inputs of the signature"() {
    await page.click("#download button");
    await page.waitForFunction(() => document.getElementById("name").textContent === "program.onnx" &&
      !document.getElementById("model").hidden);
    assert.match(await text("facts"), /ONNX model/);
    await page.click("[data-example='digits.py']");
    await page.waitForFunction(() => document.getElementById("name").textContent === "digits.py" &&
      !document.getElementById("model").hidden);
    assert.equal(await page.$eval("#inputs", (node) => node.value), "1x1x28x28");
    await choose("view");
    await start();
    const frame = await (await page.$("#view")).contentFrame();
    await frame.waitForSelector(".item", { timeout: 20000 });
    assert.deepEqual(problems, []);
  },
  async "the page fits on a phone"() {
    await page.setViewport({ width: 360, height: 740, isMobile: true, hasTouch: true });
    await ready();
    await page.click("[data-example='network.onnx']");
    await page.waitForFunction(() => !document.getElementById("model").hidden);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
    await page.screenshot({ path: `${out}/phone.png`, fullPage: true });
    await page.setViewport({ width: 1000, height: 800 });
  },
  async "the page works offline"() {
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await page.reload();
    await ready();
    await page.click("[data-example='network.onnx']");
    await page.waitForFunction(() => document.getElementById("name").textContent === "network.onnx");
  },
  async "no error in the console"() {
    assert.deepEqual(problems, []);
  },
};

await mkdir(out, { recursive: true });
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}: ${error.message}`);
  }
}
await browser.close();
server.close();
console.log(JSON.stringify({ passed: Object.keys(tests).length - failed, failed }));
