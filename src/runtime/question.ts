import { shortDigest } from "../skills/hash.ts";
import { quoted } from "../base/text/quoted.ts";
import { type Capabilities, beyond, inWords, isNothing, noCapabilities, shortParts } from "../skills/permissions.ts";
import { capitalised, counted } from "../base/text/code-points.ts";
import type { Grant, Reach, Subject } from "./trust/grants.ts";
import type { CallingSkill, TrustRequest } from "./trust.ts";
import type { ChangedFile } from "../skills/files.ts";
import { type Signature, signatureWords } from "../skills/signature.ts";
import { unseenCharacters } from "../base/text/unsafe-characters.ts";

/** What a person can answer. */
export type Answer = "once" | "trust" | "not-now" | "block";

/** The reply to a question: an answer, or why there is none; without an answer nothing is allowed. */
export type Reply =
  /** `byItself`: it came too fast for a person, see `asPerson`. */
  | {
      readonly answer: Answer;
      readonly byItself?: true;
      /** Why a person said no, in their words. */
      readonly why?: string;
    }
  | {
      readonly answer?: undefined;
      readonly missing: "nobody" | "cancelled" | "timeout" | "failed";
      readonly detail?: string;
    };

/** Nobody has read a question and pressed a button in that time. */
const readingMs = 400;
const lastingAs: Readonly<Partial<Record<Answer, Answer>>> = { trust: "once", block: "not-now" };

/** A program can answer once in place of a person, as it is set up to; what lasts takes somebody who could read the question. */
export function asPerson(reply: Reply, elapsedMs: number): Reply {
  if (reply.answer === undefined || elapsedMs >= readingMs) return reply;
  return { answer: lastingAs[reply.answer] ?? reply.answer, byItself: true };
}

/** What was answered, or why there is no answer, for the record. */
export function answerWords(reply: Reply): string {
  if (reply.answer === undefined) return reply.missing;
  return reply.byItself === true ? `${reply.answer}, by the editor itself` : reply.answer;
}

/** Asks a person. `shown` is called once the question is shown to them. Must not throw, except the reason of `signal`. */
export type Ask = (question: Question, signal: AbortSignal, shown?: () => void) => Promise<Reply>;

/** One of the answers that a person can choose. */
export interface AnswerOption {
  readonly answer: Answer;
  readonly label: string;
  /** ACP's PermissionOptionKind; at most one option of each. */
  readonly kind: "allow_once" | "allow_always" | "reject_once" | "reject_always";
}

/** A question to a person, as plain JSON. Its texts have no control or bidirectional characters. */
export interface Question {
  readonly about: "run" | "read";
  /** Everything essential, in one line. */
  readonly title: string;
  /** In this order; `allow_once` first. */
  readonly options: readonly AnswerOption[];
  /** All that the skill wants, in words, where the title lists only a part of it. */
  readonly wants: readonly string[];
  /** What the skill wants beyond the version that was approved before, in words. */
  readonly widened: readonly string[];
  /** Who signed the skill, that nobody did, or why the signature proves nothing, as a sentence. */
  readonly signed?: string | undefined;
  /** Which of the agent's tools the skill's author expects, as a sentence: nothing of it is granted. */
  readonly expects?: string | undefined;
  /** What agents that load the skill themselves run on this machine, as a sentence: it needs no approval of ours. */
  readonly hostCommands?: string | undefined;
  /** Empty for the first version. */
  readonly changed: readonly ChangedFile[];
  readonly skill?: Pick<Subject, "name" | "version" | "digest"> | undefined;
  /** The directory of the skill: the paths of its files are relative to it. */
  readonly directory?: string | undefined;
}

/** What a question about a skill is made from. */
export interface Asked extends Pick<TrustRequest, "subject" | "wants" | "expects"> {
  readonly calledBy?: Pick<CallingSkill, "name" | "digest"> | undefined;
  /** What was approved of an earlier version. */
  readonly before?:
    { readonly version: string; readonly digest: string; readonly capabilities: Capabilities } | undefined;
  /** What was approved of another skill of the name, which came from elsewhere. */
  readonly another?: Pick<Grant, "from" | "source"> | undefined;
  readonly changed?: readonly ChangedFile[] | undefined;
  /** Another skill whose name looks the same. */
  readonly lookAlike?: string | undefined;
  /** Absent: nobody looked. */
  readonly signature?: Signature | undefined;
  /** How far "trust" reaches; "once": there is no such option. */
  readonly reach: Reach;
}

/** Six names of each kind fit. */
const maxTitleLength = 3_000;

/** The question whether a skill may do what it wants. */
export function askAboutSkill(asked: Asked): Question {
  const { subject, wants, calledBy, before, another, changed = [], lookAlike, signature, reach, expects = [] } = asked;
  const { name, version, digest, isOwn, origin, directory } = subject;
  const news = before === undefined ? noCapabilities : beyond(before.capabilities, wants);
  const since =
    before && `, changed since ${versionWords(before.version)} (${shortDigest(before.digest)}) was approved`;
  const from = origin !== undefined ? `, from ${quoted(origin.source)}` : isOwn ? "" : ", from this project";
  const others = [
    ...(another === undefined ? [] : [`not ${anotherWords(name, another)}`]),
    ...(lookAlike === undefined ? [] : [`not the same as ${quoted(lookAlike)}, which has a similar name`]),
  ].map((words) => `, ${words}`);
  const other = others.length === 0 ? "" : `${others.join("")},`;
  // In most projects nobody signs anything: only the lines below the title say that.
  const by = signature === undefined || signature.state === "unsigned" ? "" : `, ${signatureWords(signature)}`;
  const { shown, names } = whatOf(wants, before && news);
  const parts = [
    // First what it wants, because some editors show 38 characters; others 85, which have room for the name, not for long lists.
    `${shown}: run ${quoted(name)}${other} ${versionWords(version)} (${shortDigest(digest)}${from}${by})${since ?? ""}`,
    ...(names === "" ? [] : [names]),
    ...(calledBy === undefined ? [] : [`called by ${quoted(calledBy.name)} (${shortDigest(calledBy.digest)})`]),
  ];
  return {
    about: "run",
    title: toLine(parts.join("; ")),
    options: optionsFor(reach, `Trust this exact version${wordsOf(reach)}`, "Run once", "Block this skill"),
    wants: inWords(wants).map(toLongLine),
    widened: inWords(news).map(toLongLine),
    signed: signature && toLongLine(capitalised(signatureWords(signature))),
    expects:
      expects.length === 0
        ? undefined
        : toLongLine(`Its author expects the agent's tools: ${expects.map((tool) => quoted(tool)).join(", ")}`),
    hostCommands: hostCommandWords(subject),
    changed,
    skill: { name, version, digest },
    directory,
  };
}

/** The question whether models may read the skills that came with a project. */
export function askAboutProject(
  project: string,
  skill: Pick<Subject, "name" | "hostCommands">,
  reach: Reach,
): Question {
  return {
    about: "read",
    title: toLine(
      `Let the model read the instructions of ${quoted(skill.name)} and the other skills that came with this project (${quoted(project, { longest: 1_024 })})`,
    ),
    options: optionsFor(reach, `Trust the skills of this project`, "Read once", "Block this skill"),
    wants: [],
    widened: [],
    hostCommands: hostCommandWords(skill),
    changed: [],
  };
}

function hostCommandWords({ hostCommands }: Pick<Subject, "hostCommands">): string | undefined {
  const commands = hostCommands?.() ?? [];
  if (commands.length === 0) return undefined;
  const shown = commands.map((command) => quoted(command, { longest: 1_024 })).join(", ");
  return toLongLine(`Agents that load it themselves run on this machine, before the model reads it: ${shown}`);
}

/** How many changed files a form names; of the others, it says the number. */
const maxNamed = 20;

/** The whole question for those who see nothing else: its title, what is new and wanted, and which files changed. */
export function toLines(question: Question): readonly string[] {
  const { title, wants, widened, signed, expects, hostCommands, changed } = question;
  const unseen = wants.filter((words) => !widened.includes(words));
  return [
    title,
    ...widened.map((words) => `New: ${words}`),
    ...unseen.map((words) => `It ${words}`),
    ...[signed, expects, hostCommands].filter((words) => words !== undefined),
    ...changed.slice(0, maxNamed).map(({ path }) => `Changed: ${toLine(quoted(path, { longest: 1_024 }))}`),
    ...(changed.length > maxNamed ? [`and ${changed.length - maxNamed} more files`] : []),
  ];
}

/** A version is free text. */
function versionWords(version: string): string {
  return quoted(version, { longest: 64, plain: /^[0-9A-Za-z.+-]+$/ });
}

function anotherWords(name: string, { from, source }: Pick<Grant, "from" | "source">): string {
  if (from === "project") return `the skill ${quoted(name)} of this project`;
  return from === "remote"
    ? `the skill ${quoted(name)} from ${quoted(source ?? "elsewhere")}`
    : `your own skill ${quoted(name)}`;
}

function optionsFor(reach: Reach, trust: string, once: string, block: string): readonly AnswerOption[] {
  return [
    { answer: "once", label: once, kind: "allow_once" },
    ...(reach === "once" ? [] : [{ answer: "trust", label: trust, kind: "allow_always" } as const]),
    { answer: "not-now", label: "Not now", kind: "reject_once" },
    { answer: "block", label: block, kind: "reject_always" },
  ];
}

function wordsOf(reach: Reach): string {
  return reach === "session" ? " for this session" : reach === "project" ? " in this project" : "";
}

/** Everything that a skill wants; what is new first. */
function whatOf(wants: Capabilities, news: Capabilities | undefined): ReturnType<typeof shortParts> {
  if (isNothing(wants)) return { shown: "Only its sandbox", names: "" };
  const all = shortParts(wants);
  if (news === undefined || isNothing(news)) return { ...all, shown: capitalised(all.shown) };
  const before = beyond(news, wants);
  const graver =
    before.isolation !== undefined ? "All your rights" : news.secrets.length === 0 ? secretsOf(before) : "";
  const first = graver === "" ? "" : `${graver} as before, `;
  const [added, old] = [shortParts(news), shortParts(before)];
  return {
    shown: `${first}NEW: ${added.shown}${isNothing(before) ? "" : `; as before: ${old.shown}`}`,
    names: [added.names && `new: ${added.names}`, old.names && `as before: ${old.names}`].filter(Boolean).join("; "),
  };
}

function secretsOf({ secrets: { length } }: Capabilities): string {
  return length === 0 ? "" : counted(length, "secret");
}

const maxLineLength = 64 * 1024;

function toLongLine(text: string): string {
  return toLine(text, maxLineLength);
}

/** The braille blank draws nothing, too, and private characters what a font likes. */
const misleadingCharacters = String.raw`[${unseenCharacters}\p{Co}\u{2800}]`;
const misleading = new RegExp(misleadingCharacters, "gu");
const misleadingInText = new RegExp(String.raw`(?![\n\t])${misleadingCharacters}`, "gu");

/** A text of several lines in which a person sees every character. */
export function markUnseen(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(misleadingInText, "\u{FFFD}");
}

/** Characters that nobody sees could make a title look like another one. */
export function toLine(text: string, maxLength = maxTitleLength): string {
  const line = text.replace(/\s+/gu, " ").replace(misleading, "\u{FFFD}");
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
}
