import { inWords } from "../../base/invalid-input.ts";
import { isSkillsError, SkillsError } from "../../errors.ts";

interface Violation {
  readonly field: string;
  readonly expected: string;
  readonly actual: unknown;
}

const maxSentences = 3;

/** A refusal of the tool behind `acp-skills run NAME`, told in what a person wrote: options, not parameters; commands, not tools. */
export function inWordsOfRun(error: unknown, name: string): unknown {
  if (!isSkillsError(error) || error.code === "INTERNAL") return error;
  const { violations, hint } = error.facts;
  const own = (text: string): string => inCommands(text, name);
  const message = isViolations(violations)
    ? violations.slice(0, maxSentences).map(toSentence).map(own).join(" ")
    : own(error.message);
  const facts = { ...error.facts, ...(typeof hint === "string" && { hint: own(hint) }) };
  return new SkillsError(error.code, message, { cause: error, facts });
}

function toSentence({ field, expected, actual }: Violation): string {
  return `${toOption(field)}: expected ${expected}, got ${inWords(actual)}.`;
}

/** Where in the command line a parameter comes from. */
function toOption(field: string): string {
  const [, parameter = "", ...inside] = field.split("/");
  const option = options[parameter] ?? parameter;
  const place = inside.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");
  return place === "" || parameter === "input_blobs" ? option : `${option} ${place}`;
}

const options: Readonly<Record<string, string>> = {
  name: "NAME",
  args: "--args",
  script: "--script",
  input_blobs: "--blob",
  timeout_ms: "--timeout",
};

/** What is said of tools, said of commands. */
function inCommands(text: string, name: string): string {
  return words.reduce((told, [pattern, word]) => told.replace(pattern, () => word.replace("NAME", name)), text);
}

const words: readonly (readonly [RegExp, string])[] = [
  [
    /Call describe_skill .*parameter script\./,
    "acp-skills show NAME tells what it is for; a file under scripts/ runs with --script PATH.",
  ],
  [/describe_skill lists them\./, "acp-skills show NAME lists them."],
  [/Use a name exactly as list_skills gives it\./, "acp-skills list shows which there are."],
  [/a blob id, as create_blob returns it/, 'a blob: give a file with --blob, and "@1" here for the first'],
];

function isViolations(value: unknown): value is readonly Violation[] {
  return Array.isArray(value) && value.length > 0;
}
