import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type {
  Json,
  MountedBlob,
  MountedFile,
  MountedSkill,
  RunLimits,
  SandboxRun,
} from "../../../src/runtime/sandbox.ts";

const ordinaryLimits: RunLimits = {
  timeoutMs: 15_000,
  memoryBytes: 256 * 1024 * 1024,
  processes: 32,
  diskBytes: 16 * 1024 * 1024,
  printedBytes: 1024 * 1024,
  resultBytes: 4 * 1024 * 1024,
  outputFiles: 100,
};

/** The inputs of a run besides its program. */
export type More = Partial<Omit<SandboxRun, "limits" | "program">> & { readonly limits?: Partial<RunLimits> };

function runOf(program: SandboxRun["program"], { limits, ...more }: More): SandboxRun {
  return {
    runId: `run_${randomBytes(8).toString("hex")}`,
    program,
    skills: [],
    brokered: [],
    blobs: [],
    secrets: {},
    network: [],
    ...more,
    limits: { ...ordinaryLimits, ...limits },
  };
}

export function codeRun(code: string, more: More & { args?: Json; entrypoint?: string } = {}): SandboxRun {
  const { args = {}, entrypoint = "main", ...rest } = more;
  return runOf({ type: "code", code, entrypoint, args }, rest);
}

export function skillRun(skill: MountedSkill, args: Json, more: More = {}): SandboxRun {
  return runOf({ type: "skill", skill: skill.name, args }, { ...more, skills: [skill, ...(more.skills ?? [])] });
}

export type Script = Extract<SandboxRun["program"], { type: "script" }>;

const extensions = { python: "py", bash: "sh", node: "mjs" };

/** Runs `text` as `scripts/it.<extension>` of the skill `scripted`. */
export function scriptRun(
  language: Script["language"],
  text: string,
  more: More & { argv?: readonly string[]; stdin?: string; beside?: Record<string, string> } = {},
): SandboxRun {
  const { argv = [], stdin, beside = {}, ...rest } = more;
  const file = `scripts/it.${extensions[language]}`;
  const skill = skillOf("scripted", { [file]: text, ...beside });
  const program = { type: "script", skill: skill.name, file, language, argv } as const;
  return runOf(stdin === undefined ? program : { ...program, stdin }, {
    ...rest,
    skills: [skill, ...(rest.skills ?? [])],
  });
}

export function fileOf(path: string, content: string | Uint8Array): MountedFile {
  const bytes = Buffer.from(content);
  return { path, size: bytes.length, read: () => slices(bytes) };
}

export function skillOf(name: string, files: Record<string, string>, entry?: string): MountedSkill {
  return {
    name,
    files: Object.entries(files).map(([path, content]) => fileOf(path, content)),
    ...(entry === undefined ? {} : { entry: { file: entry, export: "main" } }),
  };
}

export function blobOf(id: string, content: string | Uint8Array, kind = "text/plain"): MountedBlob {
  const bytes = Buffer.from(content);
  return { id, kind, size: bytes.length, read: () => slices(bytes) };
}

async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield await Promise.resolve(bytes.subarray(at, at + 65_536));
}

const prelude = readFileSync(new URL("prelude.py", import.meta.url), "utf8");

/** `attack` is Python: a function `attack(bait)` that calls `attempt(name, act)`. */
export function attackCode(attack: string): string {
  return `${prelude}\n\n${attack}`;
}

/** Python in a template literal: removes the indentation and keeps backslashes. */
export function python(text: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  const lines = String.raw(text, ...values).split("\n");
  const margins = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  const margin = Math.min(...margins);
  return `${lines
    .map((line) => line.slice(margin))
    .join("\n")
    .trim()}\n`;
}
