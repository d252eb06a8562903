import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  statSync,
} from "node:fs";
import path from "node:path";
import { systemCode } from "../failures/system-error.ts";
import { readInto } from "./at-real-path.ts";

/** The content of a file, or why it is not read: `fault` is a clause that starts with "it", `fix` a sentence. */
export type GuardedText =
  | { readonly text: string }
  /** `isDamaged`: the file was written by its rightful owner, but its content cannot be used. */
  | { readonly fault: string; readonly fix: string; readonly isDamaged?: true };

export interface GuardedFileOptions {
  readonly maxBytes: number;
  /** The owner of the file: the user, who may use links; acp-skills; or the project, which means all who may write in its directory. */
  readonly of: "user" | "us" | "project";
}

/**
 * Reads a text file once, by its descriptor. Refuses files that others could have written. Refuses links in projects and among the files
 * of acp-skills, because others may own the target.
 */
export function readGuardedFile(file: string, { maxBytes, of }: GuardedFileOptions): GuardedText {
  let descriptor: number | undefined;
  try {
    const real = of === "user" ? realpathSync.native(file) : file;
    const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
    // Windows follows links.
    if (O_NOFOLLOW === 0 && lstatSync(real).isSymbolicLink()) return symlink;
    descriptor = openSync(real, constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const found = fstatSync(descriptor, { bigint: true });
    if (!found.isFile()) return { fault: "it is not a regular file", fix: "Replace it by a file." };
    const wrong = of === "project" ? projectFault(found, file) : ownerFault(found, real);
    if (wrong !== undefined) return wrong;
    if (found.size > maxBytes) {
      const fault = `it has ${found.size} bytes; the limit is ${maxBytes}`;
      return { fault, fix: "Shorten it, for example by patterns instead of names.", isDamaged: true };
    }
    // At most one byte more than the limit: the file may have grown.
    const buffer = Buffer.allocUnsafe(maxBytes + 1);
    const bytes = buffer.subarray(0, readInto(descriptor, buffer));
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    if (error instanceof TypeError) return { fault: "it is not UTF-8", fix: "Save it as UTF-8.", isDamaged: true };
    const code = systemCode(error);
    if (code === "ENOENT") return { fault: "there is no such file", fix: "Create it, or correct the name." };
    if (code === "ELOOP") return symlink;
    return { fault: `it cannot be read (${code || String(error)})`, fix: "Make it readable for you, or remove it." };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

type Refusal = Extract<GuardedText, { readonly fault: string }>;

const symlink: Refusal = { fault: "it is a symlink", fix: "Replace it by a file." };

const root = 0n;

/** Refuses a project's policy of another owner, or that all may write. Owner and group can change the skills anyway; it only tightens. */
function projectFault({ uid, mode }: BigIntStats, file: string): Refusal | undefined {
  const user = process.getuid?.();
  if (user === undefined) return undefined;
  const owner = statSync(path.dirname(file), { bigint: true }).uid;
  if (![root, BigInt(user), owner].includes(uid)) return foreign;
  return (mode & 0o002n) === 0n ? undefined : writable(file);
}

const foreign: Refusal = { fault: "it belongs to another user", fix: "Make it belong to you or to root." };

function writable(file: string): Refusal {
  return { fault: `others may write to ${file}`, fix: `Take that right away: chmod go-w ${file}` };
}

/** Finds a file or directory above it that others may write to. On Windows the path alone has to prevent that. */
function ownerFault({ uid, mode }: BigIntStats, real: string): Refusal | undefined {
  const user = process.getuid?.();
  if (user === undefined) return undefined;
  const isTrusted = (owner: bigint): boolean => owner === root || owner === BigInt(user);
  if (!isTrusted(uid)) return foreign;
  if ((mode & 0o022n) !== 0n) return writable(real);
  for (let directory = path.dirname(real); ; directory = path.dirname(directory)) {
    const above = statSync(directory, { bigint: true });
    const isSticky = (above.mode & 0o1000n) !== 0n;
    if (!isTrusted(above.uid)) return { ...foreign, fault: `${directory} belongs to another user` };
    if (!isSticky && (above.mode & 0o002n) !== 0n) return writable(directory);
    if (directory === path.dirname(directory)) return undefined;
  }
}
