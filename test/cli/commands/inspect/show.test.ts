import { expect, test } from "vitest";
import { runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

async function show(...args: string[]) {
  return await runCli(["show", ...args], { cwd: project.directory });
}

const manifest = `name = "sales.leads.sync"
version = "1.2.0"
description = "Syncs leads."
kind = "instruction"
`;

test("--json has everything but the body", async () => {
  const file = project.write(".agents/skills/pdf/SKILL.md", skillText("pdf"));
  project.write(".agents/skills/pdf/scripts/run.py", "print(1)\n");
  project.write(".agents/skills/pdf/.hidden", "x");
  const { code, stdout, stderr } = await show("pdf", "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const shown = JSON.parse(stdout) as Record<string, unknown>;
  expect(shown).toMatchObject({
    name: "pdf",
    path: file,
    digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as unknown,
    dialect: "agent-skills",
    sources: [project.at(".agents", "skills")],
    versions: [{ version: "0.0.0", path: file }],
    files: [
      { path: "SKILL.md", size_bytes: Buffer.byteLength(skillText("pdf")) },
      { path: "scripts/run.py", size_bytes: 9 },
    ],
    problems: [],
  });
  expect(shown["_meta"]).toMatchObject({ "acp-skills": { name: "pdf", digest: shown["digest"] } });
  expect((await show("pdf", "--json")).stdout).toBe(stdout);
});

test("files and digest agree with describe_skill", async () => {
  project.write(".agents/skills/pdf/SKILL.md", skillText("pdf"));
  project.write(".agents/skills/pdf/scripts/run.py", "print(1)\n");
  project.write(".agents/skills/pdf/.hidden", "x");
  project.write(".agents/skills/pdf/inner/SKILL.md", skillText("inner"));
  const called = await runCli(["call", "describe_skill", '{"name":"pdf"}'], { cwd: project.directory });
  const { skill } = JSON.parse(called.stdout) as { skill: Record<string, unknown> };
  const shown = JSON.parse((await show("pdf", "--json")).stdout) as Record<string, unknown>;
  expect({ files: shown["files"], digest: shown["digest"] }).toEqual({
    files: skill["files"],
    digest: skill["digest"],
  });
});

test("commands to CI systems are escaped", async () => {
  const text =
    "---\nname: pdf\ndescription: 'Does ##[error]pwned'\n---\n::set-output name=x::y\n##vso[build.addbuildtag]x\n";
  project.write(".agents/skills/pdf/SKILL.md", text);
  for (const form of [[], ["--json"]]) {
    const { stdout } = await show("pdf", ...form);
    expect(stdout).toContain("pwned");
    expect(stdout).not.toMatch(/^\s*::|##\w*\[/m);
  }
});

test("text has the fields, the files and the body, with control characters escaped", async () => {
  project.write(".agents/skills/pdf/SKILL.md", `${skillText("pdf")}\u001b[2J\ttab\n`);
  const { code, stdout, stderr } = await show("pdf");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^name +pdf$/m);
  expect(stdout).toMatch(/^path +\.agents\/skills\/pdf\/SKILL\.md$/m);
  expect(stdout).toMatch(/^file +SKILL\.md +\d+ bytes$/m);
  expect(stdout).toContain("\n# pdf\n\nDo it.\n\\u{1b}[2J\ttab\n");
  expect(stdout).not.toContain("\u001b");
});

test("the dotted name and the slug find the same skill", async () => {
  project.write(".agents/skills/sales-leads-sync/SKILL.md", "---\nname: Leads\n---\nBody.\n");
  project.write(".agents/skills/sales-leads-sync/skill.toml", manifest);
  const dotted = await show("sales.leads.sync", "--json");
  expect(dotted.code).toBe(0);
  expect(JSON.parse(dotted.stdout)).toMatchObject({
    name: "sales-leads-sync",
    dialect: "skills-protocol",
    manifest: { version: "1.2.0" },
  });
  expect((await show("sales-leads-sync", "--json")).stdout).toBe(dotted.stdout);
});

test("an unknown name exits with 3 and suggests the nearest ones", async () => {
  project.write(".agents/skills/commit-message/SKILL.md", skillText("commit-message"));
  project.write(".agents/skills/commit-review/SKILL.md", skillText("commit-review"));
  expect(await show("comit-message")).toEqual({
    code: 3,
    stdout: "",
    stderr: "acp-skills: unknown skill comit-message; did you mean commit-message?\n",
  });
  expect((await show("zebra")).stderr).toBe("acp-skills: unknown skill zebra; acp-skills list shows all\n");
});

test("problems of the skill are printed with their positions", async () => {
  project.write(".agents/skills/pdf/SKILL.md", skillText("PDF"));
  const { code, stdout } = await show("pdf");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^warning +\.agents\/skills\/pdf\/SKILL\.md:2:7 name-not-lowercase: /m);
});

test("skills with permissions that a skill can call are shown", async () => {
  const write = (name: string, extra: string) => {
    project.write(`.agents/skills/${name}/SKILL.md`, skillText(name));
    project.write(
      `.agents/skills/${name}/skill.toml`,
      `name = "${name}"\nversion = "1.0.0"\ndescription = "d"\nkind = "action"\n[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n${extra}\n`,
    );
    project.write(`.agents/skills/${name}/main.py`, "");
  };
  write("harmless", '[dependencies]\nskills = ["deploy"]');
  write("deploy", '[permissions]\nnetwork = ["https://example.org"]\nsecrets = ["KEY"]\nproject = "write"');
  const { stdout } = await show("harmless");
  expect(stdout).toContain("calls          deploy (network https://example.org, secret KEY, project write)\n");
  const json = JSON.parse((await show("harmless", "--json")).stdout) as Record<string, unknown>;
  const calls = [{ skill: "deploy", network: ["https://example.org"], secrets: ["KEY"], project: "write" }];
  expect(json).toMatchObject({ calls });
});

test("inputs and permissions are shown, also those of a skill without a manifest", async () => {
  project.write(".agents/skills/rows/SKILL.md", skillText("rows"));
  project.write(
    ".agents/skills/rows/skill.toml",
    [
      'name = "rows"\nversion = "1.0.0"\ndescription = "d"\nkind = "action"',
      '[runtime]\nlanguage = "python"\nentrypoint = "main.py"',
      '[inputs.mode]\ntype = "string"\nrequired = true\nenum = ["fast", "safe"]\ndescription = "How."',
      '[inputs.count]\ntype = "integer"\ndefault = 3',
      '[permissions]\nnetwork = ["https://example.org"]\n',
    ].join("\n"),
  );
  project.write(".agents/skills/rows/main.py", "");
  const text = skillText("pdf").replace("---\n\n", 'metadata:\n  acp-skills-secrets: "KEY"\n---\n\n');
  project.write(".agents/skills/pdf/SKILL.md", text);
  const { stdout } = await show("rows");
  expect(stdout).toMatch(/^input +mode: string, required, one of "fast", "safe"\. How\.$/m);
  expect(stdout).toMatch(/^input +count: integer, default 3$/m);
  expect(stdout).toMatch(/^permissions +network https:\/\/example\.org$/m);
  expect((await show("pdf")).stdout).toMatch(/^permissions +secret KEY$/m);
  expect(JSON.parse((await show("rows", "--json")).stdout)).toMatchObject({
    permissions: { network: ["https://example.org"], secrets: [], project: "none" },
    manifest: { inputs: { count: { type: "integer", default: 3 } } },
  });
  project.write(".agents/skills/pdf/SKILL.md", text.replace('secrets: "KEY"', "isolation: none"));
  expect((await show("pdf")).stdout).toMatch(/^permissions +isolation none: runs without a sandbox$/m);
});
