import type { ScanResult, FoundSkill } from "../../src/skills/skillset/scan/scan-memory.ts";
import { parseSkill } from "../../src/skills/manifest/parse-skill.ts";
import type { DirectoryRecord } from "../../src/skills/skillset/read-directory.ts";
import type { Root } from "../../src/skills/skillset/roots.ts";
import { skillText } from "../contract/skill-watcher.ts";

/** The record of a directory that contains this SKILL.md. */
export function record(path: string, text = skillText(path.split("/").at(-1) ?? "", "Does.")): DirectoryRecord {
  const [expectedName, file] = [path.split("/").at(-1) ?? "", `${path}/SKILL.md`];
  const parsed = parseSkill({ directory: path, expectedName, file, head: Buffer.from(text), whole: true });
  return {
    path,
    expectedName,
    isSkill: true,
    ...parsed,
    identity: path,
    children: [],
    unread: [],
    dangling: [],
    ignored: [],
    elsewhere: [],
    needsWalk: false,
  };
}

/** A skill with this name and version, found at `path`. */
export function foundSkill(path: string, roots: readonly Root[], name: string, version?: string): FoundSkill {
  const metadata = version === undefined ? "" : `metadata:\n  version: ${version}\n`;
  return { record: record(path, `---\nname: ${name}\ndescription: Does.\n${metadata}---\n`), roots };
}

export function found(...skills: FoundSkill[]): ScanResult {
  return { skills, findings: [] };
}
