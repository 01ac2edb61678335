// Runs command lines with the npm package: commands.mjs CASES.json OUT. A case has words and the paths of its files;
// its result is written to OUT/INDEX.json, the files to OUT/INDEX/.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { run } from "calque";

const [cases, out] = process.argv.slice(2);
for (const [index, { words, files }] of JSON.parse(await readFile(cases, "utf8")).entries()) {
  const given = {};
  for (const [name, path] of Object.entries(files)) given[name] = new Uint8Array(await readFile(path));
  const { files: written, ...done } = await run(words, { files: given });
  for (const [name, data] of Object.entries(written)) {
    await mkdir(dirname(`${out}/${index}/${name}`), { recursive: true });
    await writeFile(`${out}/${index}/${name}`, data);
  }
  await writeFile(`${out}/${index}.json`, JSON.stringify(done));
}
