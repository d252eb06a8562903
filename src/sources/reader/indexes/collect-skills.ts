import type { ZodError } from "zod";
import type { Steps } from "../../../base/promises.ts";
import { indexLimits } from "./index-limits.ts";
import type { RemoteSkill } from "../../reader.ts";
import { cleanText } from "../../../base/text/unsafe-characters.ts";

/** What a document lists. */
export interface Listed {
  /** In the order of the document. */
  readonly skills: readonly RemoteSkill[];
  /** Sentences without a full stop. */
  readonly problems: readonly string[];
}

/** Why an entry is left out: a sentence without a full stop. */
export interface SkippedEntry {
  readonly why: string;
}

/**
 * Reads each entry by itself, so that a bad one leaves the others alone. Of two with the same name or id the first one counts.
 */
export function* collectSkills(
  entries: readonly unknown[],
  toSkill: (entry: unknown) => RemoteSkill | SkippedEntry,
): Steps<Listed> {
  const skills = new Map<string, RemoteSkill>();
  const ids = new Set<string>();
  const problems = new LimitedProblems();
  for (const [index, entry] of entries.slice(0, indexLimits.entries).entries()) {
    yield;
    const found = toSkill(entry);
    const place = `entry ${index + 1}${nameOf(entry)}`;
    if ("why" in found) {
      problems.add(`${place}: ${found.why}`);
    } else if (skills.has(found.name)) {
      problems.add(`${place}: the name ${found.name} is listed twice; the first one is used`);
    } else if (found.id !== undefined && ids.has(found.id)) {
      problems.add(`${place}: the id ${found.id} is listed twice; the first one is used`);
    } else {
      skills.set(found.name, found);
      if (found.id !== undefined) ids.add(found.id);
    }
  }
  if (entries.length > indexLimits.entries)
    problems.add(`${entries.length} skills are listed; the first ${indexLimits.entries} are read`);
  return { skills: [...skills.values()], problems: problems.all() };
}

/** A list of problems that stays short. */
export class LimitedProblems {
  readonly #sentences: string[] = [];
  #more = 0;

  add(...sentences: readonly string[]): void {
    for (const sentence of sentences)
      if (this.#sentences.length < indexLimits.problems) this.#sentences.push(sentence);
      else this.#more++;
  }

  all(): readonly string[] {
    return this.#more === 0 ? this.#sentences : [...this.#sentences, `${this.#more} more problems`];
  }
}

function nameOf(entry: unknown): string {
  if (typeof entry !== "object" || entry === null) return "";
  const { id, name } = entry as { readonly id?: unknown; readonly name?: unknown };
  const named = [id, name].find((value) => typeof value === "string");
  return named === undefined ? "" : ` (${cleanText(named, indexLimits.nameLength)})`;
}

/** The first thing that a schema finds wrong, with its place: `access: expected one of …`. */
export function sayFault({ issues: [issue] }: ZodError): string {
  const path = issue?.path.map(String).join(".") ?? "";
  const message = (issue?.message ?? "it is not valid").replace(/^Invalid (?:input|option): /, "");
  return cleanText(path === "" ? message : `${path}: ${message}`, 200);
}

const slugForm = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Whether a text can name a skill: what Agent Skills allows. */
export function isAgentSkillsName(text: string): boolean {
  return text.length <= indexLimits.nameLength && slugForm.test(text);
}
