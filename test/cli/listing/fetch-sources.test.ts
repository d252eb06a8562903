import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type OpenServer, openServer } from "../../serve/open-server.ts";
import { type CliRun, runCli } from "../run-cli.ts";
import { defaultConfig } from "../../../src/serve/config.ts";

let cwd = "";
let server: OpenServer;
let isOpen = true;
beforeEach(async () => {
  cwd = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-sources-")));
  server = await openServer({
    skills: {
      "notes/SKILL.md": "---\nname: notes\ndescription: Takes notes.\n---\nWrite them down.\n",
      "shout/SKILL.md": "---\nname: shout\ndescription: Shouts.\n---\n",
      "shout/scripts/shout.py": 'print("LOUD")\n',
    },
    access: { ...defaultConfig.access, default: "public" },
  });
  isOpen = true;
});
afterEach(async () => {
  if (isOpen) await server.close();
  rmSync(cwd, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<CliRun> =>
  runCli(args, { cwd, env: { ACP_SKILLS_HOME: path.join(cwd, "data") } });

async function goDown(): Promise<void> {
  await server.close();
  isOpen = false;
}

describe("--source", () => {
  test("fetches before listing, and names the source of each skill", async () => {
    const { code, stdout, stderr } = await run("list", "--json", "--source", server.url);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { skills } = JSON.parse(stdout) as { skills: { name: string; _meta: Record<string, { source: string }> }[] };
    expect(skills.map(({ name, _meta }) => [name, _meta["acp-skills"]?.source])).toEqual([
      ["notes", `${server.url}/`],
      ["shout", `${server.url}/`],
    ]);
    expect((await run("list", "--source", server.url)).stdout).toContain(`${server.url}/`);
    const shown = await run("show", "notes", "--source", server.url);
    expect(shown.stdout).toContain("Write them down.");
    expect(shown.stdout).toMatch(new RegExp(`source +${server.url}/`));
  });

  test("says of a skill of a source that another one takes precedence over, since no path of it can be checked", async () => {
    mkdirSync(path.join(cwd, ".agents/skills/notes"), { recursive: true });
    writeFileSync(path.join(cwd, ".agents/skills/notes/SKILL.md"), "---\nname: notes\ndescription: Mine.\n---\n");
    const { stderr } = await run("list", "--source", server.url);
    expect(stderr).toContain(
      `acp-skills: ${server.url}/: skill notes in ${path.join(cwd, ".agents/skills/notes")} takes precedence over this one\n`,
    );
    expect(stderr).not.toContain("details: ");
  });

  test("lists the last good copy when the source is down, and says so", async () => {
    await run("list", "--source", server.url);
    await goDown();
    const { code, stdout, stderr } = await run("list", "--source", server.url);
    expect(code).toBe(0);
    expect(stdout).toContain("notes");
    expect(stderr).toContain("The last good copy of");
  });

  test("asks nothing of a source that a policy denies, and says so", async () => {
    writeFileSync(path.join(cwd, "acp-skills.policy.json"), JSON.stringify({ sources: { deny: [server.url] } }));
    const { code, stdout, stderr } = await run("list", "--source", server.url);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("sources.deny");
  });

  test("exits with 3 when there is no copy, and lists the rest", async () => {
    await goDown();
    const { code, stdout, stderr } = await run("list", "--source", server.url);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("There is no copy of them yet.");
  });

  test("a script runs only once it was approved, also where it needs nothing beyond its sandbox", async () => {
    const args = ["run", "shout", "--script", "scripts/shout.py", "--source", server.url] as const;
    const refused = await run(...args);
    expect(refused.code).toBe(3);
    const [, command = ""] = /acp-skills (approvals grant \S+ --source \S+)/.exec(refused.stderr) ?? [];
    expect(command).toContain("approvals grant shout@sha256:");
    const granted = await run(...command.replace(/[.]$/, "").split(" "));
    expect({ code: granted.code, stderr: granted.stderr }).toMatchObject({ code: 0 });
    const done = await run(...args);
    expect(done.stderr + done.stdout).toContain("LOUD");
    expect(done.code).toBe(0);
  });

  test("a text that names no source is refused without repeating it, because it may hold a token", async () => {
    const { code, stderr } = await run("list", "--source", "ftp://user:geheim@x.example");
    expect(code).toBe(2);
    expect(stderr).not.toContain("geheim");
  });
});
