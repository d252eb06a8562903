import { isDeepStrictEqual } from "node:util";
import { withinTime } from "../../../base/clock.ts";
import type { Settings } from "../../../runtime/options.ts";
import type { Notification } from "../../emission.ts";
import { type Verdict, notForwarded, toVerdict } from "../../messages/amend.ts";
import { type JsonRecord, isExactId, isRecord, recordAt, isGiven } from "../../messages/raw-message.ts";
import type { AgentFacts } from "../../negotiation/agents.ts";
import type { RunAnswer } from "../../skill-service.ts";
import type { Sessions } from "./sessions.ts";
import {
  type OwnCall,
  allowedRun,
  callAllowed,
  callAsked,
  describeForUser,
  withoutAlways,
} from "../../messages/describe-call.ts";
import {
  type KnownServer,
  inputOf,
  isAdded,
  isInputOf,
  namedTool,
  namesItsTool,
  namesTool,
  recogniseCall,
} from "./recognise-call.ts";
import { servedTools } from "../../../wire/tools.ts";

interface PermissionContext {
  readonly sessions: Pick<Sessions, "caller" | "opened" | "reportCall" | "unknownCaller">;
  /** The settings. `answerPermissions`: whether requests are answered for the user. */
  readonly settings: Pick<Settings, "answerPermissions" | "clock" | "log">;
  /** Sends the response of acp-skills to the agent. */
  readonly reply: (message: PermissionGranted) => void;
  /** Sends a notification to the editor. */
  readonly notify: (message: Notification) => void;
}

/** The response of acp-skills to a permission request. */
export interface PermissionGranted {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly result: unknown;
}

/**
 * Handles a permission request of the agent for a tool of acp-skills. Answers it if that is allowed, otherwise amends it so that it
 * describes the call. Undefined if the request is about anything else.
 */
export function handlePermissionRequest(
  id: string | number,
  params: JsonRecord,
  { sessions, settings, reply, notify }: PermissionContext,
): Verdict | Promise<Verdict> | undefined {
  const toolCall = toolCallIn(params);
  if (toolCall === undefined) return undefined;
  const caller = sessions.caller(params["sessionId"], toolCall["toolCallId"]);
  const path = ["params", ...(recordAt(params, "subject") === undefined ? [] : ["subject"]), "toolCall"];
  const amend = (call: OwnCall): Verdict =>
    toVerdict([...describeForUser(toolCall, path, call), ...withoutAlways(params, call)]);
  if (caller === undefined) {
    // The session may be a subagent that was not announced. Its request is amended, and loses "always allow", but is not answered.
    for (const opened of sessions.opened()) {
      const call = opened.calls?.record(toolCall);
      if (call === undefined) continue;
      sessions.unknownCaller(params["sessionId"]);
      sessions.reportCall({ session: opened, subagent: undefined }, toolCall, call);
      return amend(call);
    }
    return undefined;
  }
  const { session, calls } = caller;
  if (calls === undefined) return undefined;
  const { server, facts } = calls;
  const known = calls.find(toolCall["toolCallId"]);
  const mayApprove = settings.answerPermissions && isExactId(id);
  const approval = mayApprove ? approve(params, { server, facts, known }) : undefined;
  const call = calls.record(toolCall);
  if (call === undefined) return undefined;
  sessions.reportCall(caller, toolCall, call);
  const allow = ({ tool, optionId }: Approval, why: string, more?: JsonRecord): Verdict => {
    settings.log("info", `Allowed one call of ${tool}: ${why}.`);
    reply({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId } } });
    if (known === undefined && facts.asksFirst) notify(callAsked(caller.id, toolCall, call));
    if (known === undefined && call.input === undefined && facts.streamsInput) calls.forget(toolCall["toolCallId"]);
    const isShownAsOther = known === undefined && facts.deferral !== undefined;
    if (isShownAsOther || (more !== undefined && (known !== undefined || facts.asksFirst)))
      notify(callAllowed(caller.id, toolCall, call, more));
    return notForwarded;
  };
  if (approval !== undefined) return allow(approval, "it does not change the project");
  const amended = amend(call);
  const run = mayApprove ? approve(params, { server, facts, known }, isRun) : undefined;
  if (run === undefined) return amended;
  const decide = (answer: RunAnswer | undefined): Verdict => {
    if (answer === undefined) return amended;
    // A user whom acp-skills asks about the skill should not be asked by the agent, too.
    if (answer === "decided") return allow(run, "acp-skills decides about the skill itself");
    return allow(run, "it needs nothing beyond its sandbox", { content: allowedRun(call) });
  };
  const deciding = session.service.answersRun(session.key, run.tool, call.input ?? known?.input ?? {});
  return deciding instanceof Promise ? withinTime(deciding, settings.clock, decidingMs).then(decide) : decide(deciding);
}

/**
 * The maximum time that a request waits for the service to report whether acp-skills decides about the skill. After that, the agent asks
 * the user. The first request of a connection waits for the test of a sandbox, which takes seconds if the processors are busy.
 */
const decidingMs = 10_000;

/** An answer that acp-skills gives for the user: the tool and the option that allows its call. */
interface Approval {
  readonly tool: string;
  readonly optionId: string;
}

interface ApprovalContext {
  readonly server: KnownServer;
  readonly facts: AgentFacts;
  /** The known facts about the call with the request's id. */
  readonly known: OwnCall | undefined;
}

/**
 * Returns the answer that may be given to a permission request; undefined if none may be given, or in case of doubt. Only one call of a
 * tool of acp-skills may be allowed, by default one that changes nothing outside the store of acp-skills. Everything in the request must
 * agree with the tool's name, because a model can choose texts such as the title of a shell command.
 */
export function approve(
  params: JsonRecord,
  { server, facts, known }: ApprovalContext,
  isAllowed: (tool: string, input: JsonRecord | undefined, toolCall: JsonRecord) => boolean = mayAnswer,
): Approval | undefined {
  const toolCall = toolCallIn(params);
  if (toolCall === undefined) return undefined;
  const isTitled = !namesTool(toolCall);
  const call = recogniseCall(toolCall, server, facts) ?? (isTitled ? known : undefined);
  if (call === undefined || (known !== undefined && known.tool !== call.tool)) return undefined;
  const input = call.input ?? known?.input;
  if (!agrees(toolCall, { tool: call.tool, input }, server, facts)) return undefined;
  // If only a title names the tool, the input must be known, unless a text that the agent itself adds names the tool.
  const isSaid = isAdded(toolCall["content"], call.tool, server, facts, namesItsTool);
  if (isTitled && !isSaid && input === undefined && !isRecord(toolCall["rawInput"])) return undefined;
  if (!isAllowed(call.tool, input, toolCall)) return undefined;
  const optionId = plainOption(params["options"], facts);
  return optionId === undefined ? undefined : { tool: call.tool, optionId };
}

/** Finds the option that allows this call once and does nothing else; undefined if no option certainly does. */
function plainOption(given: unknown, { allowsOnce }: AgentFacts): string | undefined {
  const options = (Array.isArray(given) ? (given as unknown[]) : []).filter(isRecord);
  const once = options.filter(({ kind }) => kind === "allow_once");
  // If an agent offers several such options, all but one also change something, such as its mode.
  const meant = once.length > 1 ? once.filter(({ optionId }) => optionId === allowsOnce) : once;
  const [{ optionId, name } = {}] = meant as readonly JsonRecord[];
  if (typeof optionId !== "string" || changesMore.test(`${optionId} ${typeof name === "string" ? name : ""}`))
    return undefined;
  return options.filter((option) => option["optionId"] === optionId).length === 1 ? optionId : undefined;
}

/** The words in options that allow more than one call, for any agent and any kind of option. */
const changesMore = /mode\b|switch|always|session|auto/i;

/** Reads the tool call of a permission request. In v1, every request is about one; in v2, about a subject, which may be one. */
function toolCallIn(params: JsonRecord): JsonRecord | undefined {
  const subject = recordAt(params, "subject");
  if (subject === undefined) return recordAt(params, "toolCall");
  return subject["type"] === "tool_call" ? recordAt(subject, "toolCall") : undefined;
}

/** The tools that can access the session's project, each with the parameters with which it does not. */
const harmlessParameters: ReadonlyMap<string, readonly string[]> = new Map([
  ["create_blob", ["content", "kind"]],
  ["read_blob", ["blob_id", "mode", "max_bytes"]],
]);

function mayAnswer(tool: string, input: JsonRecord | undefined, { rawInput }: JsonRecord): boolean {
  const facts = servedTools.get(tool);
  const harmless = harmlessParameters.get(tool);
  if (facts === undefined || (!facts.annotations.readOnlyHint && harmless === undefined)) return false;
  if (harmless !== undefined) return isInputOf(harmless, input);
  if (input === undefined) return !isGiven(rawInput) || (isRecord(rawInput) && Object.keys(rawInput).length === 0);
  return isInputOf(facts.parameters, input);
}

/** Whether a call runs code. acp-skills decides what a run may do beyond its sandbox, even if the agent asks the user, too. */
function isRun(tool: string, input: JsonRecord | undefined): boolean {
  const facts = servedTools.get(tool);
  const what = input?.[tool === "execute_skill" ? "name" : "code"];
  return facts?.executes === true && typeof what === "string" && isInputOf(facts.parameters, input);
}

/** Whether nothing in the request contradicts the call. */
function agrees(toolCall: JsonRecord, { tool, input }: OwnCall, server: KnownServer, facts: AgentFacts): boolean {
  const { kind, title, content, locations } = toolCall;
  if (isGiven(kind) && kind !== "other" && kind !== "read") return false;
  if (isGiven(title) && !isTitleOf(title, tool, input, server, facts)) return false;
  if (isGiven(locations) && !(Array.isArray(locations) && locations.length === 0)) return false;
  const reported = inputOf(toolCall);
  if (reported !== undefined && input !== undefined && !isDeepStrictEqual(reported, input)) return false;
  if (!isGiven(content)) return true;
  if (!Array.isArray(content)) return false;
  if (content.length === 0 || isAdded(content, tool, server, facts)) return true;
  const shown = inputOf({ content });
  return shown !== undefined && isDeepStrictEqual(shown, input ?? {});
}

/** Whether a title is the tool's name, the title of the tool, or its input. */
function isTitleOf(
  title: unknown,
  tool: string,
  input: JsonRecord | undefined,
  server: KnownServer,
  facts: AgentFacts,
): boolean {
  if (title === tool || title === servedTools.get(tool)?.title) return true;
  if (namedTool(title, server, facts) === tool) return true;
  return title === JSON.stringify(input ?? {});
}
