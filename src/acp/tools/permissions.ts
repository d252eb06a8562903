import type { Log } from "../../base/log.ts";
import type { Notification } from "../announce/emission.ts";
import { isExactId, type JsonRecord, recordAt } from "../bytes/raw-message.ts";
import type { AgentFacts } from "../session/agents.ts";
import type { Sessions } from "../session/sessions.ts";
import { kept, toVerdict, untouched, type Verdict } from "../verdict.ts";
import { approve, toolCallIn } from "./approval.ts";
import { callAsked, describeToPerson, withoutAlways } from "./call-cards.ts";

export interface PermissionContext {
  readonly sessions: Pick<Sessions, "find" | "noteCall">;
  readonly facts: AgentFacts;
  /** Whether requests for read-only tools are answered for the user. */
  readonly approveReadOnly: boolean;
  readonly log: Log;
  /** Sends our response to the agent. */
  readonly reply: (message: PermissionGranted) => void;
  /** Sends a notification to the editor. */
  readonly tell: (message: Notification) => void;
}

/** Our response to a permission request. */
export interface PermissionGranted {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly result: unknown;
}

/** Answers a permission request of the agent if we may, otherwise amends it so that it describes the call. */
export function lookAtPermission(
  id: string | number,
  params: JsonRecord,
  { sessions, facts, approveReadOnly, log, reply, tell }: PermissionContext,
): Verdict {
  const { server, calls, key } = sessions.find(params)?.opening ?? {};
  const toolCall = toolCallIn(params);
  if (server === undefined || calls === undefined || key === undefined || toolCall === undefined) return untouched;
  const known = calls.find(toolCall["toolCallId"]);
  const approval = approveReadOnly && isExactId(id) ? approve(params, { server, facts, known }) : undefined;
  const call = calls.learn(toolCall);
  if (call === undefined) return untouched;
  sessions.noteCall(key, toolCall, call);
  if (approval === undefined) {
    const path = ["params", ...(recordAt(params, "subject") === undefined ? [] : ["subject"]), "toolCall"];
    return toVerdict([...describeToPerson(toolCall, path, call), ...withoutAlways(params, call)]);
  }
  const { tool, optionId } = approval;
  log("info", `Allowed one call of ${tool}: it does not change the project.`);
  reply({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId } } });
  if (known === undefined && facts.asksFirst) tell(callAsked(params["sessionId"], toolCall, call));
  return kept;
}
