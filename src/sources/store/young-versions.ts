import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeOwnDirectories } from "../../base/paths/directories.ts";
import { attempt } from "../../base/failures/system-error.ts";
import { isObject, parseIfJson } from "../../base/json/json-value.ts";

/** A version of a skill, as its source offers it. */
interface OfferedVersion {
  readonly name: string;
  /** Equal while the bytes are. */
  readonly id: string;
  /** Milliseconds since 1970, where a registry says it: nothing that a publisher can write. */
  readonly publishedAt?: number | undefined;
}

/** Which versions of one source are too young to be taken. */
export interface YoungVersions {
  /** Why and until when a version is held back, as the end of a sentence; undefined if it may be taken. Notes one that was not seen before. */
  heldBack(version: OfferedVersion): string | undefined;
  /** Writes what was noted. Where that fails, its time begins later. Never throws. */
  save(): void;
}

interface YoungVersionsOptions {
  readonly dataDirectory: string;
  /** As the policy has it; 0: nothing is held back, read or written. */
  readonly minimumDays: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const day = 24 * 60 * 60 * 1_000;
const maxNoted = 10_000;

/**
 * Without the word of a registry, the age of a version counts from when this machine saw it first, which nobody who publishes one can
 * change: dates of commits and files are their authors' word. Of each skill only the last version that was seen is noted.
 */
export function openYoungVersions(
  source: string,
  { dataDirectory, minimumDays, now }: YoungVersionsOptions,
): YoungVersions {
  const file = path.join(dataDirectory, "versions-seen", `${createHash("sha256").update(source).digest("hex")}.json`);
  let noted: Map<string, Note> | undefined;
  let isChanged = false;

  function seenSince({ name, id }: OfferedVersion): number {
    noted ??= readNotes(file);
    const before = noted.get(name);
    const at = before?.id === id ? Math.min(before.at, now()) : now();
    if (before?.id !== id && (before !== undefined || noted.size < maxNoted)) {
      noted.set(name, { id, at });
      isChanged = true;
    }
    return at;
  }

  return {
    heldBack(version) {
      if (minimumDays === 0) return undefined;
      const until = (version.publishedAt ?? seenSince(version)) + minimumDays * day;
      return until > now() ? heldWords(until, minimumDays) : undefined;
    },
    save() {
      if (noted === undefined || !isChanged) return;
      const text = JSON.stringify(Object.fromEntries(noted));
      attempt(() => {
        makeOwnDirectories(path.dirname(file), 0o700);
        const next = `${file}.${process.pid}`;
        writeFileSync(next, text, { mode: 0o600 });
        renameSync(next, file);
      }, undefined);
      isChanged = false;
    },
  };
}

interface Note {
  readonly id: string;
  readonly at: number;
}

/** Notes that cannot be read are none: then the time of each version begins again. */
function readNotes(file: string): Map<string, Note> {
  const value = parseIfJson(attempt(() => readFileSync(file, "utf8"), ""));
  const entries = isObject(value) ? Object.entries(value) : [];
  return new Map(
    entries.flatMap(([name, note]) =>
      isObject(note) && typeof note["id"] === "string" && typeof note["at"] === "number"
        ? [[name, { id: note["id"], at: note["at"] }] as const]
        : [],
    ),
  );
}

function heldWords(until: number, minimumDays: number): string {
  const days = minimumDays === 1 ? "1 day" : `${minimumDays} days`;
  const time = new Date(until)
    .toISOString()
    .replace("T", " ")
    .replace(/:\d\d\.\d+Z$/, " UTC");
  return `is held back until ${time}: the policy takes no version younger than ${days} (minimumAge)`;
}
