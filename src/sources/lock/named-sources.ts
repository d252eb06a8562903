import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeOwnDirectories } from "../../base/paths/directories.ts";
import { SkillsError } from "../../base/errors.ts";
import { lockedUrl, sourceOfEntry } from "./locked-source.ts";
import type { Lock } from "../lock.ts";
import type { SkillsPlace } from "../skills-place.ts";
import { type Source, parseSource } from "../source.ts";
import { shellWord } from "../../base/text/quoted.ts";

/** Sources of a lock that a person stands for. */
export interface NamedSources {
  /** With `--source`: the whole URLs of entries that have a part of theirs. */
  readonly given: readonly Source[];
  /** Also those of a person's own lock (`--global`), which no project can write: on this machine too, they are asked as they are. */
  readonly typed: readonly Source[];
}

/** Throws INVALID_OPTIONS for a `--source` that no skill of the lock is from. */
export function namedSources({ form, entries }: Lock, texts: readonly string[] = []): NamedSources {
  const given = texts.map((text) => parseSource(text));
  const locked = [...entries.values()].flatMap((entry) => {
    const source = sourceOfEntry(entry, given);
    return "why" in source ? [] : [source];
  });
  const placeOf = ({ url }: Source): string => lockedUrl(url).replace(/\/$/, "");
  const unknown = given.find((source) => !locked.some((one) => placeOf(one) === placeOf(source)));
  if (unknown !== undefined)
    throw new SkillsError("INVALID_OPTIONS", `--source ${unknown.label}: no skill of the lock is from there`);
  return { given, typed: form === "global" ? [...given, ...locked] : given };
}

/** Remembers in the data directory, where no project writes, that a person named a source which is read with their keys. */
export function confirmSource(where: SkillsPlace, { url }: Source): void {
  const file = confirmationOf(where, url);
  if (file === undefined) return;
  try {
    makeOwnDirectories(path.dirname(file), 0o700);
    writeFileSync(file, `${url}\n`, { mode: 0o600 });
  } catch {
    // Then it is asked for again.
  }
}

/** Why a source of a lock is not asked: ssh has a person's keys, and others may have written the lock. */
export function keyRefusal(where: SkillsPlace, { url }: Source, { typed }: NamedSources): string | undefined {
  const file = confirmationOf(where, url);
  if (file === undefined || existsSync(file) || typed.some((source) => source.url === url)) return undefined;
  return `${url} is read with your ssh keys, and a project's lock may be written by others; if you trust it, give it once: --source ${shellWord(url)}`;
}

/** Undefined for a source that is read without keys. */
function confirmationOf({ records }: SkillsPlace, url: string): string | undefined {
  if (!url.startsWith("ssh:")) return undefined;
  return path.join(path.dirname(records), "ssh-sources", createHash("sha256").update(url).digest("hex"));
}
