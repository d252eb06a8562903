import { expect, test } from "vitest";
import { toLedgerSentence, withChanges } from "../../../../../src/browser/page/detail/runs/sentences.ts";
import type { LedgerEvent } from "../../../../../src/browser/wire/runs.ts";

const at = 0;

test.each<[Omit<LedgerEvent, "at">, string]>([
  [{ what: "use", tool: "execute_skill", door: "mcp", outcome: "completed" }, "Run by a model."],
  [
    { what: "use", tool: "execute_skill", door: "browser", outcome: "failed", code: "TimeoutError" },
    "Run in this browser: failed (TimeoutError).",
  ],
  [{ what: "use", tool: "prompt", door: "acp" }, "Invoked by a person in an editor."],
  [{ what: "use", tool: "other", door: "other" }, "Used with other through other."],
  [
    { what: "start", tool: "execute_skill", door: "mcp", outcome: "started", about: "secret KEY", grant: "grant_1" },
    "Started by a model with secret KEY (grant_1).",
  ],
  [{ what: "ask", tool: "execute_skill", door: "acp", about: "Run a?" }, "A person was asked in an editor: Run a?"],
  [
    { what: "answer", tool: "execute_skill", door: "acp", outcome: "allowed", answer: "trust" },
    "Allowed: this version approved.",
  ],
  [
    { what: "answer", tool: "execute_skill", door: "cli", outcome: "denied", answer: "timeout" },
    "Not allowed: nobody answered in time.",
  ],
  [
    { what: "refusal", tool: "execute_skill", door: "http", about: "A policy." },
    "Refused without asking over HTTP: A policy.",
  ],
  [{ what: "grant", tool: "approvals", door: "cli", grant: "grant_1" }, "Approved at the command line (grant_1)."],
  [{ what: "block", tool: "approvals", door: "cli", outcome: "denied" }, "Blocked at the command line."],
  [
    { what: "import", tool: "approvals", door: "cli", about: "given by kim" },
    "An approval or a block was imported: given by kim.",
  ],
  [{ what: "revoke", tool: "approvals", door: "browser" }, "Approval withdrawn in this browser."],
  [{ what: "later", tool: "x", door: "cli" }, "later at the command line."],
])("%j is described in a sentence", (event, sentence) => {
  expect(toLedgerSentence({ at, ...event })).toBe(sentence);
});

test("between events of different bytes it is said that the files changed", () => {
  const use = (time: number, digest?: string): LedgerEvent => ({
    at: time,
    what: "use",
    tool: "execute_skill",
    door: "cli",
    ...(digest !== undefined && { digest }),
  });
  expect(
    withChanges([use(4, "b"), use(3), use(2, "a"), use(1, "a")]).map((line) => ("event" in line ? line.at : line)),
  ).toEqual([4, { at: 4, from: "a", to: "b" }, 3, 2, 1]);
});
