// Runs commands away from the page. A message is { id, words, files }; files are File or Blob by name.
import { run } from "./calque.js";

async function bytesOf(files) {
  const found = {};
  for (const [name, file] of Object.entries(files)) found[name] = new Uint8Array(await file.arrayBuffer());
  return found;
}

self.onmessage = async ({ data: { id, words, files } }) => {
  try {
    const onProgress = (progress) => self.postMessage({ id, progress });
    const done = await run(words, { files: await bytesOf(files), onProgress });
    self.postMessage({ id, done }, Object.values(done.files).map((data) => data.buffer));
  } catch (error) {
    self.postMessage({ id, done: { status: 1, stdout: "", stderr: `error: ${error.message}\n`, files: {} } });
  }
};
