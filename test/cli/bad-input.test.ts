import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { runCli } from "./run-cli.ts";
import { skillText, useTemporaryProject } from "./temporary-project.ts";

const project = useTemporaryProject();

/** A valid skill, which must be listed in every test. */
beforeEach(() => {
  project.write("skills/good/SKILL.md", skillText("good"));
});

async function list() {
  const { code, stdout } = await runCli(["list", "--json", "--no-default-roots", "--skills", "skills"], {
    cwd: project.directory,
  });
  const { skills, problems } = JSON.parse(stdout) as {
    skills: { name: string }[];
    problems: { code: string; severity: string; file: string }[];
  };
  return { code, names: skills.map(({ name }) => name), problems };
}

const listed = (code: string, severity: string, ...segments: string[]) =>
  expect.objectContaining({ code, severity, file: project.at("skills", ...segments) }) as unknown;

test.skipIf(process.getuid?.() === 0)("reports an unreadable directory", async () => {
  project.write("skills/closed/SKILL.md", skillText("closed"));
  chmodSync(project.at("skills", "closed"), 0);
  const { code, names, problems } = await list();
  chmodSync(project.at("skills", "closed"), 0o755);
  expect({ code, names }).toEqual({ code: 0, names: ["good"] });
  expect(problems).toEqual([listed("unreadable", "error", "closed")]);
});

test("reports a dangling link, as a directory and as a SKILL.md", async () => {
  symlinkSync("nowhere", project.at("skills", "gone"));
  mkdirSync(project.at("skills", "half"));
  symlinkSync("nowhere", project.at("skills", "half", "SKILL.md"));
  const { code, names, problems } = await list();
  expect({ code, names }).toEqual({ code: 0, names: ["good"] });
  expect(problems).toHaveLength(2);
  expect(problems).toContainEqual(listed("dangling-symlink", "error", "gone"));
  expect(problems).toContainEqual(listed("dangling-symlink", "error", "half", "SKILL.md"));
});

test("does not follow a loop of links", async () => {
  symlinkSync("..", project.at("skills", "good", "loop"));
  const { code, names, problems } = await list();
  expect({ code, names }).toEqual({ code: 0, names: ["good"] });
  expect(problems).toEqual([listed("directory-loop", "warning", "good", "loop")]);
});

test("reports links that point to each other", async () => {
  symlinkSync("b", project.at("skills", "a"));
  symlinkSync("a", project.at("skills", "b"));
  const { code, names, problems } = await list();
  expect({ code, names }).toEqual({ code: 0, names: ["good"] });
  expect(problems).toHaveLength(2);
});

test("reports a directory called SKILL.md", async () => {
  mkdirSync(project.at("skills", "odd", "SKILL.md"), { recursive: true });
  const { code, names, problems } = await list();
  expect({ code, names }).toEqual({ code: 0, names: ["good"] });
  expect(problems).toEqual([listed("not-a-regular-file", "error", "odd", "SKILL.md")]);
});

test.skipIf(process.platform === "win32")("does not block list or check on a FIFO called SKILL.md", async () => {
  mkdirSync(project.at("skills", "pipe"));
  execFileSync("mkfifo", [project.at("skills", "pipe", "SKILL.md")]);
  const { code, names, problems } = await list();
  expect({ code, names }).toEqual({ code: 0, names: ["good"] });
  expect(problems).toEqual([listed("not-a-regular-file", "error", "pipe", "SKILL.md")]);
  const check = await runCli(["check", "skills", "--fix"], { cwd: project.directory });
  expect(check.code).toBe(1);
  expect(check.stdout).toContain("skills/pipe/SKILL.md:1:1 error not-a-regular-file");
  const alone = await runCli(["check", "skills/pipe/SKILL.md"], { cwd: project.directory });
  expect(alone.code).toBe(1);
});

test("lists a SKILL.md of 2 GB and checks only its start", async () => {
  const file = project.write("skills/huge/SKILL.md", skillText("huge"));
  truncateSync(file, 2 * 1024 ** 3 + 10);
  expect(await list()).toEqual({ code: 0, names: ["good", "huge"], problems: [] });
  const check = await runCli(["check", "skills", "--fix"], { cwd: project.directory });
  expect(check).toMatchObject({ code: 0, stdout: "2 skills checked: no problems\n" });
});

test("reports exponential YAML aliases", async () => {
  const aliases = Array.from({ length: 9 }, (_, index) => `k${index + 1}: &k${index + 1} [${`*k${index},`.repeat(9)}]`);
  project.write(
    "skills/bomb/SKILL.md",
    ["---", "name: bomb", "description: Grows.", "k0: &k0 [x, x]", ...aliases, "---", ""].join("\n"),
  );
  const { code, names, problems } = await list();
  expect(code).toBe(0);
  expect(names).toContain("good");
  expect(problems).toContainEqual(
    listed("yaml-alias-bomb", expect.anything() as unknown as string, "bomb", "SKILL.md"),
  );
});

test("qualifies the slug of names that differ only in case", async () => {
  project.write("skills/Good/SKILL.md", skillText("Good"));
  const { code, names, problems } = await list();
  expect({ code, names }).toEqual({ code: 0, names: ["good", expect.stringMatching(/^good-[0-9a-f]{8}$/)] });
  expect(problems).toContainEqual(expect.objectContaining({ code: "slug-qualified", severity: "warning" }));
});

test("--cwd is relative to the current directory; a missing one exits with 2", async () => {
  project.write("work/.agents/skills/pdf/SKILL.md", skillText("pdf"));
  const relative = await runCli(["list", "--json", "--cwd", "work"], { cwd: project.directory });
  expect(relative.code).toBe(0);
  expect(JSON.parse(relative.stdout)).toMatchObject({ skills: [{ name: "pdf" }] });
  const missing = await runCli(["list", "--json", "--cwd", "nothing"], { cwd: project.directory });
  expect(missing).toMatchObject({ code: 2, stderr: `acp-skills: --cwd ${project.at("nothing")}: no such directory\n` });
});

test("a missing --find-links directory is a usage error", async () => {
  const args = ["install", "good", "--skills", "skills", "--find-links", "wheels"];
  const { code, stderr } = await runCli(args, { cwd: project.directory });
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining(`--find-links ${project.at("wheels")}: no such directory`) as string,
  });
});
