import type { SkillDetail, SkillRow } from "../../../src/browser/wire/skills.ts";

/** Everything about an invented skill that wants nothing and has nothing wrong. */
export function inventDetail(row: SkillRow): SkillDetail {
  return {
    row,
    digest: `sha256:${"0".repeat(64)}`,
    nonce: "nonce",
    instructions: { markdown: `# ${row.name}\n\n${row.description}\n`, isWhole: true },
    hidden: [],
    frontmatter: { name: row.name, description: row.description },
    inputs: {},
    scripts: [],
    files: [{ path: "SKILL.md", sizeBytes: 100, sha256: "0".repeat(64) }],
    filesOmitted: 0,
    problems: [],
    advice: [],
    wants: { network: [], secrets: [], project: "none", words: [] },
    detected: { hosts: [], environment: [] },
    permissions: {
      wants: { network: [], secrets: [], project: "none", words: [] },
      grants: [],
      isBlocked: false,
      isFree: true,
      hostCommands: [],
      widened: [],
      changedFiles: [],
    },
    environment: [],
    license: { status: "unspecified", files: [] },
  };
}
