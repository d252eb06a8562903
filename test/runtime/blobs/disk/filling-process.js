/** Puts blobs of 100 bytes, three at a time, until the quota is exceeded; prints the number of stored bytes. */
import { diskBlobs } from "../../../../.build/runtime/blobs/disk-blobs.js";

const [directory = "", quota = ""] = process.argv.slice(2);
const store = diskBlobs(directory, { quotaBytes: Number(quota) });
let bytes = 0;

async function fill() {
  for (;;) {
    try {
      const { size } = await store.put("me", "text/plain", Buffer.alloc(100, "x"));
      bytes += size;
    } catch (error) {
      if (/** @type {{code?: string}} */ (error).code === "QUOTA_EXCEEDED") return;
      throw error;
    }
  }
}
await Promise.all([fill(), fill(), fill()]);
await store.close();
console.log(bytes);
