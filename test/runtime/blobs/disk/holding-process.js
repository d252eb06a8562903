/** Puts a blob, holds it, prints its id and waits to be killed. */
import { diskBlobs } from "../../../../.build/runtime/blobs/disk-blobs.js";

const store = diskBlobs(process.argv[2] ?? "");
const { id } = await store.put("me", "text/plain", Buffer.from("held"));
await store.hold("me", id);
console.log(id);
setInterval(() => undefined, 60_000);
