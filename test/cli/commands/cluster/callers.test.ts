import { once } from "node:events";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { clusterFault } from "../../../cluster/modern-node.ts";
import { type PostgresServer, startPostgres } from "../../../cluster/postgres.ts";
import { runCli, startCli, unfolded } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

test.each([
  ["cluster callers", /use cluster callers list, callers add NAME or callers remove NAME/],
  ["cluster callers add", /use cluster callers list/],
  ["cluster callers list ci", /use cluster callers list/],
  ["cluster callers add ci --days 3", /cluster callers add has no option --days/],
  ["cluster status --skills x", /cluster status has no option --skills/],
  ["cluster tokens new", /use cluster tokens new NAME, tokens rotate NAME or tokens revoke NAME\|DIGEST/],
  ["cluster tokens new ci --days 0", /--days needs a number from 1 to 36500, not 0/],
  ["cluster tokens rotate ci --overlap x", /--overlap needs a number from 0 to 8760, not x/],
  ["cluster policy set", /use cluster policy show, policy set FILE or policy remove/],
  ["cluster policy set nowhere.json", /nowhere\.json: there is no such file/],
  ["ledger verify --cluster postgres://127.0.0.1:1/x", /the rows of a cluster are protected by its database/],
  ["approvals list --cluster postgres://acp:hunter2@db/x", /others can read a password on a command line/],
])("refuses: %s", async (line, message) => {
  const { code, stdout, stderr } = await runCli(line.split(" "), {
    cwd: project.directory,
    env: { ACP_SKILLS_CLUSTER: "postgres://127.0.0.1:1/x" },
  });
  expect(unfolded(stderr)).toMatch(message);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).not.toContain("hunter2");
});

describe.skipIf(clusterFault())("over a database", () => {
  let server: PostgresServer;
  let env: Readonly<Record<string, string>>;
  const started: ChildProcessWithoutNullStreams[] = [];
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  beforeEach(async () => {
    env = { ACP_SKILLS_CLUSTER: await server.newDatabase() };
    await run("cluster migrate");
  });
  afterAll(async () => {
    for (const child of started) {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "close");
    }
    server.stop();
  });

  async function run(line: string) {
    const { code, stdout, stderr } = await runCli(line.split(" "), { cwd: project.directory, env });
    return { code, stdout, stderr: unfolded(stderr) };
  }

  async function serve(...args: readonly string[]): Promise<string> {
    const child = startCli(["serve", "--port", "0", ...args], { cwd: project.directory, env });
    started.push(child);
    let printed = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (printed += text));
    return await vi.waitFor(
      () => {
        const url = /listening on (\S+)/.exec(printed)?.[1];
        if (url === undefined) throw new Error(`not ready: ${printed}`);
        return url;
      },
      { timeout: 20_000 },
    );
  }

  const statusOf = async (url: string, token: string): Promise<number> => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "list_skills", params: {} });
    return (await fetch(`${url}/rpc`, { method: "POST", headers, body })).status;
  };

  test("a token is accepted at every server, and refused at each within a second after it was revoked", async () => {
    project.write(".agents/skills/alpha/SKILL.md", skillText("alpha"));
    expect((await run("cluster callers add ci --skills alpha")).stderr).toMatch(/added ci/);
    const token = (await run("cluster tokens new ci --days 30")).stdout.trim();
    const urls = [await serve(), await serve()];
    for (const url of urls) expect(await statusOf(url, token)).toBe(200);
    const second = (await run("cluster tokens rotate ci --overlap 1")).stdout.trim();
    for (const url of urls) {
      await expect.poll(() => statusOf(url, second), { timeout: 1_000 }).toBe(200);
      expect(await statusOf(url, token)).toBe(200);
    }
    const listed = await run("cluster callers list --json");
    expect(JSON.parse(listed.stdout)).toMatchObject({ callers: [{ name: "ci", settings: { skills: ["alpha"] } }] });
    expect(listed.stdout).not.toContain(token);
    expect((await run("cluster callers list")).stdout).toMatch(/^ci +2 tokens +\w{12} until .*, \w{12} until/m);
    expect((await run("cluster tokens revoke ci")).stderr).toMatch(/revoked 2 tokens/);
    const revokedAt = performance.now();
    for (const url of urls)
      for (const each of [token, second]) await expect.poll(() => statusOf(url, each), { timeout: 1_000 }).toBe(401);
    expect(performance.now() - revokedAt).toBeLessThan(1_000);
  }, 60_000);

  test("a server for others begins without callers, and follows those that are added", async () => {
    const url = (await serve("--host", "0.0.0.0")).replace("0.0.0.0", "127.0.0.1");
    await run("cluster callers add ci");
    const token = (await run("cluster tokens new ci")).stdout.trim();
    await expect.poll(() => statusOf(url, token), { timeout: 2_000 }).toBe(200);
    expect(await statusOf(url, `${token}x`)).toBe(401);
  }, 60_000);

  test("what was done is in the ledger of the cluster, as lines for an export", async () => {
    await run("cluster callers add ci");
    await run("cluster callers remove ci");
    const { stdout } = await run("ledger --lines");
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows.map(({ event, about }) => [event, about])).toEqual([
      ["caller", "added the caller ci: {}"],
      ["caller", "removed the caller ci"],
    ]);
    expect((await run("ledger --since 2h")).stdout).toMatch(/removed the caller ci/);
  });

  test("a policy with an error is not stored, and one without is, until it is removed", async () => {
    project.write("bad.json", '{"skils": {}}');
    const refused = await run("cluster policy set bad.json");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/unknown key "skils"[^]*has errors/)]);
    expect((await run("cluster policy show")).stderr).toMatch(/has no policy/);
    project.write("good.json", '{"skills": {"deny": ["evil.*"]}}');
    expect((await run("cluster policy set good.json")).code).toBe(0);
    expect((await run("cluster policy show")).stdout).toBe('{"skills": {"deny": ["evil.*"]}}\n');
    expect((await run("cluster policy remove")).stderr).toMatch(/removed the policy of the cluster/);
  });

  test("approvals are given and revoked in the cluster, and this machine's are others", async () => {
    project.write(".agents/skills/alpha/SKILL.md", skillText("alpha"));
    expect((await run("approvals block alpha --scope everywhere")).code).toBe(0);
    expect((await run("approvals list")).stdout).toMatch(/alpha/);
    const here = await runCli(["approvals", "list"], { cwd: project.directory });
    expect(here.stdout).not.toMatch(/alpha/);
    expect((await run("approvals revoke alpha --all")).code).toBe(0);
    expect((await run("approvals list")).stdout).not.toMatch(/alpha/);
    expect((await run("ledger --lines")).stdout).toMatch(/"event":"block"[^]*"event":"revoke"/);
  });
});
