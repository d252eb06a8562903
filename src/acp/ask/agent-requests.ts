import { withinTime } from "../../base/clock.ts";
import { openToldOnce } from "../../base/log.ts";
import type { ToldOnce } from "../../base/log.ts";
import { LimitedMap } from "../../base/limited-map.ts";
import type { Settings } from "../../options.ts";
import type { Answer, Question } from "../../trust/asking/question.ts";
import { sessionUpdate, toolCallUpdate } from "../../wire/methods.ts";
import type { Notification } from "../announce/emission.ts";
import { type Amendment, kept, type Path, toVerdict, untouched, type Verdict } from "../bytes/amend.ts";
import { isExactId, isRecord, type JsonRecord, recordAt } from "../bytes/raw-message.ts";
import type { SessionKey, ServiceConnection, UseDecision } from "../service/skill-service.ts";
import type { RelayedSession } from "../session/relayed-session.ts";
import { toolUseIn } from "../tools/agent-uses.ts";
import { type PermissionGranted, toolCallIn } from "../tools/permissions.ts";
import { readEditorReply, toReply } from "./editor-reply.ts";
import { toContent, toOptions } from "./permission-request.ts";

interface AgentRequestsOptions {
  readonly service: Pick<ServiceConnection, "decideUse" | "useAllowed" | "useAnswered">;
  readonly settings: Pick<Settings, "approve" | "clock" | "log">;
  /** Sends our response to the agent. */
  readonly reply: (message: PermissionGranted) => void;
  /** Sends a notification to the editor, after the message that is being processed. */
  readonly notify: (message: Notification) => void;
}

type Id = string | number;

/** The agent's options that we select for the user. */
interface AgentOptions {
  readonly allowOnce: string;
  /** Undefined: the request is cancelled instead. */
  readonly rejectOnce: string | undefined;
}

/** A request of the agent that the editor got with our question. */
interface AskedUse {
  readonly key: SessionKey;
  readonly ticket: number;
  readonly answers: ReadonlyMap<string, Answer>;
  readonly options: AgentOptions;
  readonly askedAt: number;
}

/** How long a request waits until we know whether it is for us: after that, it is forwarded unchanged. */
const decidingTime = 1_000;
/** How long a person's answer waits until it is stored: after that, the use is refused. */
const keepingTime = 5_000;
const mostOpen = 64;

/**
 * The agent's own permission requests for tools that an active skill lists. What was approved is answered, once; where nobody has
 * decided, the person gets the same request with our question in it, so that they are asked once and not twice. All others pass.
 */
export class AgentRequests {
  readonly #options: AgentRequestsOptions;
  readonly #asked = new LimitedMap<Id, AskedUse>(mostOpen);
  readonly #tellOnce: ToldOnce["tellOnce"];

  constructor(options: AgentRequestsOptions) {
    this.#options = options;
    this.#tellOnce = openToldOnce(options.settings.log).tellOnce;
  }

  /** No request is open with a question of ours. */
  get isEmpty(): boolean {
    return this.#asked.size === 0;
  }

  /** A request for something else than our own tools. */
  look(id: Id, params: JsonRecord, session: RelayedSession, protocol: 1 | 2): Verdict | Promise<Verdict> {
    const { service, settings } = this.#options;
    const toolCall = toolCallIn(params);
    const options = agentOptionsIn(params);
    if (!settings.approve || !isExactId(id) || session.calls === undefined) return untouched;
    if (toolCall === undefined || options === undefined) return untouched;
    const use = toolUseIn(toolCall, session.calls.facts, session.calls.server);
    const deciding = use && service.decideUse(session.key, use);
    const act = (decision: UseDecision | undefined): Verdict => {
      if (decision === undefined) return untouched;
      if (decision.kind === "allowed") return this.#allow(id, params, { decision, toolCall, options, session });
      const { ticket, question } = decision;
      const { options: ours, answers } = toOptions(question);
      this.#asked.set(id, { key: session.key, ticket, answers, options, askedAt: settings.clock.now() });
      return toVerdict(amendRequest(params, toolCall, question, ours, protocol));
    };
    if (!(deciding instanceof Promise)) return act(deciding);
    return withinTime(deciding, settings.clock, decidingTime).then(act);
  }

  /** The editor's response to a request of the agent: undefined if we asked nothing in it. */
  answered(message: JsonRecord): Promise<Verdict> | undefined {
    const id = message["id"] as Id;
    const asked = this.#asked.get(id);
    if (asked === undefined) return undefined;
    this.#asked.delete(id);
    return this.#settle(message, asked);
  }

  async #settle(message: JsonRecord, { key, ticket, answers, options, askedAt }: AskedUse): Promise<Verdict> {
    const { service, settings } = this.#options;
    const elapsedMs = settings.clock.now() - askedAt;
    const reply = toReply(readEditorReply(message), answers, { elapsedMs, tellOnce: this.#tellOnce });
    const keeping = Promise.resolve(service.useAnswered(key, ticket, reply));
    const isAllowed = (await withinTime(keeping, settings.clock, keepingTime)) === true;
    // An error, and a cancelled request, are the same to the agent whoever asked.
    if (reply.answer === undefined && (reply.missing === "cancelled" || !isRecord(message["result"]))) return untouched;
    const optionId = isAllowed ? options.allowOnce : options.rejectOnce;
    const outcome = optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId };
    return toVerdict([{ path: ["result"], value: { outcome } }]);
  }

  #allow(
    id: Id,
    { sessionId }: JsonRecord,
    {
      decision,
      toolCall,
      options,
      session,
    }: {
      readonly decision: Extract<UseDecision, { readonly kind: "allowed" }>;
      readonly toolCall: JsonRecord;
      readonly options: AgentOptions;
      readonly session: RelayedSession;
    },
  ): Verdict {
    const { service, settings, reply, notify } = this.#options;
    const { ticket, skill, pattern } = decision;
    settings.log(
      "info",
      `Allowed one use of ${pattern}, which the approved skill ${skill.name} ${skill.version} lists.`,
    );
    reply({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId: options.allowOnce } } });
    service.useAllowed(session.key, ticket);
    const { toolCallId } = toolCall;
    if (typeof toolCallId !== "string") return kept;
    const _meta = { "acp-skills": { allowed: { ...skill, tool: pattern } } };
    const update = { sessionUpdate: toolCallUpdate, toolCallId, _meta };
    notify({ jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update } });
    return kept;
  }
}

/** Undefined unless the request offers exactly one way to allow this one use, and not as the last resort. */
function agentOptionsIn({ options }: JsonRecord): AgentOptions | undefined {
  const offered = Array.isArray(options) ? (options as unknown[]) : [];
  const idsOf = (kind: string): readonly unknown[] =>
    offered.flatMap((option) => (isRecord(option) && option["kind"] === kind ? [option["optionId"]] : []));
  const [allowOnce, ...more] = idsOf("allow_once");
  const [rejectOnce] = idsOf("reject_once");
  const [first] = offered;
  // Claude lists refusing first where it advises against the use.
  const isAdvisedAgainst = isRecord(first) && String(first["kind"]).startsWith("reject");
  if (typeof allowOnce !== "string" || more.length > 0 || isAdvisedAgainst) return undefined;
  return { allowOnce, rejectOnce: typeof rejectOnce === "string" ? rejectOnce : undefined };
}

/** Puts our question into the agent's request: everything else of the call stays, so that the editor shows what is to be done. */
function amendRequest(
  params: JsonRecord,
  toolCall: JsonRecord,
  question: Question,
  options: readonly JsonRecord[],
  protocol: 1 | 2,
): readonly Amendment[] {
  const isV2 = recordAt(params, "subject") !== undefined;
  const call: Path = ["params", ...(isV2 ? ["subject"] : []), "toolCall"];
  const { content } = toolCall;
  const before = Array.isArray(content) ? (content as unknown[]) : [];
  const added = toContent(question, protocol);
  return [
    { path: [...call, "title"], value: question.title },
    ...(isV2 ? [{ path: ["params", "title"], value: question.title }] : []),
    ...(added.length === 0 ? [] : [{ path: [...call, "content"], value: [...added, ...before] }]),
    { path: ["params", "options"], value: options },
  ];
}
