import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toCliCommand, toToolArguments, toToolCall } from "../../../../../src/browser/page/detail/runs/copy-box.tsx";
import type { RunDraft } from "../../../../../src/browser/page/detail/runs/state/run-form.ts";

/** What `acp-skills run` would call execute_skill with, from the words that a real shell makes of the command. */
function readCommand(command: string): unknown {
  const words = execFileSync("sh", ["-c", command.replace(/^acp-skills/, "printf '%s\\0'")], { encoding: "utf8" });
  const [run, ...args] = words.split("\0").slice(0, -1);
  expect(run).toBe("run");
  const split = args.indexOf("--");
  const { values, positionals } = parseArgs({
    args: split === -1 ? args : args.slice(0, split),
    options: { script: { type: "string" }, args: { type: "string" }, timeout: { type: "string" } },
    allowPositionals: true,
  });
  const given = JSON.parse(values.args ?? "{}") as object;
  return {
    name: positionals[0],
    script: values.script,
    args: split === -1 ? given : { argv: args.slice(split + 1), ...given },
    timeout: values.timeout,
  };
}

const text = fc.string({ unit: "grapheme", maxLength: 20 }).filter((one) => !one.includes("\0"));

test("the command gives exactly the arguments of the form, in a real shell", () => {
  const args = fc.dictionary(
    text.filter((name) => name !== "__proto__"),
    fc.jsonValue({ maxDepth: 2 }),
    { maxKeys: 4 },
  );
  fc.assert(
    fc.property(args, (given) => {
      const plain = JSON.parse(JSON.stringify(given).replaceAll("\\u0000", "")) as Record<string, unknown>;
      const { command } = toCliCommand({ skill: "a-b", args: plain, blobs: [], timeoutMs: 1500 });
      expect(readCommand(command)).toEqual({ name: "a-b", script: undefined, args: plain, timeout: "1500ms" });
    }),
    { numRuns: 60 },
  );
});

test("the words of a script are given behind two dashes", () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), text, (argv, stdin) => {
      const args = { argv, ...(stdin !== "" && { stdin }) };
      const { command } = toCliCommand({ skill: "pdf", script: "scripts/a b.py", args, blobs: [] });
      expect(readCommand(command)).toEqual({ name: "pdf", script: "scripts/a b.py", args, timeout: undefined });
    }),
    { numRuns: 60 },
  );
});

test("files are named, and what a person should know is said", () => {
  const runDraft: RunDraft = {
    skill: "clean",
    args: { table: "@1", other: "blob:abc" },
    blobs: [{ id: "blob:1", name: "-rows.csv" }],
    timeoutMs: 10_000,
  };
  expect(toCliCommand(runDraft)).toEqual({
    command: `acp-skills run clean --args '{"table":"@1","other":"blob:abc"}' --blob ./-rows.csv --timeout 10000ms`,
    notes: ["Run it where -rows.csv can be found.", "It names blobs, which are stored for 24 hours."],
  });
});

test("the tool call has only what was given", () => {
  expect(toToolArguments({ skill: "a", args: {}, blobs: [] })).toEqual({ name: "a" });
  const call = toToolCall({
    skill: "a",
    script: "scripts/x.sh",
    args: { argv: ["b"] },
    blobs: [{ id: "blob:1", name: "f" }],
    timeoutMs: 5,
  });
  expect(JSON.parse(call)).toEqual({
    name: "execute_skill",
    arguments: { name: "a", script: "scripts/x.sh", args: { argv: ["b"] }, input_blobs: ["blob:1"], timeout_ms: 5 },
  });
});
