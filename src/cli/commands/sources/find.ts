import { byCodePoint } from "../../../base/text/code-points.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { rankByWords, toQueryWords } from "../../../runtime/caller.ts";
import { allowPrivate, cwd, json, notes, roots, tokensByOrigin, token } from "../../arguments/shared-options.ts";
import { defineCommand, usageError, texts } from "../../command.ts";
import { toAbsolute } from "../../arguments/values.ts";
import { createListing } from "../../listing.ts";
import { parseSource } from "../../../sources/source.ts";
import { deniedSources } from "../../arguments/policies.ts";
import { table } from "../../report/table.ts";
import { safeText } from "../../report/safe-text.ts";
import { shownPath } from "../../../base/paths/location.ts";
import { type Terminal, onInterruption } from "../../report/terminal.ts";
import type { RemoteIndex } from "../../../sources/reader.ts";

export const command = defineCommand({
  usage: "find WORD… [options]",
  positionals: { name: "WORD", minimum: 1, maximum: Infinity },
  options: {
    source: texts("SOURCE", "Also search what SOURCE lists. Repeatable."),
    "allow-private": allowPrivate,
    skills: roots.skills,
    "no-default-roots": roots["no-default-roots"],
    token,
    cwd,
    json,
  },
  examples: ["find pdf tables", "find translate --source example.com --source acme/skills"],
  notes: [
    "Searches names, tags and descriptions, of the skills here and of the sources; best matches first.",
    "SOURCE: a domain or URL, OWNER/REPO[@REF] of GitHub, git:URL[#REF], or registry:URL. Nothing is installed.",
    notes.roots,
    "Exits with 1 if nothing is found, or a directory or source cannot be read.",
  ],
  async run({ options, positionals }, terminal) {
    const words = toQueryWords(positionals.join(" "));
    if (words.length === 0) throw usageError("WORD needs a letter or digit");
    // Sources are searched as they are now, not in the copies of them.
    const { source: texts = [], "allow-private": allowed = [], token: tokens, ...here } = options;
    const opened =
      texts.length === 0
        ? undefined
        : (await import("../../../sources/reader.ts")).openListings(texts, allowed, {
            denied: deniedSources(toAbsolute(options.cwd ?? "."), terminal),
            tokens: tokensByOrigin(tokens, texts.map(parseSource)),
          });
    const { signal, stop } = onInterruption();
    try {
      const { catalog, complete } = await createListing(here, terminal);
      const local = catalog.snapshot.skills.map(({ skill }): Candidate => ({
        ...skill,
        from: shownPath(skill.directory, terminal.cwd),
      }));
      const read = await Promise.all(
        (opened?.sources ?? []).map(async (source) => {
          try {
            return await opened?.read(source, signal);
          } catch (error) {
            signal.throwIfAborted();
            if (!isSkillsError(error)) throw error;
            terminal.note(error.message);
            return undefined;
          }
        }),
      );
      const found = rank(
        [...local, ...read.flatMap((index) => (index === undefined ? [] : candidatesOf(index)))],
        words,
      );
      await print(found, { isJson: options.json === true }, terminal);
      const isComplete = complete && read.every((index) => index !== undefined && index.isPartial !== true);
      return isComplete && found.length > 0 ? 0 : 1;
    } catch (error) {
      if (signal.aborted) return 130;
      throw error;
    } finally {
      stop();
      await opened?.close();
    }
  },
});

interface Candidate {
  readonly name: string;
  readonly version?: string;
  readonly tags: readonly string[];
  readonly description: string;
  /** The directory, or the source. */
  readonly from: string;
}

function candidatesOf({ source, skills }: RemoteIndex): readonly Candidate[] {
  return skills.map(({ name, version, description }) => ({
    name,
    description,
    tags: [],
    from: source.label,
    ...(version !== undefined && { version }),
  }));
}

/** Those that match, best first, then by name. */
function rank(candidates: readonly Candidate[], words: readonly string[]): readonly Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, rank: rankByWords(candidate, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank || byCodePoint(a.candidate.name, b.candidate.name))
    .map(({ candidate }) => candidate);
}

async function print(
  found: readonly Candidate[],
  { isJson }: { readonly isJson: boolean },
  terminal: Terminal,
): Promise<void> {
  if (isJson) {
    const skills = found.map(({ name, version, description, from }) => ({ name, version, description, from }));
    await terminal.printJson({ skills });
    return;
  }
  const rows = found.map(({ name, version = "-", from, description }) =>
    [name, version, from, description].map(safeText),
  );
  if (rows.length > 0) await terminal.print(table(["NAME", "VERSION", "FROM", "DESCRIPTION"], rows, terminal));
  else terminal.note("no skill matches; try fewer or other words, or further sources with --source");
}
