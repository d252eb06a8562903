import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as acpSkills from "../src/index.ts";
import { parseSkill } from "../src/skills/parse-skill.ts";
import { rules } from "../src/skills/rules.ts";

const root = new URL("../", import.meta.url);
const readme = readFileSync(new URL("README.md", root), "utf8");
const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  dependencies: Record<string, string>;
};

test("the README's table of rules is the table of rules", () => {
  const listed = [...readme.matchAll(/^\| `([a-z0-9-]+)` +\| (.+?) +\| (\w+) +\| (\w+) +\| (\w+) +\|$/gm)].map(
    ([, code, title, spec, wire, lenient]) => ({ code, title, spec, wire, lenient }),
  );
  expect(listed).toEqual(Object.entries(rules).map(([code, rule]) => ({ code, ...rule })));
});

test("the README names every export and every dependency", () => {
  for (const name of [...Object.keys(acpSkills), ...Object.keys(manifest.dependencies)]) {
    expect(readme.includes(`\`${name}\``) || readme.includes(`\`${name}(`), name).toBe(true);
  }
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
