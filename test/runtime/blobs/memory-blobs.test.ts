import { memoryBlobs } from "./memory-blobs.ts";
import { describeBlobStore } from "../../contract/blob-store.ts";

describeBlobStore("memoryBlobs", (options) => memoryBlobs(options));
