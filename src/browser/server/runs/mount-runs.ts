import { maxJsonValues } from "../../../base/json/json-value.ts";
import { SkillsError } from "../../../base/errors.ts";
import { type RunStarted, type UploadedBlob, runRequest } from "../../wire/runs.ts";
import type { MountBrowse } from "../browse-context.ts";
import { createPageRuns } from "./page-runs.ts";
import { toRunRefusal, toShownRun } from "./shown-run.ts";
import { shownVersion } from "../shown-version.ts";
import { localOwner } from "../../../runtime/caller.ts";

/** Larger contents are passed as blobs. */
const limits = { maxBytes: 1024 * 1024, maxValues: maxJsonValues };
const runForm = /^run_[A-Za-z0-9]{10,64}$/;

/** `POST /api/runs`, `GET` and `DELETE /api/runs/RUN`: runs for the user of this machine, of exactly the bytes that the page shows. */
export const mountRuns: MountBrowse = (context) => {
  const { app } = context;
  const runs = createPageRuns(context);
  return {
    async "POST /api/runs"({ json, signal }) {
      const { nonce, ...asked } = await json(runRequest, limits);
      const { skill: id, digest } = asked;
      const found = await shownVersion(id, { digest, nonce }, context, signal);
      if ("refused" in found) return found;
      try {
        const run = await runs.start(asked, found.offered.skill.name);
        return { json: { run } satisfies RunStarted, status: 202 };
      } catch (error) {
        return { refused: toRunRefusal(error, app.log) };
      }
    },
    async "GET /api/runs/:run"({ param }) {
      const id = param("run");
      const record = runForm.test(id) ? (runs.find(id) ?? (await (await app.runRecords()).read(id))) : undefined;
      if (record === undefined) throw absent();
      return { json: "spec" in record ? toShownRun(record) : record };
    },
    async "DELETE /api/runs/:run"({ param }) {
      const run = await runs.cancel(param("run"));
      if (run === undefined) throw absent();
      return { json: run };
    },
  };
};

function absent(): SkillsError {
  return new SkillsError("FILE_NOT_FOUND", "There is no such run; runs are stored for 24 hours.");
}

const maxBlobBytes = 10 * 1024 * 1024;
/** The maximum number of uploads at once: each is in memory until it is stored. */
const maxUploads = 4;

/** `POST /api/blobs`, `GET /api/blobs/ID`: the blobs of the user of this machine, for runs and from runs. */
export const mountBlobs: MountBrowse = ({ app: { blobs } }) => {
  let uploads = 0;
  return {
    async "POST /api/blobs"({ incoming, bytes, signal }) {
      if (uploads >= maxUploads)
        throw new SkillsError("RATE_LIMITED", `${maxUploads} files are being sent already; wait for one.`);
      uploads += 1;
      try {
        const kind = incoming.headers["content-type"] ?? "application/octet-stream";
        const { id, size } = await blobs.put(localOwner, kind, await bytes(maxBlobBytes), { signal });
        return { json: { id, sizeBytes: size } satisfies UploadedBlob };
      } finally {
        uploads -= 1;
      }
    },
    async "GET /api/blobs/:id"({ param, query }) {
      const id = param("id");
      const chunks: Uint8Array[] = [];
      for await (const chunk of blobs.read(localOwner, id)) chunks.push(chunk.slice());
      return { download: Buffer.concat(chunks), name: query.get("name") ?? id };
    },
  };
};
