import { expect, test } from "vitest";
import { loadManifestReader, readSkill } from "../../../src/skills/skillset/read-directory.ts";
import { readManifestFile } from "../../../src/skills/skillset/scan/read-manifest-file.ts";
import { declaresSame } from "../../../src/skills/skillset/declares-same.ts";
import type { Skill } from "../../../src/skills/skill.ts";
import { memorySkillFiles } from "../files/memory-skill-files.ts";

type Files = Readonly<Record<string, string>>;

const skillMd = '---\nname: deploy\ndescription: Deploys.\nallowed-tools: ["Bash(git:*)"]\n---\nDeploy.\n';
const manifest = (host: string) =>
  `name = "deploy"\nversion = "1.0.0"\ndescription = "Deploys."\nkind = "action"\n[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\n[permissions]\nnetwork = ["https://${host}"]\n`;

async function skillOf(files: Files): Promise<Skill> {
  await loadManifestReader();
  const memory = memorySkillFiles(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`/s/${path}`, text])),
  );
  const [entry, second] = ["SKILL.md", "skill.toml"].map((name) => ({ name, kind: "file", link: false }) as const);
  const reading = "skill.toml" in files && second ? readManifestFile(memory, "/s", second) : undefined;
  if (entry === undefined) throw new Error("No entry.");
  const { skill } = readSkill(memory, { directory: "/s", expectedName: "s", entry, manifest: reading });
  if (skill === undefined) throw new Error("The skill is invalid.");
  return skill;
}

const reading = (files: Files) => (path: string) =>
  files[path] === undefined ? undefined : new TextEncoder().encode(files[path]);

const both = { "SKILL.md": skillMd, "skill.toml": manifest("api.example") };

test.each<[string, Files, Files, boolean]>([
  ["the same files", both, both, true],
  ["other instructions that declare the same", both, { ...both, "SKILL.md": `${skillMd}More.\n` }, true],
  ["another host", both, { ...both, "skill.toml": manifest("evil.example") }, false],
  ["another entrypoint", both, { ...both, "skill.toml": both["skill.toml"].replace("main", "test") }, false],
  ["other tools", { "SKILL.md": skillMd }, { "SKILL.md": skillMd.replace("git", "rm") }, false],
  ["a manifest that is not a file of the skill", both, { "SKILL.md": skillMd }, false],
  ["instructions that are not a file of the skill", both, { "skill.toml": both["skill.toml"] }, false],
  ["a manifest that it did not have", { "SKILL.md": skillMd }, both, false],
  ["invalid instructions", { "SKILL.md": skillMd }, { "SKILL.md": "---\n" }, false],
])("%s", async (_what, before, now, same) => {
  expect(await declaresSame(await skillOf(before), reading(now))).toBe(same);
});
