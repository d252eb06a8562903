// The floor of a listing: reads the first 4 KiB of each file in a list of paths, one per line.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";

const [, , list = ""] = process.argv;
const paths = readFileSync(list, "utf8").split("\n");
const buffer = Buffer.allocUnsafe(4096);
let bytes = 0;
for (const path of paths) {
  const file = openSync(path, "r");
  bytes += readSync(file, buffer, 0, buffer.length, 0);
  closeSync(file);
}
process.stdout.write(`${bytes}\n`);
