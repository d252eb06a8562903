import { lstatSync } from "node:fs";
import path from "node:path";
import type { App } from "../../app.ts";
import { unseenCharacters } from "../../base/unseen-characters.ts";
import { isWithin } from "../../base/paths/is-within.ts";
import type { Caller } from "../../caller.ts";
import { askerOf, trustRequest } from "../../runs/authorize/trust-request.ts";
import { checkDeclared } from "../../runs/plan/check-declared.ts";
import { maxMountedBytes } from "../../runs/plan/run-limits.ts";
import type { Skill } from "../../skills/skill.ts";
import { viewSkills } from "../../tools/view/skill-view.ts";
import type { Asker, Authorization, FullTrustRequest } from "../../trust/authorization.ts";
import { noCapabilities } from "../../trust/grants/capabilities.ts";
import type { Reply } from "../../trust/asking/question.ts";
import { coversUse, type ToolUse, toolUseInWords } from "../../trust/tools/tool-patterns.ts";
import type { Trust } from "../../trust/trust.ts";
import type { AgentToolUse } from "../tools/agent-uses.ts";
import type { UseDecision } from "./skill-service.ts";

type LedgerEntry = Parameters<App["ledger"]["record"]>[0];

/** A skill that the model works with in this turn. */
export interface ActiveSkill {
  readonly skill: Skill;
  /** Of its files whenever it became active; undefined if they could not be read, or were not always the same. */
  readonly digest: string | undefined;
}

/** The session in which an agent asks. */
export interface AskingSession {
  readonly caller: Caller;
  /** Absolute. */
  readonly directories: readonly string[];
}

/** A use that was decided about, and waits for its outcome. */
export interface OpenUse {
  readonly decision: UseDecision;
  readonly request: FullTrustRequest;
  readonly asker: Asker;
  readonly tool: string;
  /** By what it is allowed. */
  readonly by?: string;
}

/** Longer uses are not shown in full in a title, so that a person sees the agent's own request. */
const longestShown = 120;
const unseen = new RegExp(`[${unseenCharacters}\\p{C}]`, "u");

/** The part of the app that decides. */
export type PermissionApp = Pick<App, "source" | "hasher" | "ledger">;

/** What a skill's files are now. */
export async function digestOf({ source, hasher }: PermissionApp, skill: Skill): Promise<string | undefined> {
  const never = new AbortController().signal;
  try {
    const hashed = await hasher.hash(source, skill.directory, never, { maxBytes: maxMountedBytes });
    await checkDeclared(skill, hashed, source);
    return hashed.digest;
  } catch {
    return undefined; // It is gone, or changed since it was listed: nothing is allowed.
  }
}

/**
 * Whether an active skill lists the use of a tool in `allowed-tools`, and whether this version was approved. Undefined if it is not for
 * us: then the agent's request reaches the person as it is.
 */
export async function decideUse(
  given: AgentToolUse,
  active: readonly ActiveSkill[],
  session: AskingSession,
  { ticket, trust, app }: { readonly ticket: number; readonly trust: Trust; readonly app: PermissionApp },
): Promise<OpenUse | undefined> {
  const { caller, directories } = session;
  const use = locate(given, directories);
  // A person is asked by the agent's request, which we amend.
  const asker: Asker = { ...askerOf({ ...caller, project: caller.project }), ask: nobody };
  if (use === undefined || !trust.policyFor(asker.directory).answers) return undefined;
  const undecided: { readonly request: FullTrustRequest; readonly pattern: string }[] = [];
  for (const { skill, digest: before } of active) {
    const pattern = skill.allowedTools?.find((entry) => coversUse(entry, use));
    const digest = pattern === undefined ? undefined : await digestOf(app, skill);
    if (pattern === undefined || digest === undefined) continue;
    const request = requestOf({ skill, digest }, pattern, use, caller, app);
    const decided = await trust.decide(request, asker);
    if (decided === undefined) undecided.push({ request, pattern });
    // The model may have read other bytes than those that are here now.
    if (decided?.allowed !== true || digest !== before) continue;
    const { name, version } = skill;
    const decision: UseDecision = { kind: "allowed", ticket, skill: { name, version, digest }, pattern };
    return { decision, request, asker, tool: use.tool, by: decided.by };
  }
  const [first] = undecided;
  const words = toolUseInWords(use);
  if (first === undefined || words.length > longestShown || unseen.test(words)) return undefined;
  const question = await trust.questionFor(first.request, asker);
  // A title can be cut off.
  if (question?.title.endsWith(words) !== true) return undefined;
  return { decision: { kind: "ask", ticket, question }, request: first.request, asker, tool: use.tool };
}

/**
 * Keeps a person's answer, and tells it before it is in force: by what the tool may be used, undefined if it may not. Throws
 * SKILL_NOT_READY for a skill that changed.
 */
export async function keepAnswer(
  { request, asker }: OpenUse,
  trust: Trust,
  reply: Reply,
  tell: (by: OpenUse["by"]) => void,
): Promise<OpenUse["by"]> {
  const byOf = (kept: Authorization): OpenUse["by"] => (kept.allowed ? kept.by : undefined);
  return byOf(await trust.answered(request, asker, reply, { tell: (kept) => tell(byOf(kept)) }));
}

/** What the ledger says about a step of a use. */
export function toEntry(
  { decision, request, asker, tool, by }: OpenUse,
  step: Pick<LedgerEntry, "event" | "outcome"> & {
    readonly answer?: string | undefined;
    readonly grant?: string | undefined;
  },
  at: number,
): LedgerEntry {
  const { event, outcome, answer, grant = by } = step;
  const { name, version, digest } = request.subject;
  return {
    at,
    ...(event !== undefined && { event }),
    ...(outcome !== undefined && { outcome }),
    tool,
    skill: name,
    version,
    digest,
    about: decision.kind === "ask" ? decision.question.title : (request.use ?? tool),
    ...(answer !== undefined && { answer }),
    ...(grant !== undefined && { grant }),
    ...(asker.sessionId !== undefined && { sessionId: asker.sessionId }),
    door: asker.door,
  };
}

const nobody = (): Promise<Reply> => Promise.resolve({ missing: "nobody" });

function requestOf(
  skill: { readonly skill: Skill; readonly digest: string },
  pattern: string,
  use: ToolUse,
  { skills }: Caller,
  { source, hasher }: PermissionApp,
): FullTrustRequest {
  const caller = {
    skills: viewSkills(skills.snapshot, undefined),
    sourceOf: () => source,
    hashFiles: (of: Skill, signal: AbortSignal) =>
      hasher.hash(source, of.directory, signal, { maxBytes: maxMountedBytes }),
  };
  const needs = { ...noCapabilities, tools: [pattern] };
  const { signal } = new AbortController();
  return trustRequest(skill, caller, { about: "tool", needs, use: toolUseInWords(use), signal });
}

/** Files by their path below a directory of the session; undefined if they are outside, or if a link leads there. */
export function locate(use: AgentToolUse, directories: readonly string[]): ToolUse | undefined {
  if (!("file" in use)) return use;
  const { tool, file } = use;
  const directory = directories.find((candidate) => isWithin(file, path.normalize(candidate)));
  if (directory === undefined) return undefined;
  const names = path.relative(directory, file).split(path.sep);
  return hasLink(directory, names) ? undefined : { tool, path: names.join("/") };
}

/** Whether one of the names, each in the directory before it, is a link. */
function hasLink(directory: string, names: readonly string[]): boolean {
  let place = directory;
  for (const name of names) {
    place = path.join(place, name);
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    if (stats.isSymbolicLink()) return true;
  }
  return false;
}
