import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ownedName, userName } from "../../src/base/processes/live-process.ts";
import { systemClock } from "../../src/base/clock.ts";
import { openLoopbackServer } from "../../src/mcp/session-servers/loopback-server.ts";
import { Catalog } from "../../src/skills/skillset/catalog.ts";
import { memorySkillBytes, memorySkillFiles } from "../skills/files/memory-skill-files.ts";
import { type App, openApp } from "../../src/runtime/app.ts";
import { readOptions } from "../../src/runtime/options.ts";
import { readAll } from "../contract/ledger.ts";
import { type ManualClock, manualClock } from "../manual-clock.ts";
import { modernRequest, rawRequest } from "../mcp/raw-request.ts";

const hour = 60 * 60 * 1_000;
const dayAndHour = 25 * hour;

describe("the app", () => {
  let directory = "";
  let clock: ManualClock;
  let time = 0;
  const told: string[] = [];
  const opened: App[] = [];
  const files = memorySkillFiles({
    "/skills/alpha/SKILL.md": "---\nname: alpha\ndescription: Does alpha.\n---\n# Alpha\n",
  });
  const skills = new Catalog({
    roots: [{ path: "/skills", origin: "explicit" }],
    files,
    clock: systemClock,
    log: () => undefined,
  });

  beforeEach(() => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-app-")));
    clock = manualClock();
    time = Date.now();
    told.length = 0;
  });
  afterEach(async () => {
    for (const app of opened.splice(0)) await app.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function open(dataDirectory = path.join(directory, "deep", "data")): App {
    const log = (level: string, message: string): void => void told.push(`${level} ${message}`);
    const app = openApp(readOptions({ log, dataDirectory }, { clock, version: "0.0.0-test" }), {
      source: { files, bytes: memorySkillBytes(files) },
      now: () => time,
      diskNow: () => time,
    });
    opened.push(app);
    return app;
  }

  const countBlobs = async (app: App): Promise<number> => {
    let count = 0;
    for await (const blob of app.blobs.list()) count += blob.size > 0 ? 1 : 0;
    return count;
  };

  test("a session reports that a change of the project's skills was interrupted", async () => {
    const records = path.join(directory, "data", "changes");
    mkdirSync(records, { recursive: true, mode: 0o700 });
    const [project, other] = ["project", "other"].map((name) => path.join(directory, name));
    for (const one of [project, other]) mkdirSync(one ?? "");
    const killed = `4194304-1-${ownedName().split("-")[2]}-0123456789abcdef`;
    const changes = ["deploy", "notes"].map((key) => ({ key }));
    const lockFile = path.join(project ?? "", "skills-lock.json");
    writeFileSync(path.join(records, `${killed}.jsonl`), `${JSON.stringify({ lockFile, changes })}\n`);
    const app = open(path.join(directory, "data"));
    for (const cwd of [other, project]) {
      const session = app.openSession({ cwd, additionalDirectories: [] });
      await vi.waitUntil(() => cwd === other || told.length > 0);
      session.close();
    }
    expect(told).toEqual([
      `warning ${project}: a change of deploy, notes was interrupted; the next acp-skills update, add or remove finishes it.`,
    ]);
  });

  test("stores blobs and the ledger in a private directory", async () => {
    const { toolbox, ledger } = open();
    await toolbox.call("create_blob", { content: "x", kind: "text/plain" }, { owner: "me", transport: "cli", skills });
    await toolbox.call("describe_skill", { name: "alpha" }, { owner: "me", transport: "acp", skills, sessionId: "s1" });
    expect(await readAll(ledger)).toEqual([
      { at: time, tool: "create_blob", caller: userName(), door: "cli", outcome: "completed" },
      {
        at: time,
        tool: "describe_skill",
        caller: userName(),
        skill: "alpha",
        version: "0.0.0",
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
        sessionId: "s1",
        door: "acp",
        outcome: "completed",
      },
    ]);
    const data = path.join(directory, "deep", "data");
    expect(readdirSync(data).sort()).toEqual(["blobs", "ledger"]);
    if (process.platform !== "win32") expect(statSync(data).mode & 0o777).toBe(0o700);
    expect(told).toEqual([]);
  });

  test("sweeps blobs shortly after opening, then every hour", async () => {
    const app = open();
    await app.load();
    await app.blobs.put("me", "text/plain", Buffer.from("x"));
    time += dayAndHour;
    expect(await countBlobs(app)).toBe(1);
    clock.pass(2_000);
    await expect.poll(() => countBlobs(app)).toBe(0);
    await app.blobs.put("me", "text/plain", Buffer.from("y"));
    time += dayAndHour;
    clock.pass(hour - 1);
    expect(await countBlobs(app)).toBe(1);
    clock.pass(1);
    await expect.poll(() => countBlobs(app)).toBe(0);
    expect(told).toEqual([]);
  });

  test("leaves no timer and reports no error when closed during a sweep", async () => {
    const app = open();
    await app.load();
    clock.pass(2_000);
    await app.close();
    await app.close();
    expect(clock.pending).toBe(0);
    expect(told).toEqual([]);
    await expect(app.blobs.stat("me", "blob:x")).rejects.toMatchObject({ code: "CLOSED" });
  });

  test.each(["data", "data/blobs"])(
    "rejects and logs blobs if %s is a file, and stores them after it was removed",
    async (place) => {
      const file = path.join(directory, place);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, "");
      const { toolbox } = open(path.join(directory, "data"));
      const caller = { owner: "me", transport: "cli", skills } as const;
      const create = () => toolbox.call("create_blob", { content: "x", kind: "text/plain" }, caller);
      await expect(create()).rejects.toMatchObject({ code: "QUOTA_EXCEEDED", facts: { limit: "disk" } });
      expect(told).toContainEqual(expect.stringMatching(/^warning Blobs cannot be stored: .* E\w+: .*data/));
      rmSync(file);
      expect(await create()).toMatchObject({ size_bytes: 1 });
    },
  );

  test("answers calls if the ledger cannot be written, and records them when it can", async () => {
    const data = path.join(directory, "data");
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(path.join(data, "ledger"), "");
    const { toolbox, ledger } = open(data);
    const guide = () => toolbox.call("load_skills_protocol_guide", {}, { owner: "me", transport: "cli", skills });
    await guide();
    expect(told).toEqual([expect.stringMatching(/^warning Uses of skills cannot be recorded in /)]);
    rmSync(path.join(data, "ledger"));
    await guide();
    expect(await readAll(ledger)).toHaveLength(1);
  });

  test.runIf(process.platform === "linux")(
    "opens if the data directory cannot be created, and rejects blobs",
    async () => {
      const { toolbox } = open("/proc/acp-skills-test/data");
      const input = { content: "x", kind: "text/plain" };
      await expect(toolbox.call("create_blob", input, { owner: "me", transport: "cli", skills })).rejects.toMatchObject(
        {
          code: "QUOTA_EXCEEDED",
          facts: { limit: "disk" },
        },
      );
      await toolbox.call("load_skills_protocol_guide", {}, { owner: "me", transport: "cli", skills });
    },
  );

  test("enforces the configured blob limits and describes them in the guide", async () => {
    const app = openApp(
      readOptions(
        {
          dataDirectory: path.join(directory, "data"),
          blobs: { maxBlobBytes: 2 * 1024 * 1024, quotaBytes: 3, maxBlobs: 7, ttlMs: 2 * hour },
        },
        { clock },
      ),
    );
    opened.push(app);
    const caller = { owner: "me", transport: "cli", skills } as const;
    const create = (content: string) => app.toolbox.call("create_blob", { content, kind: "text/plain" }, caller);
    await create("xyz");
    await expect(create("x")).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      facts: { limit: "store", maxBytes: 3, maxBlobs: 7 },
    });
    await expect(create("x".repeat(2 * 1024 * 1024 + 1))).rejects.toMatchObject({ code: "BLOB_TOO_LARGE" });
    const { content } = (await app.toolbox.call("load_skills_protocol_guide", {}, caller)) as { content: string };
    expect(content).toContain("up to 2 MiB");
    expect(content).toContain("gone after 2 hours");
  });

  test("shares file hashes between the tools and the MCP server", async () => {
    const bytes = memorySkillBytes(files);
    let hashed = 0;
    const source = {
      files,
      bytes: { ...bytes, sha256: (file: string, signal: AbortSignal) => (hashed++, bytes.sha256(file, signal)) },
    };
    const app = openApp(readOptions({ dataDirectory: path.join(directory, "data") }, { clock }), { source });
    opened.push(app);
    const caller = { owner: "me", skills };
    await app.toolbox.call("describe_skill", { name: "alpha" }, { ...caller, transport: "cli" });
    expect(hashed).toBe(1);
    const server = openLoopbackServer(app);
    const address = await server.open({ ...caller, transport: "mcp" });
    const { message } = await rawRequest(address, modernRequest("skills/list"));
    expect(message.result?.skills).toMatchObject([{ uri: "skill://alpha/SKILL.md" }]);
    expect(hashed).toBe(1);
    await server.close();
  });
});
