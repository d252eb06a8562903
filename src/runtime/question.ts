import { shortDigest } from "../skills/hash.ts";
import { quoted } from "../base/text/quoted.ts";
import { type Capabilities, beyond, inWords, isNothing, noCapabilities, shortPhrases } from "../skills/permissions.ts";
import { capitalised, counted } from "../base/text/code-points.ts";
import type { GrantOrigin, Reach, JudgedSkill } from "./trust/grants.ts";
import type { CallingSkill, TrustRequest } from "./trust.ts";
import type { ChangedFile } from "../skills/files.ts";
import { type Signature, signatureWords } from "../skills/signature.ts";
import { unseenCharacters } from "../base/text/unsafe-characters.ts";

/** An answer that the user can give. */
export type Answer = "once" | "trust" | "not-now" | "block";

/** The reply to a question: an answer, or why there is none; without an answer nothing is allowed. */
export type Reply =
  /** `byItself`: the answer came too fast for the user, see `asUserReply`. */
  | {
      readonly answer: Answer;
      readonly byItself?: true;
      /** Why the user refused, in the user's words. */
      readonly why?: string;
    }
  | {
      readonly answer?: undefined;
      readonly missing: "nobody" | "cancelled" | "timeout" | "failed";
      readonly detail?: string;
    };

/** The milliseconds within which no user has read a question and pressed a button. */
const readingMs = 400;
const lastingAs: Readonly<Partial<Record<Answer, Answer>>> = { trust: "once", block: "not-now" };

/** Reduces an answer within 400 ms to one that counts once. A program may give it; a lasting answer needs a user who could read. */
export function asUserReply(reply: Reply, elapsedMs: number): Reply {
  if (reply.answer === undefined || elapsedMs >= readingMs) return reply;
  return { answer: lastingAs[reply.answer] ?? reply.answer, byItself: true };
}

/** Names the answer, or why there is none, for the record. */
export function answerWords(reply: Reply): string {
  if (reply.answer === undefined) return reply.missing;
  return reply.byItself === true ? `${reply.answer}, by the editor itself` : reply.answer;
}

/** Asks the user. `shown` is called once the user sees the question. Must not throw, except the reason of `signal`. */
export type Ask = (question: Question, signal: AbortSignal, shown?: () => void) => Promise<Reply>;

/** An answer that the user can choose. */
export interface AnswerOption {
  readonly answer: Answer;
  readonly label: string;
  /** ACP's PermissionOptionKind; at most one option of each. */
  readonly kind: "allow_once" | "allow_always" | "reject_once" | "reject_always";
}

/** A question to the user, as plain JSON. Its texts have no control or bidirectional characters. */
export interface Question {
  readonly about: "run" | "read";
  /** Everything essential, in one line. */
  readonly title: string;
  /** The options in the order in which they are shown; `allow_once` first. */
  readonly options: readonly AnswerOption[];
  /** The permissions that the skill wants, in words; the title may list only some of them. */
  readonly wants: readonly string[];
  /** The permissions that the skill wants beyond those of the version that was approved before, in words. */
  readonly widened: readonly string[];
  /** The signer of the skill, that it is unsigned, or why the signature proves nothing, as a sentence. */
  readonly signed?: string | undefined;
  /** The agent's tools that the skill's author expects, as a sentence: the answer grants none of them. */
  readonly expects?: string | undefined;
  /** The commands that an agent runs here when it loads the skill itself, as a sentence. They need no approval of acp-skills. */
  readonly hostCommands?: string | undefined;
  /** The files that changed since the approved version; empty for the first version. */
  readonly changed: readonly ChangedFile[];
  readonly skill?: Pick<JudgedSkill, "name" | "version" | "digest"> | undefined;
  /** The directory of the skill, to which the paths of its files are relative. */
  readonly directory?: string | undefined;
}

/** The facts from which a question about a skill is made. */
export interface Asked extends Pick<TrustRequest, "skill" | "wants" | "expects"> {
  readonly calledBy?: Pick<CallingSkill, "name" | "digest"> | undefined;
  /** The approval of an earlier version. */
  readonly before?:
    { readonly version: string; readonly digest: string; readonly capabilities: Capabilities } | undefined;
  /** The approval of another skill of this name, which came from another source. */
  readonly another?: GrantOrigin | undefined;
  readonly changed?: readonly ChangedFile[] | undefined;
  /** The name of another skill that looks the same. */
  readonly lookAlike?: string | undefined;
  /** The signature of the skill. Absent: it was not checked. */
  readonly signature?: Signature | undefined;
  /** How far "trust" reaches; "once": the question has no option "trust". */
  readonly reach: Reach;
}

/** The maximum length of a title, enough for six names of each kind. */
const maxTitleLength = 3_000;

/** Creates the question whether a skill may do what it wants. */
export function askAboutSkill(asked: Asked): Question {
  const { skill, wants, calledBy, before, another, changed = [], lookAlike, signature, reach, expects = [] } = asked;
  const { name, version, digest, isOwn, origin, directory } = skill;
  const news = before === undefined ? noCapabilities : beyond(before.capabilities, wants);
  const since =
    before && `, changed since ${versionWords(before.version)} (${shortDigest(before.digest)}) was approved`;
  const from = origin !== undefined ? `, from ${quoted(origin.source)}` : isOwn ? "" : ", from this project";
  const others = [
    ...(another === undefined ? [] : [`not ${anotherWords(name, another)}`]),
    ...(lookAlike === undefined ? [] : [`not the same as ${quoted(lookAlike)}, which has a similar name`]),
  ].map((words) => `, ${words}`);
  const other = others.length === 0 ? "" : `${others.join("")},`;
  // Most skills are unsigned, so only the lines below the title say that.
  const by = signature === undefined || signature.state === "unsigned" ? "" : `, ${signatureWords(signature)}`;
  const { shown, names } = whatOf(wants, before && news);
  const parts = [
    // The permissions come first, because some editors show only 38 characters. Others show 85, which fit the name, but no long lists.
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
    hostCommands: hostCommandWords(skill),
    changed,
    skill: { name, version, digest },
    directory,
  };
}

/** Creates the question whether models may read the skills that came with a project. */
export function askAboutProject(
  project: string,
  skill: Pick<JudgedSkill, "name" | "hostCommands">,
  reach: Reach,
): Question {
  return {
    about: "read",
    title: toLine(
      `Let the model read the instructions of ${quoted(skill.name)} and the other skills that came with this project (${quoted(project, { maxLength: 1_024 })})`,
    ),
    options: optionsFor(reach, `Trust the skills of this project`, "Read once", "Block this skill"),
    wants: [],
    widened: [],
    hostCommands: hostCommandWords(skill),
    changed: [],
  };
}

function hostCommandWords({ hostCommands }: Pick<JudgedSkill, "hostCommands">): string | undefined {
  const commands = hostCommands?.() ?? [];
  if (commands.length === 0) return undefined;
  const shown = commands.map((command) => quoted(command, { maxLength: 1_024 })).join(", ");
  return toLongLine(`Agents that load it themselves run on this machine, before the model reads it: ${shown}`);
}

/** The maximum number of changed files that a form names; the others are counted. */
const maxNamed = 20;

/** Lists the whole question for forms that show nothing else of it: its title, what is new and wanted, and which files changed. */
export function toLines(question: Question): readonly string[] {
  const { title, wants, widened, signed, expects, hostCommands, changed } = question;
  const unseen = wants.filter((words) => !widened.includes(words));
  return [
    title,
    ...widened.map((words) => `New: ${words}`),
    ...unseen.map((words) => `It ${words}`),
    ...[signed, expects, hostCommands].filter((words) => words !== undefined),
    ...changed.slice(0, maxNamed).map(({ path }) => `Changed: ${toLine(quoted(path, { maxLength: 1_024 }))}`),
    ...(changed.length > maxNamed ? [`and ${changed.length - maxNamed} more files`] : []),
  ];
}

/** Quotes a version, which is free text. */
function versionWords(version: string): string {
  return quoted(version, { maxLength: 64, plain: /^[0-9A-Za-z.+-]+$/ });
}

function anotherWords(name: string, { from, source }: GrantOrigin): string {
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

/** Summarises the permissions that a skill wants; new ones first. */
function whatOf(wants: Capabilities, news: Capabilities | undefined): ReturnType<typeof shortPhrases> {
  if (isNothing(wants)) return { shown: "Only its sandbox", names: "" };
  const all = shortPhrases(wants);
  if (news === undefined || isNothing(news)) return { ...all, shown: capitalised(all.shown) };
  const before = beyond(news, wants);
  const graver =
    before.isolation !== undefined ? "All your rights" : news.secrets.length === 0 ? secretsOf(before) : "";
  const first = graver === "" ? "" : `${graver} as before, `;
  const [added, old] = [shortPhrases(news), shortPhrases(before)];
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

/** Characters that draw nothing, such as the braille blank, and private ones, which each font draws differently. */
const misleadingCharacters = String.raw`[${unseenCharacters}\p{Co}\u{2800}]`;
const misleading = new RegExp(misleadingCharacters, "gu");
const misleadingInText = new RegExp(String.raw`(?![\n\t])${misleadingCharacters}`, "gu");

/** Replaces unseen characters in a text of several lines, so that the user sees every character. */
export function markUnseen(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(misleadingInText, "\u{FFFD}");
}

/** Writes a text as one line and replaces unseen characters, with which a title could look like another one. */
export function toLine(text: string, maxLength = maxTitleLength): string {
  const line = text.replace(/\s+/gu, " ").replace(misleading, "\u{FFFD}");
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
}
