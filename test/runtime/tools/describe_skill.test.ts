import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { memorySkillBytes, memorySkillFiles } from "../../skills/files/memory-skill-files.ts";
import { actionSkill } from "../runs/open-runner.ts";
import { agentSkill, openTools, protocolSkill, refusal } from "./open-tools.ts";

interface Described {
  readonly manifest: Record<string, unknown>;
  readonly skill_md_frontmatter: Record<string, unknown>;
  readonly versions: readonly string[];
  readonly files: readonly { readonly path: string; readonly size_bytes: number; readonly sha256: string }[];
  readonly files_truncated?: true;
  readonly digest?: string;
  readonly scripts?: readonly string[];
  readonly skill_md_content?: string;
  readonly skill_md_truncated?: true;
}

async function describeIt(files: Record<string, string | Uint8Array>, args: { name: string; [key: string]: unknown }) {
  const { call } = await openTools(files);
  return ((await call("describe_skill", args)) as { skill: Described }).skill;
}

const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");

test("manifest returns only the manifest, with unknown keys of skill.toml", async () => {
  const files = protocolSkill(
    "sales.leads",
    "1.0.0",
    'future = 1979-05-27T07:32:00Z\n[permissions]\nnetwork = ["https://a.example"]\n',
  );
  expect(await describeIt(files, { name: "sales.leads", detail: "manifest" })).toEqual({
    manifest: {
      name: "sales.leads",
      version: "1.0.0",
      description: "Does sales.leads.",
      kind: "instruction",
      namespace: "sales",
      permissions: { network: ["https://a.example"] },
      future: "1979-05-27T07:32:00.000Z",
    },
  });
});

test("descriptions contain no Unicode tags", async () => {
  const extra = 'license: M\u{e0041}IT\nauthor: "m\\U000E0041e"\n';
  const described = await describeIt(agentSkill("pdf", extra, "hid\u{e0041}den\n"), { name: "pdf", detail: "full" });
  expect(described.skill_md_frontmatter).toMatchObject({ license: "MIT", author: "me" });
  expect(described.skill_md_content).toContain("\nhidden\n");
  expect(JSON.stringify(described)).not.toMatch(/[\u{e0000}-\u{e007f}]/u);
});

test("an Agent Skills skill has a manifest composed from its frontmatter", async () => {
  const extra = [
    "license: MIT",
    "compatibility: Needs git.",
    "allowed-tools: Bash(git add *), Read",
    "tags: [x]",
    "metadata:",
    "  version: '2.1'",
    "  acp-skills-network: https://a.example  https://*.b.example",
    "  acp-skills-secrets: A_KEY",
    "  acp-skills-project: read",
    "",
  ].join("\n");
  const { manifest } = await describeIt(agentSkill("pdf", extra), { name: "pdf" });
  expect(manifest).toEqual({
    name: "pdf",
    version: "2.1",
    description: "Does pdf.",
    kind: "instruction",
    namespace: "pdf",
    tags: ["x"],
    license: "MIT",
    compatibility: "Needs git.",
    allowed_tools: ["Bash(git add *)", "Read"],
    permissions: { network: ["https://a.example", "https://*.b.example"], secrets: ["A_KEY"], project: "read" },
  });
});

test("without permissions in its metadata, a skill asks for nothing", async () => {
  const { manifest } = await describeIt(agentSkill("pdf", "metadata:\n  acp-skills-project: everything\n"), {
    name: "pdf",
  });
  expect(manifest).not.toHaveProperty("permissions");
});

test("frontmatter keeps its types; dates stay strings", async () => {
  const extra =
    "n: 5\nf: 1.5\nyes: true\nnot: 'true'\nnone:\nday: 2020-01-02\nlist: [1, a]\ninner:\n  - k: v\ninfinite: .inf\n";
  const { skill_md_frontmatter } = await describeIt(agentSkill("pdf", extra), { name: "pdf" });
  expect(skill_md_frontmatter).toEqual({
    name: "pdf",
    description: "Does pdf.",
    n: 5,
    f: 1.5,
    yes: true,
    not: "true",
    none: null,
    day: "2020-01-02",
    list: [1, "a"],
    inner: [{ k: "v" }],
    infinite: null,
  });
});

test("invalid frontmatter is returned as far as it can be recovered", async () => {
  const files = { "/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Use when: asked\nn: 5\n---\n" };
  const { skill_md_frontmatter } = await describeIt(files, { name: "pdf" });
  expect(skill_md_frontmatter).toEqual({ name: "pdf", description: "Use when: asked", n: "5" });
});

test("__proto__ is an ordinary key", async () => {
  const { skill_md_frontmatter } = await describeIt(agentSkill("pdf", "__proto__: x\n"), { name: "pdf" });
  expect(Object.getOwnPropertyDescriptor(skill_md_frontmatter, "__proto__")?.value).toBe("x");
});

test("summary lists files in order of code points, with sizes and digests, and scripts", async () => {
  const files = {
    ...agentSkill("pdf"),
    "/skills/pdf/scripts/run.py": "print()",
    "/skills/pdf/scripts/notes.txt": "",
    "/skills/pdf/scripts-old.md": "é",
    "/skills/pdf/.env": "SECRET=1",
    "/skills/pdf/.git/config": "x",
    "/skills/pdf/scripts/__pycache__/run.pyc": "x",
  };
  const described = await describeIt(files, { name: "pdf" });
  expect(described.files).toEqual([
    { path: "SKILL.md", size_bytes: 48, sha256: sha256(Object.values(agentSkill("pdf"))[0] ?? "") },
    { path: "scripts-old.md", size_bytes: 2, sha256: sha256("é") },
    { path: "scripts/notes.txt", size_bytes: 0, sha256: sha256("") },
    { path: "scripts/run.py", size_bytes: 7, sha256: sha256("print()") },
  ]);
  const lines = described.files.map((file) => `${file.sha256}  ${file.path}\n`).join("");
  expect(described.digest).toBe(`sha256:${sha256(lines)}`);
  expect(described.scripts).toEqual(["scripts/run.py"]);
  expect(described).not.toHaveProperty("skill_md_content");
});

test("the digest depends on bytes and names only", async () => {
  const digest = async (files: Record<string, string>) =>
    (await describeIt({ ...agentSkill("pdf"), ...files }, { name: "pdf" })).digest;
  const before = await digest({ "/skills/pdf/a": "1" });
  expect(await digest({ "/skills/pdf/a": "1", "/skills/pdf/.hidden": "2" })).toBe(before);
  expect(await digest({ "/skills/pdf/a": "2" })).not.toBe(before);
  expect(await digest({ "/skills/pdf/b": "1" })).not.toBe(before);
});

test.each([
  [511, 512, false],
  [512, 512, true],
])("with %i files beside SKILL.md, %i are listed", async (count, listed, truncated) => {
  const files: Record<string, string> = agentSkill("pdf");
  for (let index = 0; index < count; index++) files[`/skills/pdf/a${index}`] = "";
  const described = await describeIt(files, { name: "pdf" });
  expect(described.files).toHaveLength(listed);
  expect(described.files_truncated).toBe(truncated ? true : undefined);
  expect(described.digest).toBeTypeOf("string");
});

test("a skill with too many files has no digest", async () => {
  const files = (count: number) => {
    const all: Record<string, string> = agentSkill("pdf");
    for (let index = 0; index < count; index++) all[`/skills/pdf/a${index}`] = "";
    return all;
  };
  expect((await describeIt(files(4095), { name: "pdf" })).digest).toBeTypeOf("string");
  const described = await describeIt(files(4096), { name: "pdf" });
  expect(described.digest).toBeUndefined();
  expect(described.files).toHaveLength(512);
});

test("a skill that is too large to be mounted has no digest, and the result says why", async () => {
  const files = memorySkillFiles({
    ...agentSkill("pdf"),
    "/skills/pdf/large.bin": "",
    "/skills/pdf/scripts/run.py": "",
  });
  const bytes = memorySkillBytes(files);
  const hashed: string[] = [];
  let large = 256 * 1024 * 1024;
  const source = {
    files,
    bytes: {
      ...bytes,
      stamp: (file: string) =>
        file.endsWith("large.bin") ? { size: large, version: String(large) } : bytes.stamp(file),
      sha256: (file: string, signal: AbortSignal) => (hashed.push(file), bytes.sha256(file, signal)),
    },
  };
  const { call } = await openTools(agentSkill("pdf"), { source });
  const { skill } = (await call("describe_skill", { name: "pdf", detail: "full" })) as { skill: Described };
  expect(skill).toMatchObject({
    files: [],
    files_truncated: true,
    files_problem: expect.stringContaining("larger than 256 MiB") as string,
    skill_md_content: expect.stringContaining("# Body") as string,
  });
  expect([skill.digest, skill.scripts, hashed]).toEqual([undefined, undefined, []]);
  large = 1024;
  const { skill: smaller } = (await call("describe_skill", { name: "pdf" })) as { skill: Described };
  expect(smaller).not.toHaveProperty("files_problem");
  expect(smaller.files).toHaveLength(3);
});

test("changing a result changes no other result", async () => {
  const { call } = await openTools(protocolSkill("sales.leads"));
  const ask = async () => ((await call("describe_skill", { name: "sales.leads" })) as { skill: Described }).skill;
  const first = await ask();
  const before = structuredClone(first);
  Object.assign(first.manifest, { name: "changed" });
  (first.files as unknown[]).length = 0;
  (first.versions as string[]).push("9.9.9");
  expect(await ask()).toEqual(before);
});

test("full adds the unchanged SKILL.md", async () => {
  const text = "---\nname: pdf\ndescription: Does it.\n---\r\n# Ünï\r\n\n";
  expect((await describeIt({ "/skills/pdf/SKILL.md": text }, { name: "pdf", detail: "full" })).skill_md_content).toBe(
    text,
  );
});

test.each([
  [256 * 1024, undefined],
  [256 * 1024 + 1, true],
])("a SKILL.md of %i bytes is returned up to 256 KiB", async (size, truncated) => {
  const [text = ""] = Object.values(agentSkill("pdf"));
  const whole = text + "x".repeat(size - text.length);
  const described = await describeIt({ "/skills/pdf/SKILL.md": whole }, { name: "pdf", detail: "full" });
  expect(described.skill_md_content).toBe(whole.slice(0, 256 * 1024));
  expect(described.skill_md_truncated).toBe(truncated);
});

test("versions are newest first; the latest is the default; an exact one can be requested", async () => {
  const files = Object.fromEntries(
    ["1.9.0", "1.10.0", "2.0.0-rc.1"].map((version) => [
      `/skills/pdf/${version}/SKILL.md`,
      `---\nname: pdf\ndescription: Of ${version}.\n---\n`,
    ]),
  );
  const latest = await describeIt(files, { name: "pdf" });
  expect(latest.manifest.version).toBe("1.10.0");
  expect(latest.versions).toEqual(["2.0.0-rc.1", "1.10.0", "1.9.0"]);
  expect((await describeIt(files, { name: "pdf", version: "1.9.0" })).manifest.description).toBe("Of 1.9.0.");
  const { call } = await openTools(files);
  expect(await refusal(call("describe_skill", { name: "pdf", version: "1.9" }))).toMatchObject({
    code: "VERSION_NOT_FOUND",
    available: ["2.0.0-rc.1", "1.10.0", "1.9.0"],
  });
});

test("slug and canonical name return the same, with the canonical name", async () => {
  const files = protocolSkill("sales.leads");
  const bySlug = await describeIt(files, { name: "sales-leads" });
  expect(bySlug).toEqual(await describeIt(files, { name: "sales.leads" }));
  expect(bySlug.manifest.name).toBe("sales.leads");
});

test("an unknown name is refused with the nearest names", async () => {
  const { call } = await openTools({ ...agentSkill("pdf-tools"), ...agentSkill("xlsx") });
  const { code, available } = await refusal(call("describe_skill", { name: "pdf-tool" }));
  expect([code, (available as string[])[0]]).toEqual(["SKILL_NOT_FOUND", "pdf-tools"]);
});

test("a skill removed since it was listed is SKILL_NOT_READY, with a hint to list again", async () => {
  const { call, files } = await openTools(agentSkill("pdf"));
  files.remove("/skills/pdf");
  expect(await refusal(call("describe_skill", { name: "pdf" }))).toMatchObject({ code: "SKILL_NOT_READY" });
});

test("changes on disk are visible immediately", async () => {
  const { call, files } = await openTools({ ...agentSkill("pdf"), "/skills/pdf/a": "1" });
  const digest = async () => ((await call("describe_skill", { name: "pdf" })) as { skill: Described }).skill.digest;
  const before = await digest();
  expect(await digest()).toBe(before);
  files.write("/skills/pdf/a", "2");
  expect(await digest()).not.toBe(before);
});

test("an abort between two files rejects the call with its reason", async () => {
  const { toolbox, context } = await openTools(agentSkill("pdf"));
  const controller = new AbortController();
  const call = toolbox.call("describe_skill", { name: "pdf" }, context, controller.signal);
  controller.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
});

test("shows that a skill asks to run without a sandbox, in its manifest and where its callers are described", async () => {
  const skills = {
    ...actionSkill("bare", '[permissions]\nisolation = "none"'),
    ...actionSkill("caller", '[dependencies]\nskills = ["bare"]'),
    "/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: d\nmetadata:\n  acp-skills-isolation: none\n---\n",
  };
  const isolation = "none";
  const described = (name: string) => describeIt(skills, { name, detail: "manifest" });
  expect(await described("bare")).toMatchObject({ manifest: { permissions: { isolation } } });
  expect(await described("pdf")).toMatchObject({ manifest: { permissions: { isolation } } });
  expect(await described("caller")).toMatchObject({ calls: [{ skill: "bare", isolation }] });
});

test("a skill without permissions lists the skills with permissions that its code calls, with their permissions", async () => {
  const secret = '[permissions]\nsecrets = ["KEY"]\nnetwork = ["https://example.org"]';
  const depends = (name: string) => `[dependencies]\nskills = ["${name}"]`;
  const skills = {
    ...actionSkill("a", depends("b")),
    ...actionSkill("b", `${depends("keeper")}\n`),
    ...actionSkill("keeper", `${secret}\n${depends("a")}`),
    ...actionSkill("harmless", depends("lib")),
    ...actionSkill("lib"),
  };
  const calls = [{ skill: "keeper", network: ["https://example.org"], secrets: ["KEY"], project: "none" }];
  for (const detail of ["manifest", "summary"]) {
    expect(await describeIt(skills, { name: "a", detail })).toMatchObject({ calls });
    for (const name of ["harmless", "keeper"]) {
      expect(await describeIt(skills, { name, detail })).not.toHaveProperty("calls");
    }
  }
});
