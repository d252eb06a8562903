import { execFileSync } from "node:child_process";
import { mkdtempSync, openSync, closeSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { migrate } from "../../src/cluster/database.ts";
import { knownMigrations } from "../../src/cluster/database/migrate.ts";
import { type CuttingProxy, openCuttingProxy } from "./cutting-proxy.ts";
import { clusterFault } from "./modern-node.ts";
import { type OpenCluster, type OpenServer, openMembers } from "./open-members.ts";

/** The gate cuts connections for as long as a network may be away. */
const cutMs = process.env["ACP_SKILLS_GATE"] === "1" ? 30_000 : 3_000;
const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));
const code = (text: string) => ({ language: "python", code: text });
const sleeping = (seconds: number, value: number): object =>
  code(`import time\ndef main():\n    time.sleep(${seconds})\n    return ${value}`);
const call = async (server: OpenServer, args: object): Promise<unknown> =>
  await server.app.toolbox.call("run_code", args, server.caller);

describe.skipIf(clusterFault())("a cluster behind a bad network", () => {
  let cluster: OpenCluster;
  let proxy: CuttingProxy;
  beforeAll(async () => {
    cluster = await openMembers({ through: async (port) => (proxy = await openCuttingProxy(port)).port });
    cluster.writeSkill("greet", { "SKILL.md": "---\nname: greet\ndescription: Greets.\n---\nSay hello.\n" });
  }, 60_000);
  afterEach(async () => {
    proxy.mend();
    await cluster.closeMembers();
  });
  afterAll(async () => {
    await cluster.close();
    await proxy.close();
  });

  test(`goes on with a run, and takes a new one, when all connections are cut for ${cutMs} ms`, async () => {
    const server = await cluster.openServer();
    await cluster.openWorker({ leaseMs: cutMs * 2 });
    const running = call(server, sleeping(1, 1));
    await expect.poll(() => server.events.some(({ type }) => type === "started")).toBe(true);
    proxy.cut();
    const submitted = call(server, sleeping(0, 2));
    submitted.catch(() => undefined);
    const listed = await server.app.toolbox.call("list_skills", {}, server.caller);
    expect(JSON.stringify(listed)).toContain("greet");
    await pause(cutMs);
    proxy.mend();
    expect(await running).toMatchObject({ status: "completed", output: 1 });
    // Runs are submitted again for half a minute.
    if (cutMs < 30_000) expect(await submitted).toMatchObject({ status: "completed", output: 2 });
    else await submitted.catch((error: unknown) => expect(error).toMatchObject({ code: "RUNTIME_BUSY" }));
    expect(await call(server, sleeping(0, 3))).toMatchObject({ status: "completed", output: 3 });
  }, 120_000);

  test("notices connections that are silently gone", async () => {
    const server = await cluster.openServer();
    await cluster.openWorker({ leaseMs: 60_000 });
    expect(await call(server, sleeping(0, 1))).toMatchObject({ output: 1 });
    cluster.log.splice(0);
    proxy.stall();
    await expect
      .poll(() => cluster.log.some((line) => line.includes("Messages of the cluster do not arrive")), {
        timeout: 20_000,
      })
      .toBe(true);
    proxy.mend();
    expect(await call(server, sleeping(0, 2))).toMatchObject({ output: 2 });
  }, 120_000);

  test("works with a slow database, only later", async () => {
    const server = await cluster.openServer();
    await cluster.openWorker({ leaseMs: 20_000 });
    proxy.slow(50);
    const results = await Promise.all([1, 2, 3].map(async (value) => await call(server, sleeping(0, value))));
    expect(results).toMatchObject([{ output: 1 }, { output: 2 }, { output: 3 }]);
  }, 120_000);

  test("goes on through a migration, and members whose version is too old for it are refused with a sentence", async () => {
    const server = await cluster.openServer();
    await cluster.openWorker();
    const own = knownMigrations();
    const next = {
      number: own.length + 1,
      name: "next",
      oldest: own.length,
      sql: "alter table acp_skills.runs add column next text;",
    };
    await migrate(cluster.database, [...own, next]);
    expect(await call(server, sleeping(0, 1))).toMatchObject({ output: 1 });
    const beside = await cluster.openServer();
    expect(await call(beside, sleeping(0, 2))).toMatchObject({ output: 2 });
    const last = {
      ...next,
      number: next.number + 1,
      oldest: next.number + 1,
      sql: "alter table acp_skills.runs drop column next;",
    };
    await migrate(cluster.database, [...own, next, last]);
    await expect(cluster.openServer()).rejects.toThrow(
      /has schema \d+, and this version of acp-skills knows \d+ only: update acp-skills here/,
    );
    await cluster.database.query("delete from acp_skills.migrations where number > $1", [own.length]);
  }, 60_000);
});

/** A file system of its own that can be filled; undefined where none can be mounted. */
function mountSmall(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-small-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=160m,mode=0777", "tmpfs", directory], { stdio: "ignore" });
    return directory;
  } catch {
    rmSync(directory, { recursive: true });
    return undefined;
  }
}

function unmount(directory: string): void {
  execFileSync("umount", ["-l", directory]);
  rmSync(directory, { recursive: true, force: true });
}

function mountFault(): string | undefined {
  const directory = mountSmall();
  if (directory === undefined) return "no file system can be mounted";
  unmount(directory);
  return undefined;
}

describe.skipIf(clusterFault() ?? mountFault())("a cluster whose database has a full disk", () => {
  let mounted: string | undefined;
  let cluster: OpenCluster;
  beforeAll(async () => {
    mounted = mountSmall();
    cluster = await openMembers({ postgresIn: mounted });
    cluster.writeSkill("greet", { "SKILL.md": "---\nname: greet\ndescription: Greets.\n---\nSay hello.\n" });
  }, 60_000);
  afterAll(async () => {
    await cluster.close();
    if (mounted !== undefined) unmount(mounted);
  });

  test("refuses what would have to be stored, stores no half of it, and goes on when there is room again", async () => {
    const server = await cluster.openServer();
    await cluster.openWorker();
    expect(await call(server, sleeping(0, 1))).toMatchObject({ output: 1 });
    const filler = path.join(mounted ?? "", "filler");
    fill(filler);
    const put = async (): Promise<unknown> =>
      await server.app.toolbox.call(
        "create_blob",
        { kind: "text/plain", content: "x".repeat(9_000_000) },
        server.caller,
      );
    let refusal: unknown;
    for (let number = 0; number < 10 && refusal === undefined; number++)
      await put().catch((error: unknown) => (refusal = error));
    expect(refusal).toMatchObject({ code: "QUOTA_EXCEEDED", facts: { limit: "disk" } });
    expect(JSON.stringify(await server.app.toolbox.call("list_skills", {}, server.caller))).toContain("greet");
    rmSync(filler);
    await cluster.postgres.start().catch(() => undefined);
    await expect
      .poll(async () => await call(server, sleeping(0, 2)).catch(() => undefined), { timeout: 60_000, interval: 500 })
      .toMatchObject({ output: 2 });
    const [half] = await cluster.database.query<{ count: number }>(
      `select count(*)::integer as count from acp_skills.blobs b
       where not exists (select from acp_skills.blob_contents c where c.sha256 = b.sha256)`,
    );
    expect(half?.count).toBe(0);
  }, 180_000);
});

function fill(file: string): void {
  const descriptor = openSync(file, "w");
  try {
    for (let size = 1024 * 1024; size >= 1024; size /= 2) {
      try {
        for (;;) writeSync(descriptor, Buffer.alloc(size));
      } catch {
        // Smaller pieces may still fit.
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
