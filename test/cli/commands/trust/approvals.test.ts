import { beforeEach, describe, expect, test } from "vitest";
import { type CliRun, runCli, unfolded } from "../../run-cli.ts";
import { userName } from "../../../../src/base/processes/live-process.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

async function cli(...args: string[]): Promise<CliRun> {
  const env = { ACP_SKILLS_HOME: project.at("data"), HOME: project.at("home") };
  return await runCli(args, { cwd: project.directory, env });
}

async function approvals(...args: string[]): Promise<CliRun> {
  return await cli("approvals", ...args, "--skills", "own");
}

async function listed(): Promise<Record<string, unknown>[]> {
  const { stdout } = await approvals("list", "--json");
  return (JSON.parse(stdout) as { approvals: Record<string, unknown>[] }).approvals;
}

const manifest = (name: string, permissions: string) =>
  `name = "${name}"\nversion = "1.0.0"\ndescription = "Does ${name}."\nkind = "action"\n[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n[permissions]\n${permissions}\n`;

beforeEach(() => {
  project.write("own/deploy/SKILL.md", "---\nname: deploy\n---\n");
  project.write("own/deploy/skill.toml", manifest("deploy", 'network = ["https://api.example"]'));
  project.write("own/deploy/main.py", "def main(): return 1\n");
  project.write("own/plain/SKILL.md", "---\nname: plain\ndescription: Nothing beyond the sandbox.\n---\n");
});

describe("acp-skills approvals", () => {
  test("grants exactly the installed version, lists it, and revokes it", async () => {
    const granted = await approvals("grant", "deploy", "--json");
    expect(granted).toMatchObject({ code: 0 });
    expect(granted.stderr).toMatch(
      /^acp-skills: granted grant_[0-9a-f]{16}: Host api\.example: run deploy 1\.0\.0 \([0-9a-f]{12}\)\n$/,
    );
    const { id, digest } = JSON.parse(granted.stdout) as { id: string; digest: string };
    expect(await listed()).toMatchObject([
      {
        type: "grant",
        id,
        skill: "deploy",
        digest,
        scope: "everywhere",
        capabilities: { network: ["https://api.example"] },
        via: "cli",
      },
    ]);
    expect((await approvals("list")).stdout).toMatch(/^deploy +1\.0\.0 +[0-9a-f]{12} +everywhere .*may connect to/m);
    expect(await approvals("revoke", "deploy")).toMatchObject({
      code: 0,
      stderr: `acp-skills: revoked ${id} of deploy, everywhere\n`,
    });
    expect(await listed()).toEqual([]);
    expect((await cli("ledger")).stdout).toMatch(/grant +deploy[^]*revoke +deploy/);
  });

  test("blocks every version of a skill, until that is revoked", async () => {
    await approvals("grant", "deploy");
    expect(await approvals("block", "deploy")).toMatchObject({
      code: 0,
      stderr: "acp-skills: blocked deploy everywhere\n",
    });
    project.write("own/deploy/main.py", "def main(): return 2\n");
    expect(await listed()).toContainEqual(
      expect.objectContaining({ type: "block", skill: "deploy", from: "own", scope: "everywhere", via: "cli" }),
    );
    const refused = await approvals("grant", "deploy");
    expect(refused).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("You blocked the skill deploy. You can undo that with:\n  ") as string,
    });
    expect((await cli("ledger")).stdout).toMatch(/block +deploy/);
    expect(refused.stderr).toContain("acp-skills approvals unblock deploy");
    expect(await approvals("unblock", "deploy")).toMatchObject({
      code: 0,
      stderr: "acp-skills: revoked the block of deploy, everywhere\n",
    });
    // The grant from before is for the bytes of before.
    expect(await listed()).toMatchObject([{ type: "grant", skill: "deploy" }]);
    expect(await approvals("grant", "deploy")).toMatchObject({ code: 0 });
  });

  test("blocks a skill of the project in the project only, and one that needs no approval", async () => {
    project.write(".agents/skills/plain/SKILL.md", "---\nname: plain\ndescription: Of the project.\n---\n");
    expect(await cli("approvals", "block", "plain", "--json")).toMatchObject({ code: 0 });
    expect(await listed()).toMatchObject([
      { type: "block", skill: "plain", from: "project", project: project.directory },
    ]);
    expect(await approvals("block", "deploi")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("deploy") as string,
    });
    expect(await approvals("block")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("missing NAME") as string,
    });
  });

  test("block --scope says where, for skills of a person and of a project", async () => {
    expect((await approvals("block", "plain", "--scope", "project")).stderr).toContain("blocked plain in this project");
    expect(await listed()).toMatchObject([
      { type: "block", from: "own", scope: "project", project: project.directory },
    ]);
    project.write(".agents/skills/theirs/SKILL.md", "---\nname: theirs\ndescription: Of the project.\n---\n");
    await approvals("block", "theirs", "--scope", "everywhere");
    expect(await listed()).toContainEqual(
      expect.objectContaining({ type: "block", skill: "theirs", from: "project", scope: "everywhere" }),
    );
    expect((await approvals("unblock", "theirs")).code).toBe(0);
    expect(await listed()).toHaveLength(1);
  });

  test("revoke NAME is for here and everywhere; an ID and --all are for other projects, too", async () => {
    project.write("other/x", "");
    const grant = ["grant", "deploy", "--scope", "project"];
    await approvals(...grant);
    await approvals(...grant, "--cwd", "other");
    expect((await approvals("revoke", "deploy")).stderr).toMatch(/^acp-skills: revoked grant_\S+ of deploy, in \S+\n$/);
    expect(await listed()).toMatchObject([{ project: project.at("other") }]);
    const elsewhere = await approvals("revoke", "deploy");
    expect(elsewhere).toMatchObject({ code: 3 });
    expect(elsewhere.stderr).toContain(`in other projects only (${project.at("other")}): name the ID, or add --all`);
    expect((await approvals("revoke", "deploy", "--all")).stderr).toContain(`of deploy, in ${project.at("other")}`);
    await approvals(...grant, "--cwd", "other");
    const [{ id } = {}] = await listed();
    expect((await approvals("revoke", String(id))).code).toBe(0);
    expect(await listed()).toEqual([]);
  });

  test("the ledger says what was decided, where, by whom and how it came, also after it was taken back", async () => {
    await approvals("grant", "deploy", "--scope", "project");
    const { stdout: exported } = await approvals("export");
    await approvals("revoke", "deploy");
    project.write("theirs.json", exported.replace(/"who": "[^"]*"/, '"who": "kim"'));
    await approvals("import", "theirs.json");
    await approvals("block", "plain");
    expect((await approvals("list")).stdout).toMatch(/^deploy .* kim \(imported\) /m);
    const { uses } = JSON.parse((await cli("ledger", "--json")).stdout) as { uses: Record<string, unknown>[] };
    const here = { skill: "deploy", project: project.directory, caller: userName(), door: "cli" };
    expect(uses).toMatchObject([
      { ...here, event: "grant", about: "host api.example", grant: expect.stringMatching(/^grant_/) as string },
      {
        ...here,
        event: "revoke",
        about: expect.stringMatching(/^host api\.example, given by \S+, \S+Z, cli$/) as string,
      },
      { ...here, event: "import", about: expect.stringMatching(/^host api\.example, given by kim, /) as string },
      { event: "block", skill: "plain", outcome: "denied", project: null, caller: userName() },
    ]);
  });

  test("a grant names bytes: it is shown as another version after a change, with what changed", async () => {
    await approvals("grant", "deploy");
    expect((await approvals("show", "deploy")).stdout).toMatch(/^installed +yes$/m);
    project.write("own/deploy/main.py", "def main(): return 2\n");
    const { stdout } = await approvals("show", "deploy");
    expect(stdout).toMatch(/^installed +another version, or none$/m);
    expect(stdout).toMatch(/^changed +main\.py$/m);
  });

  test("NAME@DIGEST is granted only while the installed bytes are those", async () => {
    const { stdout } = await approvals("grant", "deploy", "--json");
    const { digest } = JSON.parse(stdout) as { digest: string };
    await approvals("revoke", "deploy");
    project.write("own/deploy/main.py", "def main(): return 2\n");
    expect(await approvals("grant", `deploy@${digest}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("the installed deploy is another version") as string,
    });
    expect(await listed()).toEqual([]);
  });

  test("--scope, --expires and --called-by narrow a grant", async () => {
    project.write("own/report/SKILL.md", "---\nname: report\n---\n");
    project.write("own/report/skill.toml", manifest("report", "").replace("[permissions]\n", ""));
    project.write("own/report/main.py", "def main(): return 1\n");
    await approvals("grant", "deploy", "--scope", "project", "--expires", "30d", "--called-by", "report");
    expect(await listed()).toMatchObject([
      { scope: "project", project: project.directory, called_by: { skill: "report" } },
    ]);
    const [{ expires } = {}] = await listed();
    expect(Date.parse(String(expires))).toBeGreaterThan(Date.now() + 29 * 86_400_000);
  });

  test("a skill that requests nothing needs no approval", async () => {
    expect(await approvals("grant", "plain")).toEqual({
      code: 0,
      stdout: "",
      stderr: "acp-skills: plain 0.0.0 requests nothing beyond its sandbox: it needs no approval\n",
    });
  });

  test("--json also says that nothing is to be approved, or that a policy is against it", async () => {
    expect(JSON.parse((await approvals("grant", "plain", "--json")).stdout)).toMatchObject({
      allowed: true,
      id: null,
      skill: "plain",
    });
    project.write("acp-skills.policy.json", '{ "approvals": "session" }');
    const { code, stdout } = await approvals("grant", "deploy", "--json");
    expect([code, JSON.parse(stdout)]).toMatchObject([
      3,
      { allowed: false, skill: "deploy", why: expect.stringContaining("only when it asks") as string },
    ]);
  });

  test("--project lets models read the skills of the project, until that is revoked", async () => {
    expect(await approvals("grant", "--project")).toMatchObject({ code: 0 });
    expect(await listed()).toMatchObject([{ type: "trusted-project", project: project.directory }]);
    expect((await cli("ledger")).stdout).toMatch(/grant .*models may read the skills that came with/);
    expect(await approvals("revoke", "--project")).toMatchObject({
      code: 0,
      stderr: `acp-skills: models may no longer read the skills that came with ${project.directory}\n`,
    });
    expect(await approvals("revoke", "--project")).toMatchObject({ code: 3 });
    expect(await listed()).toEqual([]);
  });

  test("what one machine exports another one imports, without what expired and projects that are not there", async () => {
    await approvals("grant", "deploy");
    await approvals("grant", "--project");
    const { stdout } = await approvals("export");
    const value = JSON.parse(stdout) as { scopes: { project?: string; grants: { expires?: string }[] }[] };
    await approvals("revoke", "deploy");
    await approvals("revoke", "--project");
    project.write("all.json", stdout);
    expect(await approvals("import", "all.json")).toMatchObject({ code: 0 });
    expect(await listed()).toHaveLength(2);
    await approvals("revoke", "deploy");
    for (const scope of value.scopes) {
      if (scope.project !== undefined) scope.project = project.at("elsewhere");
      for (const grant of scope.grants) grant.expires = "2026-01-01T00:00:00.000Z";
    }
    project.write("old.json", JSON.stringify(value));
    const old = await approvals("import", "old.json");
    expect(old.code).toBe(3);
    expect(old.stderr).toContain("elsewhere does not exist here; its approvals were not imported: --for-project DIR");
    expect(old.stderr).toContain("1 answer expired, not imported");
    expect(await listed()).toHaveLength(1);
    project.write("mine/x", "");
    const mine = await approvals("import", "old.json", "--for-project", "mine");
    expect(mine.stderr).toContain(`1 answer for ${project.at("mine")}`);
    expect(await listed()).toContainEqual(
      expect.objectContaining({ type: "trusted-project", project: project.at("mine"), via: "import" }),
    );
  });

  test("an approval that cannot be stored is not blamed on a policy", async () => {
    project.write("data/trust", "not a directory");
    const { code, stderr } = await approvals("grant", "deploy");
    expect(code).toBe(3);
    expect(stderr).toContain("acp-skills: The approval of deploy could not be stored: nothing was granted.");
    expect(stderr).not.toContain("policy");
  });

  test.each([
    [["grant"], "missing NAME"],
    [["grant", "deploi"], "unknown skill deploi; did you mean deploy?"],
    [["grant", "deploy@abc"], "a digest has 64 hexadecimal digits"],
    [["grant", "deploy", "--expires", "2020-01-01"], "--expires 2020-01-01 is in the past"],
    [["revoke"], "missing NAME"],
    [["revoke", "deploy"], "no approval of deploy"],
    [["show", "deploy"], "no approval of deploy"],
    [["import"], "missing FILE"],
    [["import", "none.json"], "none.json cannot be read: ENOENT: no such file or directory; nothing was imported"],
    [["import", "a".repeat(300)], "cannot be read: ENAMETOOLONG: name too long; nothing was imported"],
    [["import", "own/deploy/main.py"], "not JSON"],
    [["allow", "deploy"], "unknown action allow"],
    [["revoke", "deploy", "--scope", "project"], "approvals revoke has no option --scope"],
    [["block", "deploy", "--expires", "1d"], "approvals block has no option --expires"],
    [["list", "--all"], "approvals list has no option --all"],
    [["import", "none.json", "--for-project", "none"], "none.json cannot be read: ENOENT"],
  ])("%j is refused with a precise message", async (args, message) => {
    const { code, stderr } = await approvals(...args);
    expect(code).toBeGreaterThan(0);
    expect(unfolded(stderr)).toContain(message);
  });

  test("a file of another format grants nothing", async () => {
    project.write("foreign.json", '{"format":"acp-skills exported approvals 9","exported":"2026-01-01T00:00:00Z"}');
    const { code, stderr } = await approvals("import", "foreign.json");
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("not exported by acp-skills approvals export (/format"),
    ]);
  });
});
