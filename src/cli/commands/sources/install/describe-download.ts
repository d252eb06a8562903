import { shortDigest } from "../../../../runtime/question.ts";
import { labelled } from "../../../report/columns.ts";
import { safeText } from "../../../report/safe-text.ts";
import type { Paint } from "../../../report/terminal.ts";
import { type InspectedSkill, wantedWords } from "../../../../sources/install.ts";

/** Further entries are only counted. */
const most = 20;

/** A skill in a few lines: its name, version and digest, what it declares, and what `check` warns of. */
export function* describeDownload(skill: InspectedSkill, what: string, paint: Paint): Iterable<string> {
  const { key, version, digest, description, scripts, requires, problems } = skill;
  const field = labelled((style, text) => paint(style, `  ${text}`), 14);
  yield `${paint("bold", safeText(key))} ${safeText(version)} (${shortDigest(digest)}): ${what}\n`;
  yield field("description", cut(description));
  const words = wantedWords(skill);
  yield field("permissions", words.length === 0 ? "none" : listed(words));
  yield field("scripts", listed(scripts));
  yield field("requires", listed(requires));
  for (const { code, severity, file, line, message, fix } of problems.slice(0, most))
    yield field(severity, `${file}:${line} ${code}: ${message}. ${fix}`);
  if (problems.length > most) yield field("", `and ${problems.length - most} more problems`);
}

function listed(words: readonly string[]): string {
  const rest = words.length - most;
  return `${words.slice(0, most).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= 160 ? text : `${characters.slice(0, 159).join("")}…`;
}
