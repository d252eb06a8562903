import type { Steps } from "../../../base/promises.ts";
import { parseAgentSkills } from "./agent-skills.ts";
import type { Listed } from "./collect-skills.ts";
import { parseDescriptor } from "./descriptor.ts";
import { parseSharingPage } from "./skill-sharing.ts";
import type { IndexForm } from "../../reader.ts";

/** A document of a source, read. */
export type ParsedDocument =
  | (Listed & { readonly form: Exclude<IndexForm, "marketplace" | "git">; readonly next?: string })
  /** Whose entries lead to repositories, which are read elsewhere. */
  | { readonly form: "marketplace"; readonly json: unknown };

/** What a text of this form could not be read for: a sentence without a full stop. */
export interface NotDocument {
  readonly why: string;
}

/**
 * Reads a document of any form that sources publish, by what is in it. `url` is the address that answered. Throws what `parseDescriptor`
 * throws.
 */
export function* parseDocument(text: string, url: string): Steps<ParsedDocument | NotDocument> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { why: "it is not JSON" };
  }
  if (Array.isArray(json)) return { form: "registry", ...(yield* parseSharingPage(json, url)) };
  if (typeof json !== "object" || json === null) return { why: "it is neither an object nor an array" };
  const has = (key: string): boolean => Object.hasOwn(json, key);
  if (has("plugins")) return { form: "marketplace", json };
  if (has("capability_type") || has("endpoint"))
    return { form: "descriptor", skills: [parseDescriptor(json, url)], problems: [] };
  if (has("protocol"))
    return { form: has("provider") ? "skill-sharing" : "registry", ...(yield* parseSharingPage(json, url)) };
  if (has("skills")) return yield* parseAgentSkills(json as Readonly<Record<string, unknown>>, url);
  return { why: "it lists no skills" };
}
