import { memoryBlobs } from "../../src/blobs/memory-blobs.ts";
import { describeBlobStore } from "../contract/blob-store.ts";

describeBlobStore("memoryBlobs", (options) => memoryBlobs(options));
