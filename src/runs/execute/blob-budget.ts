import { quotaExceeded } from "../../blobs/blob-quota.ts";
import type { StoredBlob } from "../../blobs/blob-store.ts";

/** What one run may make of blobs, together with the skills that it calls: nobody else's room is its to fill. */
export interface BlobBudget {
  /** Hands the content on to `put`, counted. Throws QUOTA_EXCEEDED for one that goes beyond; what is not kept does not count. */
  readonly keep: (
    content: AsyncIterable<Uint8Array>,
    put: (content: AsyncIterable<Uint8Array>) => Promise<StoredBlob>,
  ) => Promise<StoredBlob>;
}

export function openBlobBudget(limits: { readonly maxBytes: number; readonly maxBlobs: number }): BlobBudget {
  const { maxBytes, maxBlobs } = limits;
  let bytes = 0;
  let blobs = 0;
  return {
    async keep(content, put) {
      if (blobs >= maxBlobs) throw quotaExceeded("run", limits);
      blobs += 1;
      let counted = 0;
      async function* count(): AsyncGenerator<Uint8Array> {
        for await (const chunk of content) {
          counted += chunk.length;
          bytes += chunk.length;
          if (bytes > maxBytes) throw quotaExceeded("run", limits);
          yield chunk;
        }
      }
      try {
        return await put(count());
      } catch (error) {
        blobs -= 1;
        bytes -= counted;
        throw error;
      }
    },
  };
}
