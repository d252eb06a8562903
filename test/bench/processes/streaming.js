// Streams a number of bytes into a blob and reads them again: streaming.js DIRECTORY BYTES
import { diskBlobs } from "../../../.build/runtime/blobs/disk-blobs.js";

const [, , directory = "", bytes = "0"] = process.argv;
const total = Number(bytes);
const chunk = Buffer.alloc(64 * 1024, "x");

async function* content() {
  for (let sent = 0; sent < total; sent += chunk.length) yield await Promise.resolve(chunk);
}

const blobs = diskBlobs(directory, { maxBlobBytes: total, ownerQuotaBytes: total });
const { id } = await blobs.put("bench", "application/octet-stream", content());
let read = 0;
for await (const part of blobs.read("bench", id)) read += part.length;
await blobs.remove("bench", id);
await blobs.close();
process.exitCode = read === total ? 0 : 1;
