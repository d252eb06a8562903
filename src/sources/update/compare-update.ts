import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { isSkillsError } from "../../base/errors.ts";
import { type ChangedFile, type CopiedFile, changesOf, toCopy } from "../../skills/copied-files.ts";
import { beyond, noCapabilities } from "../../skills/permissions.ts";
import { type InspectedSkill, inspectSkill, renameWords, wantedWords } from "../install/inspect-skill.ts";
import type { SkillFile } from "../reader.ts";

/** What an update changes. */
export interface UpdateDiff {
  /** The name in its files, where it is another than in those that are installed. */
  readonly renamed: string | undefined;
  /** What it requests that the installed one does not: `network https://api.example.com`. */
  readonly widened: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly texts: readonly ChangedFile[];
}

/** Compares what is installed with what replaces it. */
export async function compareUpdate(
  key: string,
  before: readonly SkillFile[],
  after: readonly SkillFile[],
  inspected: InspectedSkill,
): Promise<UpdateDiff> {
  const old = before.length === 0 ? undefined : await inspectOrNothing(before, key);
  const wider = beyond(old?.wants ?? noCapabilities, inspected.wants);
  const [olds, news] = [new Set(before.map(({ path }) => path)), new Set(after.map(({ path }) => path))];
  const texts = changesOf(toCopies(before), toCopies(after));
  const paths = texts.map(({ path }) => path);
  const { slug } = inspected;
  const isNamed = old === undefined ? renameWords({ key, slug }) === undefined : old.slug === slug;
  return {
    renamed: isNamed ? undefined : slug,
    widened: wantedWords({
      wants: wider,
      expects: inspected.expects.filter((tool) => old?.expects.includes(tool) !== true),
    }),
    added: paths.filter((path) => !olds.has(path)),
    removed: paths.filter((path) => !news.has(path)),
    changed: paths.filter((path) => olds.has(path) && news.has(path)),
    texts,
  };
}

/** Undefined for one that no agent can use: then all that the update requests is new. */
async function inspectOrNothing(files: readonly SkillFile[], key: string): Promise<InspectedSkill | undefined> {
  try {
    return await inspectSkill(files, key);
  } catch (error) {
    if (isSkillsError(error)) return undefined;
    throw error;
  }
}

function toCopies(files: readonly SkillFile[]): readonly CopiedFile[] {
  const copies = files.map(({ path, bytes }): CopiedFile => {
    const isText = isUtf8(bytes) && !bytes.includes(0);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return { path, sha256, ...(isText && { text: Buffer.from(bytes).toString("utf8") }) };
  });
  return toCopy(copies) ?? copies.map(({ path, sha256 }) => ({ path, sha256 }));
}
