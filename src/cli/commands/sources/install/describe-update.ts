import { createHash } from "node:crypto";
import { isUtf8 } from "node:buffer";
import { isSkillsError } from "../../../../errors.ts";
import type { SkillFile } from "../../../../remote/skill-bytes.ts";
import { changesOf, toCopy } from "../../../../trust/asking/copied-files.ts";
import type { ChangedFile } from "../../../../trust/asking/question.ts";
import { beyond, noCapabilities } from "../../../../trust/grants/capabilities.ts";
import type { CopiedFile } from "../../../../trust/grants/approvals.ts";
import { safeText } from "../../../report/safe-text.ts";
import type { Paint } from "../../../report/terminal.ts";
import { unifiedDiff } from "../../../report/unified-diff.ts";
import { wantedWords } from "./describe-download.ts";
import { inspectSkill } from "./inspect-skill.ts";
import type { InspectedSkill } from "./inspect-skill.ts";

const mostFiles = 20;
const mostLines = 100;

/** What an update changes. */
export interface Update {
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
): Promise<Update> {
  const old = before.length === 0 ? undefined : await inspectOrNothing(before, key);
  const wider = beyond(old?.wants ?? noCapabilities, inspected.wants);
  const [olds, news] = [new Set(before.map(({ path }) => path)), new Set(after.map(({ path }) => path))];
  const texts = changesOf(toCopies(before), toCopies(after));
  const paths = texts.map(({ path }) => path);
  return {
    widened: wantedWords({ wants: wider }),
    added: paths.filter((path) => !olds.has(path)),
    removed: paths.filter((path) => !news.has(path)),
    changed: paths.filter((path) => olds.has(path) && news.has(path)),
    texts,
  };
}

/** What is new in capabilities first, then each file as a unified diff. */
export function* describeUpdate({ widened, added, removed, texts }: Update, paint: Paint): Iterable<string> {
  for (const words of widened) yield `  ${paint("yellow", "NEW:")} ${safeText(words)}\n`;
  for (const file of texts.slice(0, mostFiles)) {
    const path = safeText(file.path);
    const [isNew, isGone] = [added.includes(file.path), removed.includes(file.path)];
    yield `${paint("bold", `--- ${isNew ? "/dev/null" : path}\n+++ ${isGone ? "/dev/null" : path}`)}\n`;
    const [before, after] = [isNew ? "" : file.before, isGone ? "" : file.after];
    if (before === undefined || after === undefined) {
      yield "binary, or too large to show\n";
      continue;
    }
    for (const line of unifiedDiff(before, after, mostLines)) yield `${painted(line, paint)}\n`;
  }
  if (texts.length > mostFiles) yield `and ${texts.length - mostFiles} more files\n`;
}

function painted(line: string, paint: Paint): string {
  // A line of a file after its sign, so that no command to a CI system is at the start of the line.
  const safe = `${line.slice(0, 1)}${safeText(line.slice(1))}`;
  if (line.startsWith("+")) return paint("green", safe);
  if (line.startsWith("-")) return paint("red", safe);
  return line.startsWith("@@") ? paint("cyan", safe) : safe;
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
