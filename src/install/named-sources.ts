import { SkillsError } from "../errors.ts";
import { lockedUrl, sourceOfEntry } from "../remote/lock/locked-source.ts";
import type { Lock } from "../remote/lock/lock.ts";
import { parseSource } from "../remote/source.ts";
import type { Source } from "../remote/source.ts";

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
  const stray = given.find((source) => !locked.some((one) => placeOf(one) === placeOf(source)));
  if (stray !== undefined)
    throw new SkillsError("INVALID_OPTIONS", `--source ${stray.label}: no skill of the lock is from there`);
  return { given, typed: form === "global" ? [...given, ...locked] : given };
}
