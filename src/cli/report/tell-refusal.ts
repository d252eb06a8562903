import { toSentences } from "../../base/invalid-input.ts";
import type { Violation } from "../../base/invalid-input.ts";
import { isSkillsError, SkillsError } from "../../errors.ts";
import type { Log } from "../../base/log.ts";
import { toWireError } from "../../wire/error-table.ts";
import { jsonText } from "./json-text.ts";
import type { Terminal } from "./terminal.ts";

/** Reports an error: a sentence, or the error object with `--json`. An internal error is logged and reported by its id. */
export function tellRefusal(
  error: unknown,
  { json }: { readonly json?: boolean },
  { terminal, log }: { readonly terminal: Terminal; readonly log: Log },
): void {
  const told = toWireError(error, { log });
  if (json === true) process.stderr.write(`${jsonText(told)}\n`);
  else terminal.tell(`${withHint(told.message, told.data.hint)}${listed(told.data.available)}`);
}

function listed(available: readonly string[] = []): string {
  return available.length === 0 ? "" : ` Available: ${available.join(", ")}.`;
}

/** Some messages already end with their hint. */
function withHint(message: string, hint = ""): string {
  return message.endsWith(hint) ? message : `${message} ${hint}`;
}

/** Rewrites an error of the tool behind `acp-skills run NAME` to name options instead of parameters, and commands instead of tools. */
export function inWordsOfRun(error: unknown, name: string): unknown {
  if (!isSkillsError(error) || error.code === "INTERNAL") return error;
  const { violations, hint } = error.facts;
  const own = (text: string): string => inCommands(text, name);
  const message = isViolations(violations) ? toSentences(violations, toOption).map(own).join(" ") : own(error.message);
  const facts = { ...error.facts, ...(typeof hint === "string" && { hint: own(hint) }) };
  return new SkillsError(error.code, message, { cause: error, facts });
}

/** The option that a parameter comes from. */
function toOption(field: string): string {
  const [, parameter = "", ...inside] = field.split("/");
  const option = options[parameter] ?? parameter;
  const place = inside.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");
  return place === "" || parameter === "input_blobs" ? option : `${place} in ${option}`;
}

const options: Readonly<Record<string, string>> = {
  name: "NAME",
  args: "--args",
  script: "--script",
  input_blobs: "--blob",
  timeout_ms: "--timeout",
};

/** Replaces sentences about tools by sentences about commands. */
function inCommands(text: string, name: string): string {
  return words.reduce((told, [pattern, word]) => told.replace(pattern, () => word.replace("NAME", name)), text);
}

const words: readonly (readonly [RegExp, string])[] = [
  [
    /Call describe_skill .*parameter script\./,
    "acp-skills show NAME prints its instructions; a file under scripts/ runs with --script PATH.",
  ],
  [/describe_skill lists them\./, "acp-skills show NAME lists them."],
  [/Use a name that list_skills returns\./, "acp-skills list shows all skills."],
  [/a blob id, as create_blob returns it/, 'a blob; pass a file with --blob, and refer to the first as "@1"'],
];

function isViolations(value: unknown): value is readonly Violation[] {
  return Array.isArray(value) && value.length > 0;
}
