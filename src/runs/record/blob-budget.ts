import { quotaExceeded } from "../../blobs/blob-quota.ts";
import type { StoredBlob } from "../../blobs/blob-store.ts";

/** How much one run may store as blobs, together with the skills that it calls. */
export interface BlobBudget {
  /** Passes the content on to `put`, counted. Throws QUOTA_EXCEEDED beyond the budget; content that was not stored does not count. */
  readonly keep: (
    content: AsyncIterable<Uint8Array>,
    put: (content: AsyncIterable<Uint8Array>) => Promise<StoredBlob>,
  ) => Promise<StoredBlob>;
}

export function createBlobBudget(limits: { readonly maxBytes: number; readonly maxBlobs: number }): BlobBudget {
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
