import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { SkillsError } from "../base/errors.ts";
import { attempt } from "../base/failures/system-error.ts";
import { readPlain } from "./read-plain.ts";
import type { EvalCase } from "../skills/check.ts";

/** The directories in which agents look for skills of a project. */
const skillRoots = [path.join(".agents", "skills"), path.join(".claude", "skills")];

/** The limits of the files of a session that are passed on. */
const limits = { files: 200, bytes: 20 * 1024 * 1024 };

/** A file that a session wrote or changed; `path` is relative, with `/`. */
export interface OutputFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** The fresh project of one session. */
export interface CaseDirectory {
  readonly directory: string;
  /** The files that the session left, once its agent is gone. `isCut`: some exceed a limit, or cannot be read. */
  outputs(): { readonly files: readonly OutputFile[]; readonly isCut: boolean };
  remove(): void;
}

/**
 * Makes a directory with copies of the files of a case and, if `withSkill`, of the skill without its `evals`, which have the expected
 * results. Files of `evals/files/` are at the same paths below the project. Throws INVALID_OPTIONS for a missing file.
 */
export function makeCaseDirectory(
  skill: { readonly directory: string; readonly slug: string },
  { files, id }: Pick<EvalCase, "files" | "id">,
  withSkill: boolean,
): CaseDirectory {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-eval-")));
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  try {
    const before = new Map<string, Buffer>();
    for (const { target, ...file } of files) {
      const bytes = readPlain(path.join(skill.directory, file.path), limits.bytes);
      if (bytes === undefined)
        throw new SkillsError("INVALID_OPTIONS", `Case ${id}: ${file.path} is no readable file in ${skill.directory}.`);
      mkdirSync(path.dirname(path.join(directory, target)), { recursive: true });
      writeFileSync(path.join(directory, target), bytes);
      before.set(target, bytes);
    }
    const evals = path.join(skill.directory, "evals");
    const filter = (source: string): boolean => source !== evals;
    for (const root of withSkill ? skillRoots : [])
      cpSync(skill.directory, path.join(directory, root, skill.slug), { recursive: true, filter });
    return { directory, remove, outputs: () => outputFilesIn(directory, before) };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * The new and changed files below a directory. The agent is gone, but was not in a sandbox: links are not followed, and only files are
 * opened.
 */
export function outputFilesIn(
  directory: string,
  before: ReadonlyMap<string, Buffer> = new Map(),
): ReturnType<CaseDirectory["outputs"]> {
  const files: OutputFile[] = [];
  let [left, isCut] = [limits.bytes, false];
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = attempt(() => readdirSync(path.join(directory, folder), { withFileTypes: true }), []);
    for (const entry of entries) {
      const name = path.posix.join(folder, entry.name);
      if (entry.isDirectory() && ![".agents", ".claude", ".git"].includes(name)) folders.push(name);
      if (!entry.isFile()) continue;
      const bytes = readPlain(path.join(directory, name), left);
      if (bytes === undefined || files.length >= limits.files) isCut = true;
      else if (before.get(name)?.equals(bytes) !== true) {
        left -= bytes.length;
        files.push({ path: name, bytes });
      }
    }
  }
  return { files: files.sort((one, other) => (one.path < other.path ? -1 : 1)), isCut };
}
