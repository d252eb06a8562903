import { byCodePoint } from "../../../base/text/code-points.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { rankByWords, toQueryWords } from "../../../runtime/caller.ts";
import { allowPrivate, cwd, json, roots, token } from "../../arguments/shared-options.ts";
import { defineCommand, usageError, texts, type ExitCode, exit } from "../../command.ts";
import { toAbsolute } from "../../arguments/values.ts";
import { createListing } from "../../listing.ts";
import { parseSource } from "../../../sources/source.ts";
import { withReader } from "./install/source-options.ts";
import { table } from "../../report/table.ts";
import { errorLines, safeText } from "../../report/safe-text.ts";
import { shownPath } from "../../../base/paths/location.ts";
import type { Terminal } from "../../report/terminal.ts";
import type { SourceLister } from "../../../sources/reader.ts";

export const command = defineCommand({
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
    "SOURCE: a domain or URL, OWNER/REPO[@REF] of GitHub, git:URL[#REF], registry:URL, npm:PACKAGE[@RANGE], npm:node_modules, oci://HOST/REPO[:TAG], mcp:URL or mcp:COMMAND. Nothing is installed.",
    "Exits with 1 if nothing is found, with 3 if a source cannot be read.",
  ],
  async run({ options, positionals }, terminal) {
    const words = toQueryWords(positionals.join(" "));
    if (words.length === 0) throw usageError("WORD needs a letter or digit");
    // Sources are searched in their current state, not in their copies.
    const { source: texts = [], ...here } = options;
    const sources = texts.map(parseSource);
    const search = async (reader?: SourceLister, signal?: AbortSignal): Promise<ExitCode> => {
      const { catalog, status } = await createListing(here, terminal);
      const local = catalog.snapshot.skills.map(({ skill }): Candidate => ({
        ...skill,
        from: shownPath(skill.directory, terminal.cwd),
      }));
      const read = await Promise.all(
        sources.map(async (source) => {
          try {
            return signal && (await reader?.list(source, signal));
          } catch (error) {
            signal?.throwIfAborted();
            if (!isSkillsError(error)) throw error;
            terminal.note(...errorLines(error.message));
            return undefined;
          }
        }),
      );
      const theirs = read.flatMap((index) =>
        (index?.skills ?? []).map((skill) => ({ ...skill, tags: [], from: index?.source.label ?? "" })),
      );
      const found = rank([...local, ...theirs], words);
      await print(found, options.json === true, terminal);
      if (read.some((index) => index === undefined || index.isPartial === true)) return exit.unable;
      return status !== exit.done ? status : found.length > 0 ? exit.done : exit.found;
    };
    if (sources.length === 0) return await search();
    return await withReader(options, sources, toAbsolute(options.cwd ?? "."), terminal, search);
  },
});

interface Candidate {
  readonly name: string;
  readonly version?: string;
  readonly tags: readonly string[];
  readonly description: string;
  /** The directory or the source of the skill. */
  readonly from: string;
}

/** The candidates that match, best first, then by name. */
function rank(candidates: readonly Candidate[], words: readonly string[]): readonly Candidate[] {
  return candidates
    .map((candidate) => ({ candidate, rank: rankByWords(candidate, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank || byCodePoint(a.candidate.name, b.candidate.name))
    .map(({ candidate }) => candidate);
}

async function print(found: readonly Candidate[], isJson: boolean, terminal: Terminal): Promise<void> {
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
