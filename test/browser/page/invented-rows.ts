import type { SkillRow, SkillState } from "../../../src/browser/wire/skills.ts";

const states: readonly SkillState[] = [
  "ok",
  "ok",
  "ok",
  "warnings",
  "needs-approval",
  "changed",
  "blocked",
  "denied",
  "shadowed",
  "invalid",
];
const topics = ["invoices", "pull requests", "spreadsheets", "release notes", "traces", "emails", "translations"];
const verbs = ["Extracts", "Reviews", "Summarises", "Converts", "Checks", "Explains"];

/** A skill as a server lists it; the same for the same number. */
export function inventRow(index: number, changes: Partial<SkillRow> = {}): SkillRow {
  const name = `skill-${String(index).padStart(5, "0")}`;
  const kind = index % 4 === 0 ? "action" : "instruction";
  return {
    id: name,
    name,
    description: `${verbs[index % verbs.length]} ${topics[index % topics.length]}. Use when someone asks for ${topics[(index + 3) % topics.length]}, number ${index}.`,
    kind,
    version: "1.0.0",
    namespace: `space${index % 5}`,
    source: index % 3 === 0 ? "~/.agents/skills" : ".claude/skills",
    state: states[index % states.length] ?? "ok",
    ...(index % 2 === 0 && { license: index % 6 === 0 ? "Apache-2.0" : "MIT" }),
    tokens: { listed: 40 + (index % 60), instructions: 300 + ((index * 37) % 4_000) },
    errors: 0,
    warnings: index % 10 === 3 ? 2 : 0,
    ...changes,
  };
}

export function inventRows(count: number): SkillRow[] {
  return Array.from({ length: count }, (_, index) => inventRow(index));
}
