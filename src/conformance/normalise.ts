import { homedir, tmpdir } from "node:os";
import { readExchange } from "./exchange.ts";
import { type TranscriptEntry, formatTranscriptEntry } from "./transcript.ts";

/** Directories of this machine, each with the placeholder that replaces it. */
export type Placeholders = readonly (readonly [directory: string, instead: string])[];

export function placeholdersOf(projects: readonly string[]): Placeholders {
  return [
    ...projects.map((project) => [project, "/project"] as const),
    [process.cwd(), "/work"],
    [homedir(), "/home/user"],
    [tmpdir(), "/tmp"],
  ];
}

/** The lines of a transcript without facts of this machine: directories, session ids, UUIDs and times are replaced. */
export function normaliseTranscript(entries: readonly TranscriptEntry[], paths: Placeholders): readonly string[] {
  const sessions = [...readExchange(entries).sessions.keys()].filter((id) => id.length >= 8);
  const uuids = new Map<string, string>();
  const toUuid = (uuid: string): string => {
    const known = uuids.get(uuid) ?? `00000000-0000-4000-8000-${String(uuids.size + 1).padStart(12, "0")}`;
    uuids.set(uuid, known);
    return known;
  };
  return entries.map((entry) => {
    let text = formatTranscriptEntry(entry);
    for (const [index, id] of sessions.entries()) text = text.replaceAll(inJson(id), `session-${index + 1}`);
    for (const [directory, instead] of paths)
      if (directory.length > 1) text = text.replaceAll(inJson(directory), instead);
    return text
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, toUuid)
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "2026-01-01T00:00:00.000Z");
  });
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
