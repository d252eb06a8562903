import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../../run-cli.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();
const value = "ghp_hunter2hunter2";
const only = ["--no-default-roots", "--skills", "skills"];

/** A server on loopback that answers with the credentials that it gets, and a skill with a secret for it. */
async function openScene(): Promise<{
  readonly host: string;
  readonly asked: readonly string[];
  readonly env: Record<string, string>;
}> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method ?? ""} ${request.url ?? ""} ${request.headers.authorization ?? ""}`);
    response.end(JSON.stringify({ you: request.headers.authorization }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  project.write("skills/a.b/SKILL.md", "---\nname: A\nshort_description: Acts.\n---\n");
  project.write(
    "skills/a.b/skill.toml",
    [
      'name = "a.b"\nversion = "1.0.0"\ndescription = "Acts."\nkind = "action"',
      '[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"',
      `[permissions]\nsecrets = [{ name = "GH_TOKEN", hosts = ["${host}"], scheme = "token" }]\n`,
    ].join("\n"),
  );
  project.write(
    "skills/a.b/code/main.py",
    `def main():\n    answer = runtime.fetch("${host}/user?page=1", "post", body="x")\n    return [answer.status, answer.json()]\n`,
  );
  return { host, asked, env: { ACP_SKILLS_HOME: project.at("home-data"), GH_TOKEN: value } };
}

test("a skill uses a secret that it cannot read, and the ledger says with which host", async () => {
  const { host, asked, env } = await openScene();
  const args = ["run", "a.b", "--grant", "a.b:secret-uses", "--json", ...only];
  const { code, stdout, stderr } = await runCli(args, { cwd: project.directory, env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ output: [200, { you: "token ***" }] });
  expect(asked).toEqual([`POST /user?page=1 token ${value}`]);
  const ledger = await runCli(["ledger", "--json"], { cwd: project.directory, env });
  const authority = host.slice("http://".length);
  expect(JSON.parse(ledger.stdout)).toMatchObject({
    uses: [
      { event: "start", about: `use of 1 secret (GH_TOKEN with ${host})`, grant: "--grant a.b:secret-uses" },
      { event: "send", about: `GH_TOKEN to ${authority}: POST, status 200`, outcome: "completed", skill: "a.b" },
      { tool: "execute_skill", outcome: "completed" },
    ],
  });
  expect(ledger.stdout).not.toMatch(/page=1|hunter2/);
});

test("without that permission it is refused, also where it may read secrets", async () => {
  const { host, asked, env } = await openScene();
  for (const grant of [[], ["--grant", "a.b:secrets"]]) {
    const { code, stderr } = await runCli(["run", "a.b", ...grant, ...only], { cwd: project.directory, env });
    expect(code).not.toBe(0);
    expect(stderr).toContain(`needs approval to use GH_TOKEN with ${host}`);
  }
  expect(asked).toEqual([]);
});

test("show, check and env say what is wanted", async () => {
  const { host, env } = await openScene();
  const options = { cwd: project.directory, env };
  expect((await runCli(["show", "a.b", ...only], options)).stdout).toContain(`secret GH_TOKEN only for ${host}`);
  expect((await runCli(["env", "a.b", ...only], options)).stdout).toContain("secret GH_TOKEN");
  expect((await runCli(["check", "skills"], options)).code).toBe(0);
  project.write(
    "skills/a.b/skill.toml",
    'name = "a.b"\nversion = "1.0.0"\ndescription = "Acts."\nkind = "instruction"\n[permissions]\nsecrets = [{ name = "GH_TOKEN", hosts = ["*.github.com"] }]\n',
  );
  const checked = await runCli(["check", "skills"], options);
  expect(checked.code).not.toBe(0);
  expect(checked.stdout + checked.stderr).toContain(
    'host of the secret "GH_TOKEN": "*.github.com" has a `*`, but a secret is sent only to hosts that are named',
  );
});
