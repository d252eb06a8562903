// The same floor with asynchronous reads, 32 files at a time.
import { open, readFile } from "node:fs/promises";

const [, , list = ""] = process.argv;
const paths = (await readFile(list, "utf8")).split("\n");
let bytes = 0;
let next = 0;
const readers = Array.from({ length: 32 }, async () => {
  const buffer = Buffer.allocUnsafe(4096);
  for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
    const file = await open(path, "r");
    bytes += (await file.read(buffer, 0, buffer.length, 0)).bytesRead;
    await file.close();
  }
});
await Promise.all(readers);
process.stdout.write(`${bytes}\n`);
