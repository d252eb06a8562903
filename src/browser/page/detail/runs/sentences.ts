import type { LedgerEvent } from "../../../wire/runs.ts";

const transports: Readonly<Record<string, string>> = {
  acp: "in an editor",
  mcp: "by a model",
  "in-process": "by a model",
  http: "over HTTP",
  cli: "at the command line",
  browser: "in this browser",
};

/** The transport of a call, in words. */
export function transportInWords(transport: string): string {
  return transports[transport] ?? `through ${transport}`;
}

const uses: Readonly<Record<string, string>> = {
  execute_skill: "Run",
  describe_skill: "Description read",
  read_skill_file: "A file read",
  run_code: "Code run with it",
  prompt: "Invoked by a person",
  replay: "Run again",
};

const answers: Readonly<Record<string, string>> = {
  once: "allowed once",
  trust: "this version approved",
  "not-now": "not now",
  block: "blocked",
  nobody: "there was nobody to ask",
  cancelled: "the question was cancelled",
  timeout: "nobody answered in time",
  failed: "the answer was not usable",
};

/** Describes an event of the ledger in one sentence, which may quote text of agents and skills. */
export function toLedgerSentence(event: LedgerEvent): string {
  const { what, tool, outcome, code, about, answer, grant } = event;
  const transport = transportInWords(event.door);
  const by = grant === undefined ? "" : ` (${grant})`;
  const why = about === undefined ? "." : `: ${about}`;
  const isPlain = outcome === undefined || outcome === "completed";
  const how = isPlain ? "" : `: ${outcome}${code === undefined ? "" : ` (${code})`}`;
  const said = answer === undefined ? "" : `: ${answers[answer] ?? answer}`;
  const sentences: Readonly<Record<string, string>> = {
    use: `${uses[tool] ?? `Used with ${tool}`} ${transport}${how}.`,
    start: `Started ${transport}${about === undefined ? "" : ` with ${about}`}${by}.`,
    ask: `A person was asked ${transport}${why}`,
    answer: `${outcome === "allowed" ? "Allowed" : "Not allowed"}${said}.`,
    refusal: `Refused without asking ${transport}${why}`,
    block: `Blocked ${transport}.`,
    import: `An approval or a block was imported${about === undefined ? "" : `: ${about}`}.`,
    grant: `Approved ${transport}${by}.`,
    revoke: `Approval withdrawn ${transport}${by}.`,
  };
  return (Object.hasOwn(sentences, what) ? sentences[what] : undefined) ?? `${what} ${transport}${why}`;
}

/** A line of the history: an event, or a change of the skill's files. */
type HistoryLine =
  | { readonly at: number; readonly event: LedgerEvent }
  | { readonly at: number; readonly from: string; readonly to: string };

/** Adds the changes of the files between the events, which are newest first. */
export function withChanges(events: readonly LedgerEvent[]): readonly HistoryLine[] {
  const lines: HistoryLine[] = [];
  let before: string | undefined;
  for (const event of events.toReversed()) {
    const { at, digest } = event;
    if (digest !== undefined && before !== undefined && digest !== before) lines.push({ at, from: before, to: digest });
    before = digest ?? before;
    lines.push({ at, event });
  }
  return lines.reverse();
}
