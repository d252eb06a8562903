import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../../../../src/base/log.ts";
import { systemClock } from "../../../../../src/base/clock.ts";
import { type Database, openDatabase, parseClusterUrl } from "../../../../../src/cluster/database.ts";
import { clusterFault } from "../../../../cluster/modern-node.ts";
import { type PostgresServer, startPostgres } from "../../../../cluster/postgres.ts";
import { type CliRun, runCli, unfolded } from "../../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../../temporary-project.ts";

const project = useTemporaryProject();

async function cli(...args: readonly string[]): Promise<CliRun> {
  const { stderr, ...run } = await runCli(args, { cwd: project.directory, env: { CI: "" } });
  return { ...run, stderr: unfolded(stderr).replaceAll("acp-skills: ", "") };
}

function writeSkill(name: string, { version = "1.0.0", body = "" } = {}): string {
  const text = skillText(name).replace("---\n\n", `metadata:\n  version: "${version}"\n---\n\n`);
  project.write(`skills/${name}/SKILL.md`, text + body);
  return `skills/${name}`;
}

test.each([
  [["publish", "skills/pdf"], "or to a cluster: --cluster URL, or ACP_SKILLS_CLUSTER"],
  [["publish", "--withdraw", "pdf"], "or to a cluster: --cluster URL, or ACP_SKILLS_CLUSTER"],
  [["publish", "--cluster", "postgres://127.0.0.1:1/x"], "name the directory of a skill, or a source"],
  [["publish", "--cluster", "postgres://a:secret@h/x", "skills/pdf"], "others can read a password on a command line"],
  [["publish", "--cluster", "postgres://127.0.0.1:1/x", "--withdraw", "pdf", "skills/pdf"], "takes no directories"],
  [["publish", "oci://h/x", "skills/pdf", "--withdraw", "pdf"], "--cluster and --withdraw are for a cluster"],
  [["publish", "oci://h/x"], "name the directories of skills"],
  [["publish", "--cluster", "postgres://127.0.0.1:1/x", "./absent"], "absent: no such directory"],
])("%j is refused: %s", async (args, why) => {
  writeSkill("pdf");
  const { code, stderr } = await cli(...args);
  expect(code).not.toBe(0);
  expect(stderr).toContain(why);
});

describe.skipIf(clusterFault())("in a cluster", () => {
  let server: PostgresServer;
  let url: string;
  let database: Database;
  beforeAll(async () => {
    server = await startPostgres();
    url = await server.newDatabase();
    database = await openDatabase(parseClusterUrl(url), { log: silentLog, clock: systemClock });
  }, 60_000);
  afterAll(async () => {
    await database.close();
    server.stop();
  });
  const published = async () =>
    await database.query("select slug, version, withdrawn_at is not null as withdrawn from acp_skills.catalog");

  test("versions of a directory are published once, never changed, and withdrawn", async () => {
    const directory = writeSkill("pdf");
    const first = await cli("publish", "--cluster", url, directory);
    expect(first).toMatchObject({ code: 0, stderr: "published pdf 1.0.0\n" });
    expect(first.stdout).toMatch(/^sha256:[0-9a-f]{64}\n$/);
    expect(await cli("publish", "--cluster", url, directory, "--json")).toMatchObject({
      code: 0,
      stderr: "unchanged pdf 1.0.0\n",
      stdout: expect.stringContaining('"published": false') as string,
    });
    writeSkill("pdf", { body: "More.\n" });
    const changed = await cli("publish", "--cluster", url, directory);
    expect(changed.code).not.toBe(0);
    expect(changed.stderr).toContain("versions never change; give the skill another version");
    writeSkill("pdf", { version: "1.1.0", body: "More.\n" });
    expect(await cli("publish", "--cluster", url, directory)).toMatchObject({ code: 0 });
    expect(await cli("publish", "--cluster", url, "--withdraw", "pdf@1.0.0")).toMatchObject({
      code: 0,
      stderr: "withdrew pdf 1.0.0\n",
    });
    expect(await cli("publish", "--cluster", url, "--withdraw", "absent")).toMatchObject({ code: 1 });
    expect(await published()).toEqual([
      { slug: "pdf", version: "1.1.0", withdrawn: false },
      { slug: "pdf", version: "1.0.0", withdrawn: true },
    ]);
  }, 60_000);

  test("nothing invalid is published", async () => {
    project.write("skills/broken/SKILL.md", "---\nname: broken\n---\n");
    const { code, stderr } = await cli("publish", "--cluster", url, "skills/broken");
    expect(code).not.toBe(0);
    expect(stderr).toContain("is not published: no agent can use it");
  });

  test("a skill of a source is downloaded and published", async () => {
    const source = createServer((request, response) => {
      if (request.url === "/.well-known/agent-skills/index.json") {
        const skills = [{ name: "sheet", description: "Sheets.", files: ["SKILL.md"] }];
        response.setHeader("content-type", "application/json").end(JSON.stringify({ skills }));
      } else if (request.url === "/.well-known/agent-skills/sheet/SKILL.md") response.end(skillText("sheet"));
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => source.listen(0, "127.0.0.1", resolve));
    const address = source.address();
    const port = typeof address === "object" ? address?.port : 0;
    const run = await cli("publish", "--cluster", url, `http://127.0.0.1:${port}`, "sheet");
    await new Promise((resolve) => source.close(resolve));
    expect(run).toMatchObject({ code: 0, stderr: "published sheet 0.0.0\n" });
    expect(await published()).toContainEqual({ slug: "sheet", version: "0.0.0", withdrawn: false });
  }, 60_000);
});
