import { CORE_SCHEMA, load } from "js-yaml";
import { cleanValue } from "../../skills/text/control-characters.ts";
import { findFrontmatter, isYaml } from "../../skills/text/frontmatter.ts";
import { withoutTags } from "../../skills/text/invisible-characters.ts";
import { readYaml } from "../../skills/yaml/yaml.ts";
import { toJsonObject } from "./to-json.ts";

/** As in the catalog's reader: few aliases and little depth, so that the expanded document stays small. */
const bounds = { maxAliases: 10, maxDepth: 20 };

/**
 * The frontmatter of a SKILL.md with the types of YAML's core schema; dates stay strings. Never throws: of invalid YAML, what can be
 * recovered is returned as strings. Empty without YAML frontmatter.
 */
export function typedFrontmatter(bytes: Uint8Array): Record<string, unknown> {
  const found = findFrontmatter(bytes, true);
  if (found.kind !== "found" || !isYaml(found.language)) return {};
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8", found.start, found.end);
  let values: unknown;
  try {
    values = load(text, { schema: CORE_SCHEMA, ...bounds });
  } catch {
    // The catalog reports the syntax error.
    values = readYaml(text).values;
  }
  return toJsonObject(cleanValue(values, withoutTags).value);
}
