import path from "node:path";
import * as z from "zod";
import { SkillsError } from "../base/errors.ts";
import { parseIfJson } from "../base/json/json-value.ts";
import { readPlain } from "./read-plain.ts";

/** Where the cases of a skill are, below its directory. */
const suiteFile = "evals/evals.json";

const maxSuiteBytes = 1024 * 1024;
const maxCases = 1_000;
const text = z.string().trim().min(1);
const place = text.refine(isInside, "expected a path inside the skill, with /");
const weight = z.number().positive().default(1);

/** In words, for a judge; or what we find out ourselves. */
const assertionSchema = z.union([
  text.transform((words) => ({ text: words, weight: 1, kind: "words" as const })),
  z
    .object({ name: text.optional(), pattern: text, in: place.optional(), weight })
    .transform(({ name, pattern, in: file, ...rest }) => ({
      ...{ ...rest, kind: "pattern" as const, pattern: toPattern(pattern), file },
      text: name ?? `${file ?? "the answer"} matches ${pattern}`,
    })),
  z
    .object({ name: text.optional(), file: place, weight })
    .transform(({ name, ...rest }) => ({ ...rest, kind: "file" as const, text: name ?? `${rest.file} is there` })),
  z
    .object({ name: text.optional(), script: place, args: z.array(z.string()).default([]), weight })
    .transform(({ name, ...rest }) => ({
      ...rest,
      kind: "script" as const,
      text: name ?? `${rest.script} exits with 0`,
    })),
  z.object({ name: text.optional(), check: text, weight }).transform(({ name, check, ...rest }) => ({
    ...rest,
    kind: "words" as const,
    text: name === undefined ? check : `${name}: ${check}`,
  })),
]);

/** One thing that must hold after a case; `text` says it in words. */
export type Assertion = z.output<typeof assertionSchema>;

const caseSchema = z
  .object({
    id: z.union([text, z.number().int()]).transform(String).optional(),
    prompt: text.optional(),
    query: text.optional(),
    expected_output: z.string().optional(),
    files: z.array(place).max(1_000).default([]),
    assertions: z.array(assertionSchema).max(200).optional(),
    expectations: z.array(assertionSchema).max(200).optional(),
    should_trigger: z.boolean().optional(),
  })
  .transform(({ id, prompt, query, expected_output, files, assertions, expectations, should_trigger }, context) => {
    const asked = prompt ?? query;
    if (asked === undefined)
      context.addIssue({ code: "custom", path: ["prompt"], message: "expected what the user asks" });
    return {
      id,
      prompt: asked ?? "",
      expectedOutput: expected_output,
      files,
      assertions: assertions ?? expectations ?? [],
      /** Whether the skill is to be used; true unless the case says otherwise. */
      shouldTrigger: should_trigger ?? true,
    };
  });

const suiteSchema = z.object({ skill_name: text.optional(), evals: z.array(caseSchema).min(1).max(maxCases) });

export type EvalCase = Omit<z.output<typeof caseSchema>, "id"> & { readonly id: string };

/**
 * The cases of a skill, in the form of the Agent Skills guide on evaluating skills, with `expectations`, `query`, `should_trigger` and
 * weighted `{name, check}` as others write them. Throws UNREADABLE if there is no such file, INVALID_OPTIONS that names each fault.
 */
export function readSuite(directory: string): readonly EvalCase[] {
  const file = path.join(directory, ...suiteFile.split("/"));
  const bytes = readPlain(file, maxSuiteBytes);
  if (bytes === undefined) {
    const hint = `Write {"evals": [{"id": "first", "prompt": "…", "assertions": ["…"]}]} there, in at most 1 MiB.`;
    throw new SkillsError("UNREADABLE", `There are no cases in ${file}. ${hint}`, { facts: { path: file } });
  }
  const value = parseIfJson(bytes.toString("utf8"));
  const parsed = suiteSchema.safeParse(Array.isArray(value) ? { evals: value as unknown[] } : value);
  if (!parsed.success) {
    const faults = parsed.error.issues
      .slice(0, 5)
      .map((issue) => `${issue.path.join("/") || "the file"}: ${issue.message}`);
    throw new SkillsError("INVALID_OPTIONS", `${file} is not usable: ${faults.join("; ")}.`);
  }
  const ids = new Set<string>();
  return parsed.data.evals.map(({ id = "", ...rest }, index) => {
    const own = directoryNameOf(id === "" ? String(index + 1) : id);
    if (ids.has(own)) throw new SkillsError("INVALID_OPTIONS", `${file} is not usable: two cases have the id ${own}.`);
    ids.add(own);
    return { ...rest, id: own };
  });
}

function directoryNameOf(id: string): string {
  return (
    id
      .replace(/[^\w.-]+/g, "-")
      .replace(/^[.-]+/, "")
      .slice(0, 80) || "case"
  );
}

function isInside(file: string): boolean {
  return !path.posix.isAbsolute(file) && !file.includes("\\") && !path.posix.normalize(file).startsWith("..");
}

/** Compiled when it is used: what it cannot be is a fault of the file. */
function toPattern(pattern: string): string {
  try {
    new RegExp(pattern, "m");
    return pattern;
  } catch {
    throw new SkillsError("INVALID_OPTIONS", `${JSON.stringify(pattern)} is no regular expression.`);
  }
}
