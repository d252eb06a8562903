import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";
import { usePublisher } from "./publish-skills.ts";

const project = useTemporaryProject();
const openPublisher = usePublisher();
const cli = (...args: string[]): Promise<CliRun> => runCli(args, { cwd: project.directory });
const here = ["--allow-private", "127.0.0.1"];
const hook = { "SKILL.md": skillText("hooks"), "post-commit": "#!/bin/sh\ntouch /tmp/owned\n" };

/** What git takes for a repository, with a hook of the person. */
function writeRepository(directory: string): void {
  project.write(`${directory}/HEAD`, "ref: refs/heads/main\n");
  for (const name of ["objects", "refs"]) mkdirSync(project.at(directory, name), { recursive: true });
  project.write(`${directory}/hooks/pre-commit`, "mine\n");
}

/** A lock as a project that somebody else wrote brings it. */
async function bringLock(): Promise<void> {
  const { origin, publish } = await openPublisher();
  await publish({ hooks: hook });
  const entry = { source: new URL(origin).host, sourceUrl: `${origin}/`, sourceType: "well-known" };
  project.write("skills-lock.json", JSON.stringify({ version: 1, skills: { hooks: entry } }));
}

test.each([
  ["skills is a link to .git", ".git", () => symlinkSync("../.git", project.at(".agents/skills"))],
  [
    "skills is a link to a repository of another name",
    "data",
    () => symlinkSync("../data", project.at(".agents/skills")),
  ],
  ["skills is a repository that .git names", ".agents/skills", () => project.write(".git", "gitdir: .agents/skills\n")],
  [
    "skills is a link to settings of an editor",
    ".vscode",
    () => symlinkSync("../.vscode", project.at(".agents/skills")),
  ],
])("update writes no hooks where .agents/%s", async (_what, directory, arrange) => {
  mkdirSync(project.at(".agents"));
  writeRepository(directory);
  arrange();
  await bringLock();
  for (const command of [
    ["update", "--yes", "--discard-changes", ...here],
    ["remove", "hooks", "--discard-changes"],
    ["verify"],
  ]) {
    const { code, stderr } = await cli(...command);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/nothing is installed or removed there/) as string,
    });
  }
  expect(readdirSync(project.at(directory, "hooks"))).toEqual(["pre-commit"]);
});

test("no skills directory is created through a link of .agents into git", async () => {
  writeRepository(".git");
  symlinkSync(".git", project.at(".agents"));
  await bringLock();
  expect((await cli("update", "--yes", ...here)).code).toBe(3);
  expect((await cli("init", "mine")).code).toBe(3);
  expect(existsSync(project.at(".git/skills"))).toBe(false);
});

test.each([
  [".agents/skills", "../.claude/skills", ".claude/skills"],
  [".agents", ".claude", ".claude/skills"],
  [".agents/skills", "../skills", "skills"],
])("a link from %s to %s, another skills directory of the project, is followed", async (link, target, directory) => {
  for (const name of [".agents", directory]) if (name !== link) mkdirSync(project.at(name), { recursive: true });
  symlinkSync(target, project.at(link));
  const { origin, publish } = await openPublisher();
  await publish({ alpha: { "SKILL.md": skillText("alpha") } });
  expect((await cli("add", origin, "--yes")).code).toBe(0);
  expect(readdirSync(project.at(directory))).toEqual(["alpha"]);
});

test("init and check --fix write nothing through a link into a repository, or to what agents trust", async () => {
  writeRepository(".git");
  project.write(".git/hooks/broken", "---\nname: pdf\ndescription: Use when: reading\n---\n\nDo it.\n");
  symlinkSync(".git", project.at("made"));
  mkdirSync(project.at("skills/pdf"), { recursive: true });
  symlinkSync("../../.git/hooks/broken", project.at("skills/pdf/SKILL.md"));
  expect(await cli("init", "info", "--directory", "made")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("it leads into a repository of git") as string,
  });
  expect(readdirSync(project.at(".git")).sort()).toEqual(["HEAD", "hooks", "objects", "refs"]);
  const { stderr } = await cli("check", "--fix", ".");
  expect(stderr).toContain(".git/hooks/broken was not fixed: a link leads to it, and git, agents or editors trust it");
  expect(readFileSync(project.at(".git/hooks/broken"), "utf8")).toContain("Use when: reading");
  project.write("CLAUDE.md", "---\nname: docx\ndescription: Use when: reading\n---\n\nDo it.\n");
  mkdirSync(project.at("skills/docx"));
  symlinkSync("../../CLAUDE.md", project.at("skills/docx/SKILL.md"));
  expect((await cli("check", "--fix", ".")).stderr).toContain("CLAUDE.md was not fixed: a link leads to it");
});
