import { expect, test } from "vitest";
import type { Answer } from "../../../src/runtime/question.ts";
import type { RemoteRequest } from "../../../src/sources/fetch.ts";
import type { SandboxRun } from "../../../src/runtime/sandbox.ts";
import { recordInLedger } from "../../../src/runtime/app/run-entries.ts";
import type { LedgerEntry } from "../../../src/runtime/ledger.ts";
import { refusal } from "../tools/open-tools.ts";
import type { MemoryScript } from "../sandbox/memory-sandbox.ts";
import { openMemoryRun } from "./open-memory-run.ts";
import { actionSkill } from "./open-runner.ts";

const { signal } = new AbortController();
const value = "ghp_hunter2hunter2";
const wants = '[permissions]\nsecrets = [{ name = "GH_TOKEN", hosts = ["api.github.com"], scheme = "token" }]';
const request = { type: "skill", name: "a.b", args: {} } as const;
const asked = {
  url: "https://api.github.com/user?q=1",
  method: "GET",
  headers: [],
  body: new Uint8Array(),
  secret: "GH_TOKEN",
} as const;
const done = { type: "returned", value: "done" } as const;

interface Scene {
  readonly extra?: string;
  readonly body?: string;
  readonly answer?: Answer;
}

/** A run whose host answers every request with `body`. */
async function open(script: MemoryScript, { extra = wants, body = "ok", answer = "once" }: Scene = {}) {
  const sent: RemoteRequest[] = [];
  const origins: (readonly string[])[] = [];
  const rows: LedgerEntry[] = [];
  const titles: string[] = [];
  let closed = 0;
  const ledger = { record: (entry: LedgerEntry) => void rows.push(entry) };
  const opened = await openMemoryRun(actionSkill("a.b", extra), script, {
    readSecret: () => Promise.resolve(value),
    ...recordInLedger(ledger, () => 0),
    openRequests: (typed) => {
      origins.push(typed);
      return Promise.resolve({
        fetch: (remote) => {
          sent.push(remote);
          return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(body), url: remote.url });
        },
        close: () => {
          closed += 1;
          return Promise.resolve();
        },
      });
    },
  });
  const caller = {
    ...opened.caller,
    ask: (question: { readonly title: string }) => (titles.push(question.title), Promise.resolve({ answer })),
  };
  return { ...opened, caller, sent, origins, rows, titles, closed: () => closed };
}

test("the sandbox gets the name and the hosts of a secret that it may only use, and no value", async () => {
  const seen: SandboxRun[] = [];
  const { runs, caller, sent, origins, closed, titles, records } = await open(
    async ({ run, fetch }) => {
      seen.push(run);
      const answer = await fetch!(asked);
      return { type: "returned", value: Buffer.from(answer.body).toString() };
    },
    { body: `you are ${value}` },
  );
  const spec = await runs.plan(request, caller, signal);
  const result = await runs.run(spec, caller, signal);
  expect(result).toMatchObject({ status: "completed", output: "you are ***" });
  expect(spec.needs).toEqual({ network: [], secrets: [], uses: ["GH_TOKEN@api.github.com"], project: "none" });
  expect(seen).toMatchObject([{ secrets: {}, uses: ["GH_TOKEN@api.github.com"], network: [] }]);
  expect(JSON.stringify([seen, await records.read(spec.runId)])).not.toContain("hunter2");
  expect(sent).toMatchObject([{ url: asked.url, headers: { authorization: `token ${value}` } }]);
  expect(origins).toEqual([["https://api.github.com"]]);
  expect(closed()).toBe(1);
  expect(titles).toEqual([expect.stringMatching(/^Use of GH_TOKEN with api\.github\.com: run a\.b /)]);
});

test("the ledger has the secret, the host, the method and the status, never a path or a query", async () => {
  const { runs, caller, rows, events } = await open(async ({ fetch }) => {
    await fetch!({ ...asked, headers: [["x-mine", "private"]] });
    await fetch!({ ...asked, url: "https://evil.example/" }).catch(() => undefined);
    return done;
  });
  const spec = await runs.plan(request, caller, signal);
  await runs.run(spec, caller, signal);
  expect(rows).toMatchObject([
    { event: "start", about: "use of GH_TOKEN with api.github.com", outcome: "started", grant: "once" },
    {
      event: "send",
      about: "GH_TOKEN to api.github.com: GET, status 200",
      outcome: "completed",
      skill: "a.b",
      runId: spec.runId,
    },
  ]);
  expect(JSON.stringify([rows, events])).not.toMatch(/user|q=1|private|hunter2/);
  expect(events).toContainEqual({
    runId: spec.runId,
    type: "secret_sent",
    secret: "GH_TOKEN",
    host: "api.github.com",
    method: "GET",
    status: 200,
  });
});

test("without an approval nothing is sent", async () => {
  const { runs, caller, sent, rows } = await open(() => done, { answer: "not-now" });
  const spec = await runs.plan(request, caller, signal);
  expect(await refusal(runs.run(spec, caller, signal))).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(sent).toEqual([]);
  expect(rows).toEqual([]);
});

test("a run without such a permission cannot make requests", async () => {
  const { runs, caller } = await open(({ fetch }) => ({ type: "returned", value: fetch === undefined }), {
    extra: '[permissions]\nsecrets = ["GH_TOKEN"]',
  });
  const spec = await runs.plan(request, caller, signal);
  expect(await runs.run(spec, caller, signal)).toMatchObject({ output: true });
});

test("expose = true gives both", async () => {
  const { runs, caller, titles } = await open(
    async ({ run, fetch }) => ({ type: "returned", value: [Object.keys(run.secrets), (await fetch!(asked)).status] }),
    { extra: '[permissions]\nsecrets = [{ name = "GH_TOKEN", hosts = ["api.github.com"], expose = true }]' },
  );
  const spec = await runs.plan(request, caller, signal);
  expect(await runs.run(spec, caller, signal)).toMatchObject({ output: [["GH_TOKEN"], 200] });
  expect(titles[0]).toMatch(/^1 secret, use of 1 secret: run a\.b /);
});

test("a spec that names more hosts than the skill of its digest is refused", async () => {
  const { runs, caller, sent } = await open(() => done);
  const spec = await runs.plan(request, caller, signal);
  const needs = { ...spec.needs, uses: ["GH_TOKEN@api.github.com", "GH_TOKEN@evil.example"] };
  expect(await refusal(runs.run({ ...spec, needs }, caller, signal))).toMatchObject({ code: "SKILL_NOT_READY" });
  expect(sent).toEqual([]);
});

test("the value is masked in what the run prints, should it come to know it", async () => {
  const { runs, caller, events } = await open(({ print }) => (print(`${value}\n`), done));
  const spec = await runs.plan(request, caller, signal);
  const result = await runs.run(spec, caller, signal);
  expect(JSON.stringify([result, events])).not.toContain("hunter2");
});

test("requests that are under way when the run ends are given up", async () => {
  const { runs, caller, closed } = await open(({ fetch }) => {
    void fetch!(asked);
    return done;
  });
  const spec = await runs.plan(request, caller, signal);
  await runs.run(spec, caller, signal);
  expect(closed()).toBe(1);
});

test("a replay says that requests were made again", async () => {
  const { runs, caller, sent } = await open(async ({ fetch }) => (await fetch!(asked), done));
  const spec = await runs.plan(request, caller, signal);
  await runs.run(spec, caller, signal);
  const again = await runs.replay(spec.runId, caller, signal);
  expect(again.notes).toEqual([
    "The values of GH_TOKEN were read again and may be others than then.",
    "It may have sent GH_TOKEN to api.github.com again, with requests that change something there, and other answers than then.",
  ]);
  expect(sent).toHaveLength(2);
});

test("a secret that cannot be sent is missing before the code starts", async () => {
  let started = false;
  const { runs, caller } = await openMemoryRun(actionSkill("a.b", wants), () => ((started = true), done), {
    readSecret: () => Promise.resolve("short"),
  });
  const asking = { ...caller, ask: () => Promise.resolve({ answer: "once" } as const) };
  const spec = await runs.plan(request, asking, signal);
  expect(await refusal(runs.run(spec, asking, signal))).toMatchObject({
    code: "SECRET_MISSING",
    message: "The value of GH_TOKEN has fewer than 8 characters, so that it could be guessed.",
  });
  expect(started).toBe(false);
});
