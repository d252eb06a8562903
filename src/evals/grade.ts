import path from "node:path";
import { runInNewContext } from "node:vm";
import type { MountedFile, RunHost, Sandbox, SandboxRun } from "../runtime/ports.ts";
import { defaultRunLimits } from "../runtime/runs.ts";
import type { OutputFile } from "./case-directory.ts";
import { readPlain } from "./read-plain.ts";
import type { AssertionResult } from "./recorded-runs.ts";
import type { EvalSession } from "./run-session.ts";
import type { Assertion } from "../skills/check.ts";

export interface Graded {
  readonly session: Pick<EvalSession, "answer" | "fault">;
  readonly files: readonly OutputFile[];
  readonly skill: { readonly directory: string; readonly slug: string };
  /** Opens a sandbox, for assertions that are scripts. */
  readonly openSandbox: () => Promise<Sandbox>;
  /** Judges assertions in words; undefined without a judge. */
  readonly judge:
    ((texts: readonly string[]) => Promise<readonly Omit<AssertionResult, "text" | "weight">[]>) | undefined;
  readonly signal: AbortSignal;
}

/** The maximum lengths of a text that is searched and of one that is shown, in characters, and of a script, in bytes. */
const longest = { searched: 500_000, shown: 300, script: 1024 * 1024 };

/** Whether each assertion holds after a session; a session without an answer passes none. */
export async function grade(assertions: readonly Assertion[], graded: Graded): Promise<readonly AssertionResult[]> {
  const inWords = assertions.filter(({ kind }) => kind === "words").map(({ text }) => text);
  const { fault } = graded.session;
  const judged = fault === undefined && inWords.length > 0 ? await graded.judge?.(inWords) : undefined;
  let next = 0;
  const results: AssertionResult[] = [];
  for (const assertion of assertions) {
    const { text, weight, kind } = assertion;
    const verdict =
      fault !== undefined
        ? { passed: false, evidence: `The session failed: ${fault}.` }
        : kind === "words"
          ? (judged?.[next++] ?? { passed: null, evidence: "Nobody judged it: --judge names an agent that does." })
          : await check(assertion, graded).catch((error: unknown) => ({
              passed: null,
              evidence: error instanceof Error ? error.message : String(error),
            }));
    results.push({ text, weight, ...verdict });
  }
  return results;
}

type Verdict = Pick<AssertionResult, "passed" | "evidence">;

/** The match of a pattern. Throws after 2 s, because a slow pattern can be interrupted in no other way. */
function search(pattern: string, text: string): string | undefined {
  const found: unknown = runInNewContext(
    "new RegExp(pattern, 'm').exec(text)?.[0]",
    { pattern, text },
    { timeout: 2_000 },
  );
  return typeof found === "string" ? found : undefined;
}

async function check(assertion: Exclude<Assertion, { kind: "words" }>, graded: Graded): Promise<Verdict> {
  switch (assertion.kind) {
    case "file": {
      const found = graded.files.find(({ path: name }) => name === assertion.file);
      if (found !== undefined) return { passed: true, evidence: `${found.bytes.length} bytes` };
      const names = graded.files.slice(0, 20).map(({ path: name }) => name);
      return { passed: false, evidence: `There are: ${names.join(", ") || "no files"}.` };
    }
    case "pattern": {
      const { file, pattern } = assertion;
      const content =
        file === undefined
          ? graded.session.answer
          : graded.files.find(({ path: name }) => name === file)?.bytes.toString("utf8");
      if (content === undefined) return { passed: false, evidence: `${String(file)} was not written.` };
      const found = search(pattern, content.slice(0, longest.searched));
      return { passed: found !== undefined, evidence: (found ?? content).slice(0, longest.shown) };
    }
    case "script":
      return await runScript(assertion, graded);
  }
}

/** The name of the mount that gives a script the session's files, at `/skills/eval.outputs/`; the answer is its stdin. */
const outputsName = "eval.outputs";
const languages = { py: "python", sh: "bash", js: "node", mjs: "node" } as const;

/** Runs a script, which passes if it exits with 0. `passed` is null if no sandbox here can run it. */
async function runScript({ script, args }: Extract<Assertion, { kind: "script" }>, graded: Graded): Promise<Verdict> {
  const language = languages[(script.split(".").at(-1) ?? "") as keyof typeof languages] as "python" | undefined;
  if (language === undefined) return { passed: null, evidence: `${script} is in none of .py, .sh, .js and .mjs.` };
  const { skill, files, session, openSandbox, signal } = graded;
  let printed = "";
  const print = (_stream: unknown, bytes: Uint8Array): void => {
    printed = (printed + Buffer.from(bytes).toString()).slice(-longest.shown);
  };
  const bytes = readPlain(path.join(skill.directory, script), longest.script);
  if (bytes === undefined) return { passed: null, evidence: `${script} is no readable file of the skill.` };
  const run: SandboxRun = {
    runId: "run_eval",
    program: { type: "script", skill: skill.slug, file: script, language, argv: args, stdin: session.answer },
    skills: [
      { name: skill.slug, files: [toMountedFile(script, bytes)] },
      { name: outputsName, files: files.map(({ path: name, bytes }) => toMountedFile(name, bytes)) },
    ],
    ...{ brokered: [], blobs: [], secrets: {}, network: [], limits: defaultRunLimits },
  };
  const sandbox = await openSandbox();
  const refusal = sandbox.refuses(run);
  if (refusal !== undefined) return { passed: null, evidence: refusal };
  const end = await sandbox.run(run, { ...silentHost, print }, signal);
  return {
    passed: end.type === "exited" && end.exitCode === 0,
    evidence: printed.trim() || `It ended as ${end.type}.`,
  };
}

function toMountedFile(name: string, bytes: Uint8Array): MountedFile {
  async function* read(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(bytes);
  }
  return { path: name, size: bytes.length, read };
}

const silentHost: Omit<RunHost, "print"> = {
  hide: (text) => text,
  createBlob: () => Promise.reject(new Error("Checks of evals create no blobs.")),
  callSkill: () => Promise.reject(new Error("Checks of evals call no skills.")),
  output: () => Promise.resolve(),
};
