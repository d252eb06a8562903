/** The frontmatter fields of the Agent Skills specification. */
export const specificationFields: readonly string[] = [
  "name",
  "description",
  "license",
  "allowed-tools",
  "metadata",
  "compatibility",
];

/** The frontmatter fields that Claude Code adds. */
export const claudeFields: readonly string[] = [
  "agent",
  "argument-hint",
  "arguments",
  "context",
  "disable-model-invocation",
  "disallowed-tools",
  "effort",
  "hooks",
  "model",
  "paths",
  "shell",
  "user-invocable",
  "when_to_use",
];

/** The Claude Code fields that are supported here (C-1.1). */
export const honouredFields: ReadonlySet<string> = new Set([
  "argument-hint",
  "disable-model-invocation",
  "user-invocable",
]);

const known = new Set(specificationFields);

export function isField(key: string): boolean {
  return known.has(key);
}
