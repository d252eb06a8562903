import type { ReadonlySignal } from "@preact/signals";
import type { About } from "../../wire/skills.ts";
import { jsonBody, type ServerFetch, type ServerFetchInit } from "./http-request.ts";
import type { SkillServer } from "./skill-server.ts";

/** The functions of the server, each one request. */
export function createHttpServer(
  exchange: ServerFetch,
  about: ReadonlySignal<About | undefined>,
  on: SkillServer["on"],
): SkillServer {
  const read = async <Answer>(path: string, signal?: AbortSignal): Promise<Answer> =>
    (await (await exchange(path, signal === undefined ? {} : { signal })).json()) as Answer;
  const send = async <Answer>(path: string, value: unknown, signal?: AbortSignal): Promise<Answer> =>
    (await (await exchange(path, { ...jsonBody(value), ...(signal !== undefined && { signal }) })).json()) as Answer;
  const act = async (path: string, init: ServerFetchInit): Promise<void> => {
    const response = await exchange(path, init);
    await response.body?.cancel();
  };

  return {
    about,
    on,
    file: (skill, path, signal) => read(`${skillPath(skill)}/files?path=${encodeURIComponent(path)}`, signal),
    history: (skill, signal) => read(`${skillPath(skill)}/history`, signal),
    decide: (skill, decision) => act(`${skillPath(skill)}/decision`, jsonBody(decision)),
    open: (skill, file) => act(`${skillPath(skill)}/open`, jsonBody(file)),
    startRun: (request) => send("/api/runs", request),
    run: (run, signal) => read(`/api/runs/${encodeURIComponent(run)}`, signal),
    cancelRun: (run) => act(`/api/runs/${encodeURIComponent(run)}`, { method: "DELETE" }),
    storeBlob: async (bytes) =>
      (await (
        await exchange("/api/blobs", {
          method: "POST",
          headers: { "content-type": bytes.type === "" ? "application/octet-stream" : bytes.type },
          body: bytes,
        })
      ).json()) as Awaited<ReturnType<SkillServer["storeBlob"]>>,
    readBlob: async (blob, signal) =>
      await (await exchange(`/api/blobs/${encodeURIComponent(blob)}`, signal === undefined ? {} : { signal })).blob(),
    sessions: (signal) => read("/api/sessions", signal),
    budget: (signal) => read("/api/budget", signal),
    sources: (signal) => read("/api/sources", signal),
    discover: (source, signal) => send("/api/sources/discover", { source }, signal),
    plan: (request, signal) => send("/api/sources/plan", request, signal),
    apply: ({ plan, nonce }) => send("/api/sources/apply", { plan, nonce }),
  };
}

export function skillPath(id: string): string {
  return `/api/skills/${encodeURIComponent(id)}`;
}
