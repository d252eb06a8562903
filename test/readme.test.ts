import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as acpSkills from "../src/index.ts";
import { parseSkill } from "../src/skills/parse-skill.ts";
import { rules } from "../src/skills/rules.ts";
import { toolDefinitions } from "../src/tools/tool-definitions.ts";

const root = new URL("../", import.meta.url);
const readme = readFileSync(new URL("README.md", root), "utf8");
const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  dependencies: Record<string, string>;
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
  for (const name of [...Object.keys(acpSkills), ...Object.keys(manifest.dependencies)]) {
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
