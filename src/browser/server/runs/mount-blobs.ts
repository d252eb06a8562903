import { localOwner } from "../../../runtime/caller.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { UploadedBlob } from "../../wire/runs.ts";
import type { MountBrowse } from "../browse-door.ts";

const maxBytes = 10 * 1024 * 1024;
/** The number of uploads at once: each is in memory until it is stored. */
const mostUploads = 4;

/** `POST /api/blobs`, `GET /api/blobs/ID`: the blobs of the person at this machine, for runs and from runs. */
export const mountBlobs: MountBrowse = ({ app: { blobs } }) => {
  let uploads = 0;
  return [
    {
      method: "POST",
      path: "/api/blobs",
      async answer({ incoming, bytes, signal }) {
        if (uploads >= mostUploads)
          throw new SkillsError("RATE_LIMITED", `${mostUploads} files are being sent already; wait for one.`);
        uploads += 1;
        try {
          const kind = incoming.headers["content-type"] ?? "application/octet-stream";
          const { id, size } = await blobs.put(localOwner, kind, await bytes(maxBytes), { signal });
          const stored: UploadedBlob = { id, sizeBytes: size };
          return { json: stored };
        } finally {
          uploads -= 1;
        }
      },
    },
    {
      method: "GET",
      path: "/api/blobs/:id",
      async answer({ param, query }) {
        const id = param("id");
        const chunks: Uint8Array[] = [];
        for await (const chunk of blobs.read(localOwner, id)) chunks.push(chunk.slice());
        return { download: Buffer.concat(chunks), name: query.get("name") ?? id };
      },
    },
  ];
};
