import { existsSync, readFileSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { running } from "../src/cli/arguments/running-options.ts";
import { listedCommands } from "../src/cli/commands/commands.ts";
import { SkillsError, type SkillsErrorCode } from "../src/base/errors.ts";
import { parseSkill } from "../src/skills/manifest/parse-skill.ts";
import { readManifest } from "../src/skills/manifest/read-manifest.ts";
import { rules } from "../src/skills/rules.ts";
import { toolDefinitions } from "../src/runtime/tools.ts";
import { toWireError } from "../src/wire/error-table.ts";
import { permissionNames } from "../src/wire/grant-text.ts";

const root = new URL("../", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), "utf8");
const readme = read("README.md");
const reference = {
  rules: read("schema/README.md"),
  dependencies: read("src/base/README.md"),
  editor: read("src/acp/README.md"),
  sandbox: read("src/runtime/sandbox/README.md"),
  trust: read("src/runtime/trust/README.md"),
  tools: read("src/runtime/tools/README.md"),
};
const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
};

/** The trimmed cells of each row of the table under a heading. */
function rowsUnder(text: string, heading: string): string[][] {
  const lines = text.slice(text.indexOf(heading)).split("\n");
  const start = lines.findIndex((line) => line.startsWith("| ---"));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 1, end).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test("lists every rule in the table of schema/", () => {
  const listed = rowsUnder(reference.rules, "## Rules").map(([code = "", title, spec, wire, lenient]) => ({
    code: code.replaceAll("`", ""),
    title,
    spec,
    wire,
    lenient,
  }));
  const known = Object.entries(rules).map(([code, { title, spec, wire, lenient }]) => ({
    code,
    title,
    spec,
    wire,
    lenient,
  }));
  expect(listed).toEqual(known);
});

test("limits the README to 200 lines", () => {
  expect(readme.split("\n").length).toBeLessThanOrEqual(200);
});

test("documents every dependency", () => {
  const { dependencies, peerDependencies } = manifest;
  const isNamed = (text: string, name: string): boolean => text.includes(`\`${name}\``) || text.includes(`\`${name}(`);
  for (const name of [dependencies, peerDependencies].flatMap(Object.keys))
    expect(isNamed(reference.dependencies, name), name).toBe(true);
});

test("lists every tool and parameter, with a question mark after optional ones", () => {
  const listed = rowsUnder(reference.tools, "# The tools").map(([name = "", parameters = ""]) => ({
    name: name.replaceAll("`", ""),
    parameters: [...parameters.replace(/\(.*?\)/g, "").matchAll(/`(\w+\??)`/g)].map(([, parameter]) => parameter),
  }));
  const served = toolDefinitions("json-schema").map(({ name, parameters: { properties, required = [] } }) => ({
    name,
    parameters: Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`)),
  }));
  expect(listed).toEqual(served);
});

test("lists every command in the README", () => {
  const [section = ""] = readme.slice(readme.indexOf("## Commands")).split("\n## Troubleshooting");
  const listed = [...section.matchAll(/^\| ([^|]+(?:\\\|[^|]+)*) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(?:acp-skills )?([a-z]+)/g)].map(([, name]) => name),
  );
  expect(listed.filter((name) => name !== "command" && name !== "acp").sort()).toEqual(
    listedCommands()
      .flatMap(({ name }) => (name === "wrap" ? [] : name))
      .sort(),
  );
});

test("lists every error code under its number", () => {
  const rows = rowsUnder(reference.tools, "## Errors").map(([numbers = "", codes = ""]) => ({
    numbers: numbers.split(",").map(Number),
    codes: [...codes.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g)].map(([, code]) => code as SkillsErrorCode),
  }));
  for (const { numbers, codes } of rows) {
    const told = codes.map((code) =>
      toWireError(new SkillsError(code, ""), { log: () => undefined, newErrorId: () => "" }),
    );
    expect(told.map(({ data }) => data.code)).toEqual(codes);
    expect(new Set(told.map(({ code }) => code))).toEqual(new Set(numbers));
  }
  const listed = rows.flatMap(({ codes }) => codes);
  const source = readFileSync(new URL("src/wire/error-table.ts", root), "utf8");
  const known = [...source.matchAll(/^ {2}([A-Z_]+): \{ number/gm)].map(([, code]) => code);
  expect([...listed].sort()).toEqual([...known, "INTERNAL"].sort());
});

test("documents every sandbox tier and permission", () => {
  const tiers = rowsUnder(reference.sandbox, "## Tiers").map(([tier = ""]) => tier.replaceAll("`", ""));
  expect(tiers).toEqual(running.isolation.choices.filter((form) => form !== "auto"));
  for (const name of permissionNames) expect(reference.trust).toMatch(new RegExp(`[:,]${name}[,\`]`));
});

test("shows the example's manifest without optional fields", () => {
  const [, sample = ""] = /```toml\n([^]*?)```/.exec(readme) ?? [];
  const example = readFileSync(new URL("examples/actions/rows.clean/skill.toml", root), "utf8").split("\n");
  const lines = sample.trim().split("\n");
  expect(lines.length).toBeGreaterThan(5);
  expect(example).toEqual(expect.arrayContaining(lines));
  expect(readManifest(sample, "skill.toml")).toMatchObject({
    manifest: { name: "rows.clean", kind: "action" },
    findings: [],
  });
});

test.each([
  "README.md",
  "docs/api.md",
  "schema/README.md",
  "examples/README.md",
  "test/bench/README.md",
  ...readdirSync(new URL("src", root), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => `src/${file.replaceAll("\\", "/")}`),
])("has no broken relative link or anchor in %s", (file) => {
  const base = new URL(file, root);
  const links = [...read(file).matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, link = ""]) => new URL(link, base));
  for (const link of links) {
    const { hash } = link;
    link.hash = "";
    expect(existsSync(link), link.href).toBe(true);
    if (hash === "") continue;
    const headings = [...readFileSync(link, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^a-z0-9 -]/g, "")
        .replaceAll(" ", "-"),
    );
    expect(headings, link.href).toContain(hash.slice(1));
  }
});

test("shows a valid skill in the README", () => {
  const [, sample = ""] = /```markdown\n([^]*?)```/.exec(readme) ?? [];
  const { skill, findings } = parseSkill({
    directory: "/project/.agents/skills/commit-message",
    expectedName: "commit-message",
    file: "/project/.agents/skills/commit-message/SKILL.md",
    head: Buffer.from(sample),
    whole: true,
  });
  expect(findings).toEqual([]);
  expect(skill?.slug).toBe("commit-message");
});

test("shows pictures that exist, each with a text that says what is on it", () => {
  const pictures = [...readme.matchAll(/!\[([^\]]*)\]\(([^)]*)\)/g)];
  expect(pictures.length).toBeGreaterThan(1);
  for (const [, text = "", file = ""] of pictures) {
    expect(text.length).toBeGreaterThan(20);
    expect(existsSync(new URL(file, root)), file).toBe(true);
  }
});

test("names of files and folders in the documents of src exist, beside the document or elsewhere", () => {
  const source = new URL("src/", root);
  const documents = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) =>
    /README\.md$/.test(name),
  );
  const all = [source, new URL("test/", root)].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/")),
  );
  const madeAtRunTime = ["ssh-sources", "changes"];
  const missing = documents.flatMap((document) => {
    const named = read(`src/${document}`).matchAll(/`((?:\.\.\/)*[a-z0-9-]+(?:\/[a-z0-9-]+)*(?:\/|\.tsx?))`/g);
    const absent = Array.from(named, ([, name = ""]) => name.replace(/\/$/, "")).filter(
      (name) =>
        !madeAtRunTime.includes(name) &&
        !existsSync(new URL(name, new URL(document.replaceAll("\\", "/"), source))) &&
        !existsSync(new URL(name, root)) &&
        !all.some((one) => one === name || one.endsWith(`/${name}`)),
    );
    return absent.map((name) => `${document}: ${name}`);
  });
  expect(missing).toEqual([]);
});
