import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { commands } from "../src/cli/commands.ts";
import { SkillsError } from "../src/errors.ts";
import type { SkillsErrorCode } from "../src/errors.ts";
import * as acpSkills from "../src/index.ts";
import { parseSkill } from "../src/skills/manifest/parse-skill.ts";
import { readManifest } from "../src/skills/manifest/read-manifest.ts";
import { rules } from "../src/skills/rules/rules.ts";
import { toolDefinitions } from "../src/tools/tool-definitions.ts";
import { permissionNames } from "../src/trust/grants.ts";
import { toWireError } from "../src/wire/error-table.ts";

const root = new URL("../", import.meta.url);
const readme = readFileSync(new URL("README.md", root), "utf8");
const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
};

/** The cells of every row of the table under a heading, without blanks. */
function rowsUnder(heading: string): string[][] {
  const lines = readme.slice(readme.indexOf(heading)).split("\n");
  const start = lines.findIndex((line) => line.startsWith("| ---"));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith("|"));
  return lines.slice(start + 1, end).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test("the README's table of rules is the table of rules", () => {
  const listed = rowsUnder("Every rule, its code").map(([code = "", title, spec, wire, lenient]) => ({
    code: code.replaceAll("`", ""),
    title,
    spec,
    wire,
    lenient,
  }));
  expect(listed).toEqual(Object.entries(rules).map(([code, rule]) => ({ code, ...rule })));
});

test("the README names every export and every dependency", () => {
  const { dependencies, peerDependencies } = manifest;
  for (const name of [acpSkills, dependencies, peerDependencies].flatMap(Object.keys)) {
    expect(readme.includes(`\`${name}\``) || readme.includes(`\`${name}(`), name).toBe(true);
  }
});

test("the README's table of tools has every tool, and every parameter, with a question mark where it may be left out", () => {
  const listed = rowsUnder("## Tools").map(([name = "", parameters = ""]) => ({
    name: name.replaceAll("`", ""),
    parameters: [...parameters.replace(/\(.*?\)/g, "").matchAll(/`(\w+\??)`/g)].map(([, parameter]) => parameter),
  }));
  const served = toolDefinitions("json-schema").map(({ name, parameters: { properties, required = [] } }) => ({
    name,
    parameters: Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`)),
  }));
  expect(listed).toEqual(served);
});

test("the README's tables of commands and options have every one", () => {
  const section = readme.slice(readme.indexOf("## Command line"), readme.indexOf("\n## Skills"));
  for (const [command, { options }] of Object.entries(commands)) {
    if (command !== "wrap") expect(section).toContain(`| \`acp-skills ${command}`);
    for (const option of Object.keys(options).filter((name) => name !== "help" && name !== "version")) {
      expect(section, command).toMatch(new RegExp(`\`--${option}[\` ]`));
    }
  }
});

test("the README's table of errors has every code, under its number", () => {
  const unlisted: SkillsErrorCode[] = ["AUTH_REQUIRED"]; // No door asks for credentials.
  const rows = rowsUnder("**Errors** are").map(([numbers = "", codes = ""]) => ({
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
  expect([...listed, ...unlisted].sort()).toEqual([...known, "INTERNAL"].sort());
});

test("the README names every tier and every permission", () => {
  const tiers = rowsUnder("**What isolates.**").map(([tier = ""]) => tier.replaceAll("`", ""));
  expect(tiers).toEqual(commands.wrap.options.isolation.choices.filter((form) => form !== "auto"));
  for (const name of permissionNames) expect(readme).toContain(`\`${name}\``);
});

test("the manifest that the README shows is that of the example, without what is optional", () => {
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

test("every relative link of the README leads somewhere", () => {
  const links = [...readme.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, link = ""]) => link);
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) expect(existsSync(new URL(link, root)), link).toBe(true);
});

test("the skill that the README shows is a valid one when pasted", () => {
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
