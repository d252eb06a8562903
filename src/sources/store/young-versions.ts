import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeOwnDirectories } from "../../base/paths/directories.ts";
import { attempt } from "../../base/failures/system-error.ts";
import { isObject, parseIfJson } from "../../base/json/json-value.ts";

/** A version of a skill that its source offers. */
interface OfferedVersion {
  readonly name: string;
  /** A text that is equal while the bytes are. */
  readonly id: string;
  /** The time of publication by a registry, in milliseconds since 1970: nothing that a publisher can write. */
  readonly publishedAt?: number | undefined;
}

/** The check for versions of one source that are too young. */
export interface YoungVersions {
  /** Why and until when a version is held back: the end of a sentence; undefined if it may be used. Notes a version that is new. */
  heldBack(version: OfferedVersion): string | undefined;
  /** Writes the notes. If this fails, the age of their versions begins later. Never throws. */
  save(): void;
}

interface YoungVersionsOptions {
  readonly dataDirectory: string;
  /** The minimum age by the policy, in days; 0: nothing is held back, read or written. */
  readonly minimumDays: number;
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number;
}

const day = 24 * 60 * 60 * 1_000;
const maxNoted = 10_000;

/**
 * Opens the check. Without a registry's time, the age of a version counts from when this machine first saw it, which no publisher can
 * change. Dates of commits and files are their authors' word. Only the last version seen of each skill is noted.
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

/** Reads the notes. Unreadable notes are lost: then the age of each version begins again. */
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
