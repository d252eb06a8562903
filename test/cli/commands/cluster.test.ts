import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { openDatabase, parseClusterUrl } from "../../../src/cluster/database.ts";
import { clusterNodeFault } from "../../../src/cluster/open-cluster.ts";
import { addMember, addRun } from "../../cluster/admin/busy-cluster.ts";
import { clusterFault } from "../../cluster/modern-node.ts";
import { type PostgresServer, startPostgres } from "../../cluster/postgres.ts";
import { runCli, unfolded } from "../run-cli.ts";
import { useTemporaryProject } from "../temporary-project.ts";

const project = useTemporaryProject();

async function cluster(line: string, env: Readonly<Record<string, string>> = {}) {
  const run = await runCli(["cluster", ...line.split(" ")], { cwd: project.directory, env });
  return { ...run, stderr: unfolded(run.stderr) };
}

test.each([
  ["status", /which database\? Give --cluster URL, or set ACP_SKILLS_CLUSTER/],
  ["stat", /unknown action stat; use migrate, status, callers, tokens, policy or demo/],
  ["status now", /unexpected argument now/],
  ["status --cluster postgres://acp:hunter2@db/x", /others can read a password on a command line/],
  ["status --cluster mysql://db/x", /needs the URL of a PostgreSQL database|needs Node/],
])("refuses: cluster %s", async (line, message) => {
  const { code, stdout, stderr } = await cluster(line);
  expect(stderr).toMatch(message);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).not.toContain("hunter2");
});

test.skipIf(clusterNodeFault() === undefined)("says which Node it needs on an older one", async () => {
  const { code, stderr } = await cluster("status --cluster postgres://127.0.0.1:1/x");
  expect([code, stderr]).toEqual([2, expect.stringMatching(/--cluster needs Node 22\.12 or newer; this is Node 2/)]);
});

describe.skipIf(clusterFault())("a cluster of a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.stop());

  async function openNew() {
    const url = await server.newDatabase();
    const database = await openDatabase(parseClusterUrl(url), { log: silentLog, clock: systemClock, connections: 2 });
    return { url, database, env: { ACP_SKILLS_CLUSTER: url } };
  }

  test("is created by migrate, which has nothing to do the second time", async () => {
    const { database, env } = await openNew();
    await database.query("drop schema acp_skills cascade");
    expect(await cluster("status", env)).toMatchObject({ code: 2, stderr: expect.stringContaining("cluster migrate") as string }); // prettier-ignore
    const first = await cluster("migrate", env);
    expect([first.code, first.stderr]).toEqual([0, ""]);
    expect(first.stdout).toMatch(/^applied 1 members\n(applied .+\n)*applied job queue\n$/);
    expect(await cluster("migrate", env)).toMatchObject({ code: 0, stdout: "The tables are those of this version.\n" });
    const tables = await database.query(
      "select 1 from information_schema.tables where table_schema = 'acp_skills_jobs'",
    );
    expect(tables.length).toBeGreaterThan(0);
    await database.close();
  });

  test("shows members, the queue, leases and tables, and exits with 1 where something is wrong", async () => {
    const { database, env, url } = await openNew();
    expect(await cluster("status", env)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^members +none$/m) as string }); // prettier-ignore
    const worker = await addMember(database, "worker", { labels: ["tier=bubblewrap"], host: "box\u001b[31m" });
    await addRun(database, "run_a", { labels: ["gpu"], age: 200 });
    await addRun(database, "run_b", { status: "running", worker, lease: 15 });
    const { code, stdout } = await cluster("status", env);
    expect(code).toBe(1);
    expect(stdout).toContain(parseClusterUrl(url).label);
    expect(stdout).toMatch(/^worker +box\\u\{1b\}\[31m +7 +\S+ +1 min +1\d s +2 +tier=bubblewrap$/m);
    expect(stdout).toMatch(/^1 +3 min +gpu$/m);
    expect(stdout).toMatch(/^run_b +1 s +1\d s +1 +box/m);
    expect(stdout).toMatch(/^acp_skills\.members +0\.\d/m);
    expect(stdout).toContain("1 run waits for gpu, which no worker has");
    expect(stdout).not.toContain("\u001b");
    await database.close();
  });

  test("that does not answer is reported with its name, without a password", async () => {
    const { code, stderr } = await cluster("status", { ACP_SKILLS_CLUSTER: "postgres://acp:hunter2@127.0.0.1:1/x" });
    expect([code, stderr]).toEqual([2, expect.stringContaining("postgres://acp@127.0.0.1:1/x cannot be used")]);
    expect(stderr).not.toContain("hunter2");
  });
});
