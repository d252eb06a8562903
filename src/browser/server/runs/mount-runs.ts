import * as z from "zod";
import { isJsonContentType } from "../../../wire/http/read-body.ts";
import { hasTooManyValues, maxJsonValues } from "../../../base/json/json-value.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { RunRequest, RunStarted, ShownRun, UploadedBlob } from "../../wire/runs.ts";
import type { BrowseAnswer, BrowseRefusal, BrowseRequest, MountBrowse } from "../browse-door.ts";
import { createPageRuns } from "./page-runs.ts";
import { toRunError, toShownRun } from "./shown-run.ts";
import { localOwner } from "../../../runtime/caller.ts";

/** Larger contents are passed as blobs. */
const maxRequestBytes = 1024 * 1024;
const runForm = /^run_[A-Za-z0-9]{10,64}$/;

const runRequest: z.ZodType<RunRequest> = z.strictObject({
  skill: z.string(),
  digest: z.string(),
  nonce: z.string(),
  args: z.record(z.string(), z.unknown()).exactOptional(),
  script: z.string().exactOptional(),
  input_blobs: z.array(z.string()).exactOptional(),
  timeout_ms: z.number().exactOptional(),
});

/** `POST /api/runs`, `GET` and `DELETE /api/runs/RUN`: runs for the person at this machine, of exactly the bytes that the page shows. */
export const mountRuns: MountBrowse = (door) => {
  const { app, session, events, once: allowedNext, nonces, stopped, hold } = door;
  const runs = createPageRuns({
    app,
    session,
    stopped,
    hold,
    notify: (news) => events.push("run", news),
    allowedNext,
  });

  async function start(request: BrowseRequest): Promise<BrowseAnswer> {
    const { nonce, ...asked } = await readRequest(request);
    const { skill: id, digest } = asked;
    const skill = session.catalog.find(id)?.skill;
    const current = skill && (await app.hasher.hash(app.source, skill.directory, request.signal)).digest;
    const fault = nonces.faultOf({ id, digest, nonce }, current);
    if (fault !== undefined || skill === undefined) return { refused: fault ?? gone };
    try {
      const started: RunStarted = { run: await runs.start(asked, skill.name) };
      return { json: started, status: 202 };
    } catch (error) {
      const { code, message, hint } = toRunError(error, app.log);
      const facts = { message, ...(hint !== undefined && { hint }) };
      if (code === "STALE") return { refused: { status: 409, code, ...facts } };
      if (code === "PERMISSION_DENIED") return { refused: { status: 403, code, ...facts } };
      throw error;
    }
  }

  async function find({ param }: BrowseRequest): Promise<BrowseAnswer> {
    const id = param("run");
    if (!runForm.test(id)) throw absent();
    const own = runs.find(id);
    if (own !== undefined) return { json: own };
    const record = await (await app.runRecords()).read(id);
    if (record === undefined) throw absent();
    return { json: toShownRun(record) };
  }

  async function cancel({ param }: BrowseRequest): Promise<BrowseAnswer> {
    const run: ShownRun | undefined = await runs.cancel(param("run"));
    if (run === undefined) throw absent();
    return { json: run };
  }

  return [
    { method: "POST", path: "/api/runs", answer: start },
    { method: "GET", path: "/api/runs/:run", answer: find },
    { method: "DELETE", path: "/api/runs/:run", answer: cancel },
  ];
};

async function readRequest({ bytes, incoming }: BrowseRequest): Promise<RunRequest> {
  const refuse = (message: string): SkillsError => new SkillsError("VALIDATION_ERROR", message);
  if (!isJsonContentType(incoming.headers["content-type"]))
    throw refuse("Send the request with Content-Type: application/json.");
  const body = Buffer.from(await bytes(maxRequestBytes));
  if (hasTooManyValues(body, maxJsonValues)) throw refuse(`A run takes at most ${maxJsonValues} keys and values.`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    throw refuse("The body is not JSON.");
  }
  const { data, error } = runRequest.safeParse(parsed);
  if (data === undefined) throw refuse(`The body is not a run: ${z.prettifyError(error)}`);
  return data;
}

const gone: BrowseRefusal = { status: 404, code: "SKILL_NOT_FOUND", message: "There is no such skill any more." };

function absent(): SkillsError {
  return new SkillsError("FILE_NOT_FOUND", "There is no such run; runs are stored for 24 hours.");
}

const maxBlobBytes = 10 * 1024 * 1024;
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
          const { id, size } = await blobs.put(localOwner, kind, await bytes(maxBlobBytes), { signal });
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
