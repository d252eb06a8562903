import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSkillHasher } from "../../src/skills/hash.ts";
import { checkPaths, inspectSkill } from "../../src/skills/check.ts";
import { diskSkillBytes, diskSkillFiles } from "../../src/skills/files.ts";

let directory = "";
beforeEach(() => {
  directory = realpathSync.native(mkdtempSync(path.join(tmpdir(), "acp-skills-inspect-")));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

type Files = Readonly<Record<string, string>>;
const inspect = (files: Files, key = "pdf", level?: "spec" | "agents") =>
  inspectSkill(
    Object.entries(files).map(([name, text]) => ({ path: name, bytes: Buffer.from(text), executable: false })),
    key,
    level,
  );
const text = (name: string, more = ""): string =>
  `---\nname: ${name}\ndescription: Reads documents.\n${more}---\n\nDo it.\n`;
const manifest = `name = "pdf.read"\nversion = "1.2.0"\ndescription = "Reads."\nkind = "action"\n[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\n[permissions]\nnetwork = ["https://api.example.com"]\n`;

test.each<[string, Files]>([
  ["one file", { "SKILL.md": text("pdf") }],
  ["scripts and packages", { "SKILL.md": text("pdf"), "scripts/a.py": "x", "code/requirements.txt": "a==1\n" }],
  ["a name that its source does not give it", { "SKILL.md": text("other") }],
  ["an action", { "SKILL.md": text("pdf-read"), "skill.toml": manifest, "code/main.py": "def main(): pass\n" }],
  ["an action without its entrypoint", { "SKILL.md": text("pdf-read"), "skill.toml": manifest }],
  ["an invisible character in its body", { "SKILL.md": `${text("pdf")}a\u200bb\n` }],
  [
    "hidden files, packages of npm and ignored ones",
    {
      "SKILL.md": text("pdf"),
      ".env": "A=1",
      "node_modules/a/SKILL.md": text("a"),
      ".gitignore": "code\n",
      "code/SKILL.md": text("code"),
    },
  ],
  ["a bad skill in a subdirectory", { "SKILL.md": text("pdf"), "b/SKILL.md": "---\nname: [\n---\n" }],
  ["another skill of its name in a subdirectory", { "SKILL.md": text("pdf"), "examples/pdf/SKILL.md": text("pdf") }],
  ["a version in a subdirectory", { "SKILL.md": text("pdf"), "1.0.0/SKILL.md": text("pdf") }],
  ["a misspelled manifest beside it", { "SKILL.md": text("pdf"), "b/skills.md": text("b") }],
])("a skill with %s is what it is on disk", async (_what, files) => {
  const place = path.join(directory, "pdf");
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(place, name)), { recursive: true });
    writeFileSync(path.join(place, name), content);
  }
  const inspected = await inspect(files);
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const { digest } = await createSkillHasher().hash(source, place, new AbortController().signal);
  expect(inspected.digest).toBe(digest);
  const { problems } = await checkPaths([place], { cwd: place });
  const onDisk = problems.filter(({ severity }) => severity !== "note");
  expect(inspected.problems.map(({ code, file, line }) => [code, file, line])).toEqual(
    onDisk.map(({ code, file, line }) => [code, path.relative(place, file), line]),
  );
});

test("says what it requests, requires and can run", async () => {
  const code = { "code/main.py": "def main(): pass\n", "scripts/a.sh": "true\n" };
  expect(await inspect({ "SKILL.md": text("pdf-read"), "skill.toml": manifest, ...code })).toMatchObject({
    key: "pdf",
    slug: "pdf-read",
    name: "pdf.read",
    version: "1.2.0",
    wants: { network: ["https://api.example.com"] },
    scripts: [],
    requires: ["Bash", "a sandbox with scripts in bash"],
    problems: [],
  });
  const files = { "SKILL.md": text("pdf", "compatibility: Needs git\nallowed-tools: Bash\n"), "scripts/a.py": "" };
  expect(await inspect(files)).toMatchObject({
    expects: ["Bash"],
    scripts: ["scripts/a.py"],
    requires: ['"Needs git"', "Python"],
  });
});

test("says what agents that load it run by themselves: commands in the text, and hooks", async () => {
  const hooks = "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: ./after.sh\n";
  const files = { "SKILL.md": `${text("pdf", hooks)}\nNow: !\`date\`\n\n\`\`\`!\nnode -v\nls\n\`\`\`\n` };
  expect(await inspect(files)).toMatchObject({ hostCommands: ["date", "node -v\nls", "./after.sh"] });
});

test("describes the skill at the root, not one inside it whose name comes first", async () => {
  const inner = { "a/SKILL.md": text("a", "metadata:\n  acp-skills-network: https://a.example\n") };
  expect(await inspect({ "SKILL.md": text("pdf"), ...inner })).toMatchObject({ slug: "pdf", wants: { network: [] } });
});

test.each<[string, Files, RegExp]>([
  ["no name and description", { "SKILL.md": "Do it.\n" }, /^no agent can use it: /],
  ["no SKILL.md", { "skill.toml": manifest }, /^no agent can use it: /],
  [
    "a name that has no digest",
    { "SKILL.md": text("pdf"), "a\uff0fb": "x" },
    /^no agent can use it: pdf cannot be used/,
  ],
])("refuses a skill with %s", async (_what, files, message) => {
  await expect(inspect(files)).rejects.toMatchObject({
    code: "SOURCE_INVALID",
    message: expect.stringMatching(message) as string,
  });
});
