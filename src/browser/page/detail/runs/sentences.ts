import type { LedgerEvent } from "../../../wire/runs.ts";

const doors: Readonly<Record<string, string>> = {
  acp: "in an editor",
  mcp: "by a model",
  "in-process": "by a model",
  http: "over HTTP",
  cli: "at the command line",
  browser: "in this browser",
};

/** Where something was done, in words. */
export function doorInWords(door: string): string {
  return doors[door] ?? `through ${door}`;
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

/** One sentence on what the ledger says. Its texts are of agents and skills. */
export function toLedgerSentence(event: LedgerEvent): string {
  const { what, tool, outcome, code, about, answer, grant, door } = event;
  switch (what) {
    case "use": {
      const how =
        outcome === undefined || outcome === "completed" ? "" : `: ${outcome}${code === undefined ? "" : ` (${code})`}`;
      return `${uses[tool] ?? `Used with ${tool}`} ${doorInWords(door)}${how}.`;
    }
    case "start":
      return `Started ${doorInWords(door)}${about === undefined ? "" : ` with ${about}`}${grant === undefined ? "" : ` (${grant})`}.`;
    case "ask":
      return `A person was asked ${doorInWords(door)}: ${about ?? "whether it may be used"}`;
    case "answer": {
      const words = answer === undefined ? undefined : (answers[answer] ?? answer);
      return `${outcome === "allowed" ? "Allowed" : "Not allowed"}${words === undefined ? "" : `: ${words}`}.`;
    }
    case "refusal":
      return `Refused without asking ${doorInWords(door)}${about === undefined ? "." : `: ${about}`}`;
    case "block":
      return `Blocked ${doorInWords(door)}.`;
    case "import":
      return `An approval or a block was imported${about === undefined ? "" : `: ${about}`}.`;
    case "grant":
      return `Approved ${doorInWords(door)}${grant === undefined ? "" : ` (${grant})`}.`;
    case "revoke":
      return `Approval withdrawn ${doorInWords(door)}${grant === undefined ? "" : ` (${grant})`}.`;
    default:
      return `${what} ${doorInWords(door)}${about === undefined ? "." : `: ${about}`}`;
  }
}

/** A day's line in the history: an event, or that its files were others from then on. */
type HistoryLine =
  | { readonly at: number; readonly event: LedgerEvent }
  | { readonly at: number; readonly from: string; readonly to: string };

/** Puts between the events, newest first, where the files changed from one version to another. */
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
