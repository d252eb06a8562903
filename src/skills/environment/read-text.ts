import { cutCodePoints } from "../../base/text/code-points.ts";
import { type Item, readAgent, readItem } from "./read-item.ts";
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

/**
 * What a text, such as `compatibility`, asks for. A sentence counts only as far as it is understood: items of a list that are not, and
 * whole sentences with a condition, a negation or anything unexpected, are quoted as `unclear`. Pure; never throws; the text is bounded.
 */
export function readText(text: string, { file, field, isExplicit = false }: RequirementField): readonly Requirement[] {
  const requirements: Requirement[] = [];
  let before = 0;
  let isListed = isExplicit;
  for (const sentence of sentencesOf(text.slice(0, longestText))) {
    if (heading.test(sentence)) {
      isListed = true;
      continue;
    }
    const found = readClauses(sentence, isListed);
    // `Only for releases` is about the sentence before.
    if (found === undefined && remark.test(sentence))
      for (const [index, one] of requirements.entries()) if (index >= before) requirements[index] = toLikely(one);
    before = requirements.length;
    for (const one of found ?? [unclear(sentence)]) {
      const quote = "quote" in one ? one.quote : sentence;
      requirements.push(toRequirement(one, { file, field, text: cutCodePoints(quote, longestQuote) }));
    }
    if (requirements.length >= maxRequirements) break;
  }
  return requirements.slice(0, maxRequirements);
}

/** Clauses joined by semicolons may depend on each other: all are understood, or none. */
function readClauses(sentence: string, isExplicit: boolean): readonly Found[] | undefined {
  const clauses = sentence.split(/ ?; ?/).filter((clause) => clause !== "");
  const found = clauses.map((clause) => readSentence(clause, isExplicit));
  return found.every((one) => one !== undefined) ? found.flat() : undefined;
}

const heading = /^(?:requires|requirements?|prerequisites?|dependencies|needs):$/i;
const remark =
  /^(?:only|unless|except|not|optional|if|when|or|alternatively|otherwise|but|though|however|instead|without|needed|required|this|that|these|it|they|both|for)\b/i;

function toLikely(requirement: Requirement): Requirement {
  return requirement.certainty === "stated" ? { ...requirement, certainty: "likely" } : requirement;
}

type Found =
  { readonly demand: Demand; readonly certainty: Certainty; readonly optional?: true } | { readonly quote: string };

function toRequirement(found: Found, where: RequirementLocation): Requirement {
  if ("quote" in found) return { kind: "text", certainty: "unclear", where };
  const { demand, certainty, optional } = found;
  return { ...demand, certainty, ...(optional && { optional }), where };
}

function unclear(quote: string): Found {
  return { quote };
}

/** Split at line ends, and full stops before a blank; `Node.js`, `3.10` and `e.g. git` stay whole. */
function sentencesOf(text: string): string[] {
  return text
    .split(/[\r\n]+|(?<!\b(?:e\.g|i\.e|etc|vs|approx|incl|ca))[.!](?=\s)/i)
    .map((sentence) =>
      sentence
        .replace(/\s+/g, " ")
        .replace(/[.!; ]+$/, "")
        .replace(/^ ?(?:[-*•] )?/, ""),
    )
    .filter((sentence) => sentence !== "");
}

/** Says that nothing is needed. */
const nothing =
  /^(?:cross-platform|platform-independent|none|any|no (?:[\w/-]+,? ){1,8}(?:needed|required|necessary)|no (?:external |additional |special )?(?:dependencies|requirements))$/i;
const everySystem = /^cross-platform \((.+)\)$/i;
const forAgent = /^(?:designed|intended|built|made) for ([\w. ]+?)(?: \(or similar [\w ]+\))?$/i;
const lead = /^(?:this skill )?(?:requires?|needs?|depends on|prerequisites?|requirements?|dependencies):? /i;
const optionalLead = /^optional(?:ly)?:? (?:requires? |needs? |uses? )?/i;
const trail = / (?:is |are )?(?:required|needed)$/i;
/** Words that make the rest of a sentence a condition, a choice of another kind, or a negation. */
const qualifier =
  /\b(?:but|if|when|unless|not|no|without|except|never|only|instead|otherwise|alternatively|either|neither|nor|rather|some|may|can|should|could)\b|n't\b/i;

/** Undefined if the sentence is not understood; empty if it asks for nothing. */
function readSentence(sentence: string, inRequirements: boolean): readonly Found[] | undefined {
  if (nothing.test(sentence)) return [];
  const all = everySystem.exec(sentence)?.[1];
  if (all !== undefined && readList(all)?.items.every((item) => item?.demand.kind === "system") === true) return [];
  const agent = readAgent(forAgent.exec(sentence)?.[1] ?? "");
  if (agent !== undefined) return [{ demand: { kind: "agent", anyOf: [agent] }, certainty: "stated" }];
  const restricted = readOnly(sentence);
  if (restricted !== undefined) return [restricted];

  const isOptional = optionalLead.test(sentence);
  const rest = sentence.replace(isOptional ? optionalLead : lead, "");
  const body = rest.replace(trail, "").replace(/^either /i, "");
  const isExplicit = inRequirements || isOptional || body !== sentence;
  if (body === "" || qualifier.test(body)) return undefined;
  const hosts = readHosts(body);
  if (hosts !== undefined) {
    return [{ demand: { kind: "network", hosts }, certainty: "stated", ...(isOptional && { optional: true }) }];
  }
  const list = readList(isOptional ? body.replace(/ for [^,()]+$/i, "") : body);
  if (list === undefined) return undefined;
  return list.isChoice ? readChoice(list.items, isExplicit, isOptional) : readEach(list, isExplicit, isOptional);
}

/** A list of which everything is asked for; of several systems or agents, one suffices. */
function readEach({ items, texts }: List, isExplicit: boolean, isOptional: boolean): readonly Found[] | undefined {
  // Without a verb, a list can also say what the skill is about.
  const isWhole = items.every((item) => item !== undefined);
  const found = joinAlternatives(items, texts).map(([item, quote]): Found => {
    if (item === undefined) return unclear(quote);
    const isNamed = isExplicit || hasRange(item) || item.demand.kind === "variable" || item.demand.kind === "network";
    if (!isNamed && !isWhole) return unclear(quote);
    return {
      demand: item.demand,
      certainty: isNamed && item.isLikely === undefined ? "stated" : "likely",
      ...((isOptional || item.optional) && { optional: true }),
    };
  });
  return found.every((one) => "quote" in one) ? undefined : found;
}

function joinAlternatives(items: List["items"], texts: List["texts"]): (readonly [Item | undefined, string])[] {
  const joined: [Item | undefined, string][] = [];
  for (const [index, item] of items.entries()) {
    const kind = item?.demand.kind;
    const at = joined.findIndex(([other]) => (kind === "system" || kind === "agent") && other?.demand.kind === kind);
    const first = joined[at]?.[0]?.demand;
    if (item?.demand.kind === "system" && first?.kind === "system")
      joined[at] = [{ demand: { kind: "system", anyOf: [...first.anyOf, ...item.demand.anyOf] } }, ""];
    else if (item?.demand.kind === "agent" && first?.kind === "agent")
      joined[at] = [{ demand: { kind: "agent", anyOf: [...first.anyOf, ...item.demand.anyOf] } }, ""];
    else joined.push([item, texts[index] ?? ""]);
  }
  return joined;
}

/** `docker or podman`: programs, systems or agents of which one suffices. */
function readChoice(items: List["items"], isExplicit: boolean, isOptional: boolean): readonly Found[] | undefined {
  const programs: ProgramDemand[] = [];
  const systems: System[] = [];
  const agents: string[] = [];
  for (const item of items) {
    if (item?.demand.kind === "program") programs.push(...item.demand.anyOf);
    else if (item?.demand.kind === "system") systems.push(...item.demand.anyOf);
    else if (item?.demand.kind === "agent") agents.push(...item.demand.anyOf);
  }
  const isSure = isExplicit && items.every((item) => item?.isLikely === undefined);
  const found = (demand: Demand): readonly Found[] => [
    { demand, certainty: isSure ? "stated" : "likely", ...(isOptional && { optional: true }) },
  ];
  if (programs.length === items.length) return found({ kind: "program", anyOf: programs });
  if (systems.length === items.length) return found({ kind: "system", anyOf: systems });
  return agents.length === items.length ? found({ kind: "agent", anyOf: agents }) : undefined;
}

const only = /^only (?:on |for |with )?(.+)$|^(.+) only$/i;
const worksOn = /^(?:works|runs|tested|supported) (?:on|in|with) (.+)$/i;

/** `macOS only`, `Linux/macOS only`, `Claude Code only`; less certain, `Works on macOS and Linux`. */
function readOnly(sentence: string): Found | undefined {
  const [, before, after] = only.exec(sentence) ?? [];
  const named = before ?? after ?? worksOn.exec(sentence)?.[1];
  if (named === undefined) return undefined;
  const certainty = before === undefined && after === undefined ? "likely" : "stated";
  const items = named.split(/ ?\/ ?|, (?:and |or )?| and | or | & /i).map(readItem);
  const systems = items.flatMap((item) => (item?.demand.kind === "system" ? item.demand.anyOf : []));
  if (systems.length === items.length) return { demand: { kind: "system", anyOf: systems }, certainty };
  const agents = items.flatMap((item) => (item?.demand.kind === "agent" ? item.demand.anyOf : []));
  return agents.length === items.length ? { demand: { kind: "agent", anyOf: agents }, certainty } : undefined;
}

const access = /^(?:an? )?(?:internet|network)(?: (?:access|connection|connectivity))? to (.+)$/i;
const host = /^(?:https:\/\/)?((?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8})\/?$/i;

/** `internet access to a.example.com and b.example.com`. */
function readHosts(body: string): readonly string[] | undefined {
  const [, listed] = access.exec(body) ?? [];
  const hosts = listed?.split(/, (?:and )?| and /).map((text) => host.exec(text)?.[1]?.toLowerCase());
  return hosts?.every((name) => name !== undefined) ? hosts : undefined;
}

interface List {
  readonly texts: readonly string[];
  /** Undefined where a text is not understood. */
  readonly items: readonly (Item | undefined)[];
  /** One of them suffices. */
  readonly isChoice: boolean;
}

/** Undefined if `and` and `or` are mixed. */
function readList(body: string): List | undefined {
  const versions = body.replace(
    /(\d(?:\.\d|\.x)*),? (?:or|and) (?:later|newer|higher|above|greater|up)(?: versions?)?/gi,
    "$1+",
  );
  const plain = versions
    .replace(/installed and available/gi, "installed")
    .replace(/\b(?:at least|minimum) (?:version )?(\d[\d.]*)/gi, ">= $1")
    .replace(/\bat least ([a-z][a-z.]{1,15}) (\d[\d.]*)/gi, "$1 >= $2");
  const texts: string[] = [];
  const joints = new Set<string>();
  let depth = 0;
  let start = 0;
  for (let index = 0; index < plain.length; index++) {
    const character = plain[index];
    if (character === "(") depth++;
    else if (character === ")") depth = Math.max(0, depth - 1);
    if (depth > 0) continue;
    joint.lastIndex = index;
    const [matched = ""] = joint.exec(plain) ?? [];
    if (matched === "") continue;
    texts.push(plain.slice(start, index));
    if (/(?:and|or)$/i.test(matched)) joints.add(matched.slice(-2).toLowerCase() === "or" ? "or" : "and");
    start = index + matched.length;
    index = start - 1;
  }
  texts.push(plain.slice(start));
  if (joints.size > 1) return undefined;
  const trimmed = texts.map((text) => text.trim()).filter((text) => text !== "");
  return { texts: trimmed, items: trimmed.map(readItem), isChoice: joints.has("or") };
}

/** What separates items; not the comma of `>=3.9,<4`. */
const joint = /,(?! ?[<>=~^!])(?: (?:and|or)(?= ))?| (?:and|or)(?= )| (?:&|\+)(?= )/iy;

function hasRange({ demand }: Item): boolean {
  return demand.kind === "program" && demand.anyOf.some(({ range }) => range !== undefined);
}
