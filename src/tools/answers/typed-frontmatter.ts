import { CORE_SCHEMA, load } from "js-yaml";
import { cleanValue } from "../../skills/text/control-characters.ts";
import { findFrontmatter, isYaml } from "../../skills/text/frontmatter.ts";
import { withoutTags } from "../../skills/text/invisible-characters.ts";
import { readYaml } from "../../skills/yaml/yaml.ts";
import { toJsonObject } from "./to-json.ts";

/** As the catalog's reader: few aliases and shallow, so that what a document says stays small when it is written out. */
const bounds = { maxAliases: 10, maxDepth: 20 };

/**
 * The frontmatter of a SKILL.md with the types of YAML's core schema: numbers, truth values, lists; dates stay text. Never throws;
 * where the YAML is broken, what can be recovered comes as text. Empty where there is none, and for any language but YAML.
 */
export function typedFrontmatter(bytes: Uint8Array): Record<string, unknown> {
  const found = findFrontmatter(bytes, true);
  if (found.kind !== "found" || !isYaml(found.language)) return {};
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8", found.start, found.end);
  let values: unknown;
  try {
    values = load(text, { schema: CORE_SCHEMA, ...bounds });
  } catch {
    // The catalog reported what is wrong with it.
    values = readYaml(text).values;
  }
  return toJsonObject(cleanValue(values, withoutTags).value);
}
