/** The frontmatter fields of the Agent Skills specification. */
export const specificationFields: readonly string[] = [
  "name",
  "description",
  "license",
  "allowed-tools",
  "metadata",
  "compatibility",
];

const known = new Set(specificationFields);

export function isField(key: string): boolean {
  return known.has(key);
}
