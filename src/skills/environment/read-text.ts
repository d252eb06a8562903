import { cutCodePoints } from "../../base/text/code-points.ts";
import { isCommandName, knownProgram, readRange } from "./known-programs.ts";
import {
  type Certainty,
  type Demand,
  type ProgramDemand,
  type Requirement,
  type RequirementLocation,
  type System,
  maxRequirements,
} from "./requirement.ts";

const longestQuote = 200;
/** In UTF-16 code units; `compatibility` is limited to 500 code points. */
const longestText = 1000;

/** Where a text is written. */
export type RequirementField = Pick<RequirementLocation, "file" | "field"> & {
  /** The field contains requirements only, so that a name alone is one. */
  readonly isExplicit?: boolean;
};

/** Something that a text asks for; `text` quotes what is not understood. */
interface Found {
  readonly demand: Demand;
  readonly certainty: Certainty;
  readonly optional?: true;
  readonly quote?: string;
}

/**
 * Reads what a text, such as `compatibility`, asks for: a list of programs, environment variables, systems and network access. Whole
 * sentences with a condition, a choice or a negation, and items that are not understood, are quoted as `unclear`. Of 2,356 real skills, 21
 * state a requirement in a sentence and in no other field; these rules understand 20 of them. Pure; never throws; the text is bounded.
 */
export function readText(text: string, { file, field, isExplicit = false }: RequirementField): readonly Requirement[] {
  const requirements: Requirement[] = [];
  let before = 0;
  let isList = isExplicit;
  for (const sentence of sentencesOf(text.slice(0, longestText))) {
    isList ||= heading.test(sentence);
    const found = readSentence(sentence, isList);
    // `Only for releases` is about the sentence before.
    if (found === undefined && remark.test(sentence))
      for (const [index, one] of requirements.entries())
        if (index >= before && one.certainty === "stated") requirements[index] = { ...one, certainty: "likely" };
    before = requirements.length;
    for (const { demand, certainty, optional, quote = sentence } of found ?? [unclear(sentence)]) {
      const where = { file, field, text: cutCodePoints(quote, longestQuote) };
      requirements.push({ ...demand, certainty, ...(optional && { optional }), where });
    }
    if (requirements.length >= maxRequirements) break;
  }
  return requirements.slice(0, maxRequirements);
}

const heading = /^(?:requires|requirements?|prerequisites?|dependencies|needs):$/i;
const remark =
  /^(?:only|unless|except|not|optional|if|when|or|alternatively|otherwise|but|though|however|instead|without|needed|required|this|that|these|it|they|both|for)\b/i;

function unclear(quote: string): Found {
  return { demand: { kind: "text" }, certainty: "unclear", quote };
}

/** Split at line ends, and full stops before a blank; `Node.js`, `3.10` and `e.g. git` stay whole. */
function sentencesOf(text: string): string[] {
  return text
    .split(/[\r\n]+|(?<!\b(?:e\.g|i\.e|etc|vs|approx|incl|ca))[.!](?=\s)/i)
    .map((sentence) => sentence.replace(/\s+/g, " ").replace(/^ ?(?:[-*•] )?|[.!; ]+$/g, ""))
    .filter((sentence) => sentence !== "");
}

/** Says that nothing is needed. */
const nothing =
  /^(?:cross-platform(?: \([\w, ]+\))?|platform-independent|none|any|no (?:[\w/-]+,? ){1,8}(?:needed|required|necessary)|no (?:external |additional |special )?(?:dependencies|requirements))$/i;
const lead = /^(?:this skill )?(?:requires?|needs?|depends on|prerequisites?|requirements?|dependencies):?(?: |$)/i;
const optionalLead = /^optional(?:ly)?:? (?:requires? |needs? |uses? )?/i;
const trail = / (?:is |are )?(?:required|needed)$/i;
/** Words that make the rest of a sentence a condition, a choice or a negation. */
const qualifier =
  /\b(?:but|if|when|unless|not|no|without|except|never|only|instead|otherwise|alternatively|either|neither|nor|or|rather|some|may|can|should|could)\b|n't\b|;/i;

/** Undefined if the sentence is not understood; empty if it asks for nothing. */
function readSentence(sentence: string, isList: boolean): readonly Found[] | undefined {
  if (nothing.test(sentence)) return [];
  const systems = readOnlySystems(sentence);
  if (systems !== undefined) return [{ demand: { kind: "system", anyOf: systems }, certainty: "stated" }];
  const isOptional = optionalLead.test(sentence);
  const body = sentence.replace(isOptional ? optionalLead : lead, "").replace(trail, "");
  if (body === "") return [];
  const isExplicit = isList || isOptional || body !== sentence;
  const plain = body
    .replace(/(\d(?:\.\d|\.x)*),? or (?:later|newer|higher|above|greater)(?: versions?)?/gi, "$1+")
    .replace(/installed and available/gi, "installed")
    .replace(isOptional ? / for [^,()]+$/i : "", "");
  const choice = plain.split(/,? or /i).map(readKnown);
  if (choice.length > 1 && choice.every((one) => one !== undefined))
    return [toFound({ demand: { kind: "program", anyOf: choice } }, isExplicit, isOptional)];
  if (qualifier.test(plain)) return undefined;
  const texts = plain.split(/,(?! ?[<>=~^!])(?: and(?= ))?| and(?= )| [&+](?= )/i).map((text) => text.trim());
  const items = texts.filter((text) => text !== "").map((text) => ({ text, item: readItem(text) }));
  const isWhole = items.every(({ item }) => item !== undefined);
  const found = items.map(({ text, item }): Found => {
    // Without a verb, a list can also say what the skill is about.
    const isNamed = isExplicit || item?.isNamed === true;
    if (item === undefined || (!isNamed && !isWhole)) return unclear(text);
    return toFound(item, isNamed, isOptional);
  });
  return found.every(({ certainty }) => certainty === "unclear") ? undefined : found;
}

function toFound({ demand, isLikely }: Item, isNamed: boolean, isOptional: boolean): Found {
  const certainty = isNamed && isLikely !== true ? "stated" : "likely";
  return { demand, certainty, ...(isOptional && { optional: true }) };
}

/** `macOS only`, `Only on Linux/macOS`. */
function readOnlySystems(sentence: string): readonly System[] | undefined {
  const [, before, after] = /^only (?:on |for )?(.+)$|^(.+) only$/i.exec(sentence) ?? [];
  const systems = (before ?? after)?.split(/ ?\/ ?|, (?:and |or )?| and | or | & /i).map(readSystem);
  return systems?.every((system) => system !== undefined) === true ? systems : undefined;
}

/** The system of that name. */
export function readSystem(name: string): System | undefined {
  if (/^linux$/i.test(name)) return "linux";
  if (/^(?:mac ?os|os ?x|mac|darwin)$/i.test(name)) return "macos";
  return /^(?:windows|win32)$/i.test(name) ? "windows" : undefined;
}

/** One item of a list. `isNamed`: it is a requirement even without a verb. `isLikely`: its name may not be that of the program. */
interface Item {
  readonly demand: Demand;
  readonly isNamed?: boolean;
  readonly isLikely?: true;
}

const network =
  /^(?:access to the )?(?:internet|network)(?: (?:access|connection|connectivity))?$|^(?:online|internet) access$/i;
const variable =
  /^(?:.* set (?:as|in) )?(?:the )?`?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`?(?: (?:environment|env) variable)?$/;
const quotedCommand = /^(?:[\w .-]* as )?`([^`]+)`(?: (?:cli|command|binary|program))?$/i;
const namedTool = /^([a-z][a-z0-9._-]*) (?:cli|CLI|command|binary)$/;

/** Understands one item, such as `Python 3.10+`, `the gh CLI` or `network access`; undefined if any part of it is not understood. */
function readItem(text: string): Item | undefined {
  const words = text
    .replace(/ \((?:https?:\/\/[^\s()]+|[^()]*(?:recommended|preferred|tested))\)/gi, "")
    .replace(/^(?:an?|the|working|active) /i, "")
    .replace(/ (?:is |are |to be |must be )?(?:installed|available)(?= |$)/i, "")
    .replace(/ (?:on|in) (?:the |your )?`?PATH`?$/, "")
    .trim();
  if (network.test(words)) return { demand: { kind: "network", hosts: [] }, isNamed: true };
  const system = readSystem(words);
  if (system !== undefined) return { demand: { kind: "system", anyOf: [system] } };
  const [, name] = variable.exec(words) ?? [];
  if (name !== undefined) return { demand: { kind: "variable", variable: name }, isNamed: true };
  const known = readKnown(words);
  if (known !== undefined) return { demand: { kind: "program", anyOf: [known] }, isNamed: known.range !== undefined };
  const [, quoted] = quotedCommand.exec(words) ?? [];
  if (quoted !== undefined && isCommandName(quoted)) return { demand: program(quoted) };
  const [, tool] = namedTool.exec(words) ?? [];
  return tool !== undefined && isCommandName(tool) ? { demand: program(tool), isLikely: true } : undefined;
}

function program(command: string): Demand {
  return { kind: "program", anyOf: [{ name: command, commands: [command] }] };
}

/** Words after a program's name that do not change what it is. */
const noun = /^(?:(?:cli|command-line|command line|command|tools?|binary|runtime|interpreter)(?: |$)){0,2}/i;
const longestName = 3;

/** A program that we know, with an optional version: `Python 3.10+`, `Node.js >= 18`, `gh CLI`. */
function readKnown(text: string): ProgramDemand | undefined {
  const words = text
    .replace(/(?<=[\w.])(?=[<>=≥≤~^])/g, " ")
    .split(" ")
    .filter((word) => word !== "");
  for (let length = Math.min(longestName, words.length); length > 0; length--) {
    const found = knownProgram(words.slice(0, length).join(" ").replaceAll("`", ""));
    if (found === undefined) continue;
    const rest = words
      .slice(length)
      .join(" ")
      .replace(noun, "")
      .replace(/^(?:version |v(?=\d))/i, "");
    if (rest === "") return found;
    const range = readRange(rest);
    return range === undefined ? undefined : { ...found, range };
  }
  return undefined;
}
