import { expect, test } from "vitest";
import type { RunStarted, ShownRun, SkillHistory, UploadedBlob } from "../../../src/browser/wire/runs.ts";
import type { BrowseError } from "../../../src/browser/wire/skills.ts";
import { instruction } from "../../serve/open-served.ts";
import { openRuns, python } from "./open-runs.ts";

const echo = python("echo", "def main(args):\n    print('hello')\n    return args\n");
const network = '[permissions]\nnetwork = ["https://api.example.com"]\n';
const codeOf = (answered: { readonly json: unknown }): string => (answered.json as BrowseError).error.code;

test("a run is answered before it ends; its news contain what it prints, and its result is there afterwards", async () => {
  const { start, news, send } = await openRuns(echo);
  const started = await start("echo", { args: { n: 1 } });
  expect(started.status).toBe(202);
  const { run } = started.json as RunStarted;
  expect(run).toMatch(/^run_/);
  const told = await news(run);
  expect(told.map(({ type }) => type)).toEqual(["queued", "started", "printed", "ended"]);
  expect(told[2]).toEqual({ run, type: "printed", at: 0, text: "hello\n" });
  const { status, json } = await send(`/api/runs/${run}`);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    run,
    skill: "echo",
    status: "completed",
    isOwn: true,
    printed: { at: 0, text: "hello\n" },
    result: { status: "completed", output: { n: 1 } },
  });
});

test("arguments that do not fit are refused in the words of execute_skill, and nothing runs", async () => {
  const { start } = await openRuns(
    python("add", "def main(args):\n    return 1\n", '[inputs]\nn = { type = "integer", required = true }\n'),
  );
  const { status, json } = await start("add", { args: { n: "x" } });
  expect(status).toBe(400);
  expect((json as BrowseError).error).toMatchObject({
    code: "VALIDATION_ERROR",
    message: 'Invalid input to execute_skill. args/n: expected a whole number, got "x".',
  });
});

test("a script gets its words and its standard input", async () => {
  const { run } = await openRuns({
    ...instruction("tool"),
    "tool/scripts/show.sh": 'printf "%s|" "$@"; cat',
  });
  const { result } = await run("tool", { script: "scripts/show.sh", args: { argv: ["a b", "", "'"], stdin: "in" } });
  expect(result).toMatchObject({ output: { exit_code: 0, stdout: "a b||'|in" } });
});

test("what needs approval is refused with where to decide", async () => {
  const { start } = await openRuns(python("net", "def main(args):\n    return 'ran'\n", network));
  const refused = await start("net");
  expect(refused.status).toBe(403);
  expect((refused.json as BrowseError).error).toEqual({
    code: "PERMISSION_DENIED",
    message: "The skill net needs approval to connect to api.example.com.",
    hint: "The permissions tab shows what it wants, and lets you decide.",
  });
});

test("what was allowed once runs once, and not before it fits", async () => {
  const skill = python("net", "def main(args):\n    return 'ran'\n", `${network}[inputs]\nn = { type = "integer" }\n`);
  const { start, run, send, detail } = await openRuns(skill);
  const { digest, nonce } = await detail("net");
  const decided = await send("/api/skills/net/decision", { method: "POST", json: { decision: "once", digest, nonce } });
  expect(decided.status).toBeLessThan(300);
  expect(codeOf(await start("net", { args: { n: "x" } }))).toBe("VALIDATION_ERROR");
  expect(await run("net")).toMatchObject({ status: "completed", result: { output: "ran" } });
  expect(codeOf(await start("net"))).toBe("PERMISSION_DENIED");
});

test("files become blobs, and files that a run leaves can be downloaded, never shown", async () => {
  const code = "import shutil\ndef main(args):\n    shutil.copy('/blobs/' + args['table'], '/output/copy.html')\n";
  const { send, run } = await openRuns(python("copy", code, '[inputs]\ntable = { type = "blob", required = true }\n'));
  const content = Buffer.from("<script>alert(1)</script>");
  const stored = await send("/api/blobs", { method: "POST", body: content, headers: { "content-type": "text/html" } });
  const { id, sizeBytes } = stored.json as UploadedBlob;
  expect(sizeBytes).toBe(content.length);
  const { blobs } = await run("copy", { args: { table: id } });
  expect(blobs).toMatchObject([{ path: "copy.html", sizeBytes: content.length }]);
  const { headers, bytes } = await send(`/api/blobs/${encodeURIComponent(blobs[0]?.id ?? "")}?name=copy.html`);
  expect(bytes).toEqual(content);
  expect(headers).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": 'attachment; filename="copy.html"',
    "x-content-type-options": "nosniff",
  });
});

test("a run is cancelled, and closing the server cancels those that still run", async () => {
  const endless = python("endless", "import time\ndef main(args):\n    print('on', flush=True)\n    time.sleep(100)\n");
  const { start, send, close, app } = await openRuns(endless);
  const { run } = (await start("endless")).json as RunStarted;
  const cancelled = await send(`/api/runs/${run}`, { method: "DELETE" });
  expect(cancelled.json).toMatchObject({ run, status: "cancelled" });
  const { run: other } = (await start("endless")).json as RunStarted;
  const records = await app.runRecords();
  await close();
  // Stored when the app was closed.
  expect(records).toBeDefined();
  expect(other).not.toBe(run);
});

test("the history has the runs, and what the ledger says, of that skill only", async () => {
  const { run, send } = await openRuns({ ...echo, ...python("other", "def main(args):\n    return 1\n") });
  const { run: id, digest } = await run("echo");
  await run("other");
  const { runs, events } = (await send("/api/skills/echo/history")).json as SkillHistory;
  expect(runs).toMatchObject([{ run: id, digest, status: "completed", door: "browser" }]);
  expect(events).toMatchObject([
    { what: "use", tool: "execute_skill", run: id, outcome: "completed", door: "browser" },
  ]);
});

test("with --read-only nothing runs and nothing is stored", async () => {
  const { start, send } = await openRuns(echo, { readOnly: true });
  expect(codeOf(await start("echo", { digest: "sha256:0", nonce: "none" }))).toBe("PERMISSION_DENIED");
  expect(codeOf(await send("/api/blobs", { method: "POST", body: Buffer.from("x") }))).toBe("PERMISSION_DENIED");
});

test("attacks: the nonce of another skill, or of other bytes, runs nothing", async () => {
  const { detail, start, write } = await openRuns({ ...echo, ...python("other", "def main(args):\n    return 1\n") });
  const other = await detail("other");
  expect(codeOf(await start("echo", { nonce: other.nonce ?? "" }))).toBe("PERMISSION_DENIED");
  expect(codeOf(await start("echo", { nonce: other.nonce ?? "", digest: other.digest ?? "" }))).toBe(
    "PERMISSION_DENIED",
  );
  const { digest = "", nonce = "" } = await detail("echo");
  write("echo/main.py", "def main(args):\n    return 'something else'\n");
  const stale = await start("echo", { digest, nonce });
  expect([stale.status, codeOf(stale)]).toEqual([409, "STALE"]);
  // The new digest with the old nonce.
  expect(codeOf(await start("echo", { nonce }))).toBe("PERMISSION_DENIED");
});

test("attacks: ids of others' runs and blobs, and ids that are none, are not found", async () => {
  const { send, app } = await openRuns(echo);
  const { id } = await app.blobs.put("session:other", "text/plain", Buffer.from("secret"));
  for (const target of [
    `/api/blobs/${encodeURIComponent(id)}`,
    "/api/blobs/..%2f..%2fetc%2fpasswd",
    "/api/runs/run_doesnotexist",
    "/api/runs/..%2f..%2fetc",
  ])
    expect((await send(target)).status, target).toBe(404);
  expect((await send("/api/runs/run_doesnotexist", { method: "DELETE" })).status).toBe(404);
});

test("attacks: a blob that is too large, or of a forged kind, is not stored", async () => {
  const { send } = await openRuns(echo);
  const large = await send("/api/blobs", { method: "POST", body: new Uint8Array(10 * 1024 * 1024 + 1) });
  expect([large.status, codeOf(large)]).toEqual([413, "BLOB_TOO_LARGE"]);
  for (const kind of ["text/html;base64", "nonsense", "a/b; c=\u00e9", `a/${"b".repeat(200)}`]) {
    const forged = await send("/api/blobs", {
      method: "POST",
      body: Buffer.from("x"),
      headers: { "content-type": kind },
    });
    expect(codeOf(forged), kind).toBe("VALIDATION_ERROR");
  }
});

test("attacks: a body that is no run is refused", async () => {
  const { send, start } = await openRuns(echo);
  for (const json of [null, [], "x", {}, { skill: "echo" }, { skill: 1, digest: "", nonce: "" }])
    expect(codeOf(await send("/api/runs", { method: "POST", json })), JSON.stringify(json)).toBe("VALIDATION_ERROR");
  expect(codeOf(await start("echo", { more: 1 } as object))).toBe("VALIDATION_ERROR");
  const large = await send("/api/runs", {
    method: "POST",
    body: Buffer.alloc(1024 * 1024 + 1, " "),
    headers: { "content-type": "application/json" },
  });
  expect(large.status).toBe(413);
});

test("a program that prints 40 MiB sends the page a bounded part of it", async () => {
  const code =
    "import sys\nline = 'x' * 1023 + '\\n'\ndef main(args):\n    for _ in range(40 * 1024):\n        sys.stdout.write(line)\n";
  const { start, news, send } = await openRuns(python("flood", code));
  const { run } = (await start("flood")).json as RunStarted;
  const told = (await news(run)).flatMap((one) => (one.type === "printed" ? [one.text.length] : []));
  expect(told.reduce((sum, length) => sum + length, 0)).toBeLessThan(2 * 1024 * 1024);
  expect(Math.max(...told)).toBeLessThanOrEqual(32 * 1024);
  const { printed, result } = (await send(`/api/runs/${run}`)).json as ShownRun;
  expect(printed.text.length).toBeLessThanOrEqual(256 * 1024);
  expect(printed.text.endsWith("(the rest is in the log)\n")).toBe(true);
  expect(result?.logs_blob).toMatch(/^blob:/);
});

test("more than eight runs at a time are refused", async () => {
  const { start } = await openRuns(python("endless", "import time\ndef main(args):\n    time.sleep(100)\n"));
  const answers = await Promise.all(Array.from({ length: 9 }, () => start("endless")));
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(8);
  expect(answers.flatMap((one) => (one.status === 202 ? [] : [codeOf(one)]))).toEqual(["RATE_LIMITED"]);
});
