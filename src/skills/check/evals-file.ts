import path from "node:path";
import * as z from "zod";
import { SkillsError } from "../../base/errors.ts";
import { attempt } from "../../base/failures/system-error.ts";
import { type JsonNode, nodeAt, parseJsonNode, rangeOf, valueOf } from "../../base/json/json-text.ts";
import { guardedSegment } from "../../base/paths/guarded-names.ts";
import { counted } from "../../base/text/code-points.ts";
import { nearest } from "../../base/text/nearest.ts";
import { diskSkillBytes } from "../files/disk-skill-files.ts";
import { fileIdentityOf } from "../files/follow-path.ts";
import type { SkillBytes } from "../files.ts";
import type { Finding } from "../rules.ts";

const example = '{"evals": [{"id": "first", "prompt": "…", "assertions": ["…"]}]}';

const maxEvalsBytes = 1024 * 1024;
const maxShown = 5;
const text = z.string().trim().min(1);
const innerPath = text.refine(isInside, "expected a path inside the skill, with /");
const pattern = text.refine(
  (source) => attempt(() => new RegExp(source, "m"), undefined) !== undefined,
  "expected a regular expression",
);

/** Returns a file of the skill with its path in the project of a session. */
function toCopy(file: string): { readonly path: string; readonly target: string } {
  return { path: file, target: path.posix.normalize(file).replace(/^evals\/(?:files\/)?/, "") };
}

/** An assertion: a sentence for a judge, or a check that acp-skills makes itself. */
const assertionSchema = z.preprocess(
  (value) => (typeof value === "string" ? { check: value } : value),
  z
    .object({
      name: text.optional(),
      ...{ pattern: pattern.optional(), in: innerPath.optional() },
      file: innerPath.optional(),
      ...{ script: innerPath.optional(), args: z.array(z.string()).default([]) },
      ...{ check: text.optional(), text: text.optional(), description: text.optional() },
      weight: z.number().positive().default(1),
    })
    .transform(({ name, pattern: source, in: searched, file, script, args, weight, ...words }, context) => {
      const check = words.check ?? words.text ?? words.description;
      if (source !== undefined) {
        const words = name ?? `${searched ?? "the answer"} matches ${source}`;
        return { kind: "pattern" as const, pattern: source, file: searched, weight, text: words };
      }
      if (file !== undefined) return { kind: "file" as const, file, weight, text: name ?? `${file} is there` };
      if (script !== undefined)
        return { kind: "script" as const, script, args, weight, text: name ?? `${script} exits with 0` };
      if (check !== undefined)
        return { kind: "words" as const, weight, text: name === undefined ? check : `${name}: ${check}` };
      context.addIssue('expected a sentence, or an object with "pattern", "file", "script", "check" or "text"');
      return z.NEVER;
    }),
);

/** A condition that must hold after a case; `text` is its wording. */
export type Assertion = z.output<typeof assertionSchema>;

const caseFields = z.object({
  id: z.union([text, z.number().int()]).transform(String).optional(),
  prompt: text.optional(),
  query: text.optional(),
  expected_output: z.string().optional(),
  files: z.array(innerPath.transform(toCopy)).max(1_000).default([]),
  assertions: z.array(assertionSchema).max(200).optional(),
  expectations: z.array(assertionSchema).max(200).optional(),
  should_trigger: z.boolean().optional(),
});
const caseSchema = caseFields.transform(
  ({ id, prompt, query, expected_output, files, assertions, expectations, should_trigger }, context) => {
    const asked = prompt ?? query;
    if (asked === undefined)
      context.addIssue({ code: "custom", path: ["prompt"], message: "expected what the user asks" });
    const stated = assertions ?? expectations ?? [];
    const expected = expected_output?.trim() ?? "";
    return {
      id,
      prompt: asked ?? "",
      expectedOutput: expected_output,
      files,
      /** A case with only an expected output has one assertion: that the result is like it. */
      assertions:
        stated.length > 0 || expected === ""
          ? stated
          : [{ kind: "words" as const, weight: 1, text: `The result is as expected: ${expected}` }],
      /** Whether the skill is to be used; true unless the case says otherwise. */
      shouldTrigger: should_trigger ?? true,
    };
  },
);

const evalsSchema = z.object({ evals: z.array(caseSchema).min(1).max(1_000) });

export type EvalCase = Omit<z.output<typeof caseSchema>, "id"> & { readonly id: string };

/** The cases of a skill, and all faults of the file. After a fault there are no cases. */
interface EvalsFile {
  readonly file: string;
  readonly cases: readonly EvalCase[];
  readonly findings: readonly Finding[];
}

export function evalsFileOf(directory: string): string {
  return path.join(directory, "evals", "evals.json");
}

/**
 * Reads `evals/evals.json` of a skill in its real directory, in the form of the Agent Skills guide on evaluating skills. Also accepts the
 * variants `expectations`, `query`, `should_trigger`, and assertions as `{text}`, `{name, description}` or `{name, check, weight}`.
 * Undefined if there is none.
 */
export function readEvalsFile(directory: string): EvalsFile | undefined {
  const file = evalsFileOf(directory);
  if (fileIdentityOf(file) === undefined) return undefined;
  const disk = diskSkillBytes();
  const part = attempt(() => disk.head(file, maxEvalsBytes), undefined);
  const refuse = (findings: readonly Omit<Finding, "code" | "file">[]): EvalsFile => ({
    ...{ file, cases: [] },
    findings: findings.map((finding) => ({ code: "evals-invalid", file, ...finding })),
  });
  const start = { line: 1, column: 1 };
  if (part === undefined || part.size > maxEvalsBytes) {
    const message = "it cannot be read: it is larger than 1 MiB, no file, or a link leads to it";
    return refuse([{ ...start, message, fix: `Write a file with ${example}.` }]);
  }
  const written = Buffer.from(part.bytes).toString("utf8");
  const root = parseJsonNode(written);
  if ("fault" in root) {
    const { message, fix } = root.fault;
    return refuse([{ ...rangeOf(written, root.fault), message, fix }]);
  }
  const isList = root.type === "array";
  const parsed = evalsSchema.safeParse(isList ? { evals: valueOf(root) } : valueOf(root));
  const faults = parsed.success
    ? [
        ...misspellings(isList ? root : nodeAt(root, ["evals"]), ["evals"]),
        ...faultsOf(parsed.data.evals, (name) => isReadable(disk, path.join(directory, name))),
      ]
    : parsed.error.issues.map(({ path: at, message }) => ({ path: at as (string | number)[], message }));
  if (faults.length > 0 || !parsed.success) {
    const shown = faults.slice(0, maxShown).map(({ path: at, message }, index) => ({
      ...rangeOf(written, nodeAt(root, isList ? at.slice(1) : at)),
      message:
        `${at.join("/") || "the file"}: ${message}` +
        (index === maxShown - 1 && faults.length > maxShown
          ? `; and ${counted(faults.length - maxShown, "more fault")}`
          : ""),
      fix: `Write ${example}; acp-skills eval --help says what a case may have.`,
    }));
    return refuse(shown);
  }
  return { file, cases: parsed.data.evals.map((one, index) => ({ ...one, id: idOf(one, index) })), findings: [] };
}

/** Reads cases with {@link readEvalsFile}. Throws UNREADABLE if there are none, and INVALID_OPTIONS, which names each fault. */
export function readCasesOf(directory: string): readonly EvalCase[] {
  const found = readEvalsFile(directory);
  if (found === undefined) {
    const file = evalsFileOf(directory);
    const hint = `Write ${example} there.`;
    throw new SkillsError("UNREADABLE", `There are no cases in ${file}. ${hint}`, { facts: { path: file } });
  }
  const { file, findings, cases } = found;
  if (findings.length === 0) return cases;
  const faults = findings.map(({ line, column, message }) => `${line}:${column} ${message}`);
  throw new SkillsError("INVALID_OPTIONS", `${file} is not usable: ${faults.join("; ")}.`);
}

interface Fault {
  readonly path: (string | number)[];
  readonly message: string;
}

const known = Object.keys(caseFields.shape);
const knownOfAssertion = ["name", "pattern", "in", "file", "script", "args", "check", "text", "description", "weight"];

/** Finds keys that are nearly those of a case or an assertion. Ignores all other keys, because each tool has its own. */
function misspellings(node: JsonNode, at: Fault["path"]): readonly Fault[] {
  if (node.type === "array") return node.items.flatMap((item, index) => misspellings(item, [...at, index]));
  if (node.type !== "object") return [];
  const names = at.length === 2 ? known : knownOfAssertion;
  return node.entries.flatMap(({ key, node: inner }): readonly Fault[] => {
    if (names.includes(key)) return at.length === 2 && inner.type === "array" ? misspellings(inner, [...at, key]) : [];
    // Short keys of other tools, such as `id`, are near to any other short key.
    const [close] = nearest(key, names).filter((name) => key.length > 3 && Math.abs(name.length - key.length) <= 2);
    return close === undefined ? [] : [{ path: [...at, key], message: `did you mean ${JSON.stringify(close)}?` }];
  });
}

/** Finds the faults of cases that have the right form. */
function faultsOf(cases: readonly z.output<typeof caseSchema>[], hasFile: (name: string) => boolean): readonly Fault[] {
  const ids = new Set<string>();
  return cases.flatMap((one, index) => {
    const id = idOf(one, index);
    const isTwice = ids.has(id);
    ids.add(id);
    const faults = one.files.flatMap(({ path: file, target }, at): Fault[] => {
      const guarded = guardedSegment(target);
      const message =
        guarded !== undefined
          ? `${file} is not copied: agents and editors obey ${guarded}`
          : hasFile(file)
            ? undefined
            : `${file} is no readable file of the skill`;
      return message === undefined ? [] : [{ path: ["evals", index, "files", at], message }];
    });
    return isTwice ? [{ path: ["evals", index, "id"], message: `two cases have the id ${id}` }, ...faults] : faults;
  });
}

function isReadable(disk: SkillBytes, file: string): boolean {
  return attempt(() => disk.stamp(file), undefined) !== undefined;
}

/** The id of a case as a name for a directory. */
function idOf({ id = "" }: { readonly id?: string | undefined }, index: number): string {
  const name = (id === "" ? String(index + 1) : id).replace(/[^\w.-]+/g, "-").replace(/^[.-]+/, "");
  return name.slice(0, 80) || "case";
}

function isInside(file: string): boolean {
  return !path.posix.isAbsolute(file) && !file.includes("\\") && !path.posix.normalize(file).startsWith("..");
}
