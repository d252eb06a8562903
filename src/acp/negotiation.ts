import type { AnnouncedForm, ToolForm } from "../runtime/options.ts";
import {
  availableCommandsUpdate,
  availableSkillsUpdate,
  extensionSkillsUpdate,
  metaKey,
  sessionUpdate,
  skillsNotification,
} from "../wire/methods.ts";
import { type AgentFacts, factsOf } from "./negotiation/agents.ts";
import type { Amendment } from "./messages/amend.ts";
import { canIdentifyPeerUsers } from "../base/network/peer-users.ts";
import { isRecord, type JsonRecord, recordAt } from "./messages/raw-message.ts";
import type { Transport } from "./messages/server-entry.ts";

export { knownAgents } from "./negotiation/agents.ts";

/** What the client and the agent declared in `initialize`, as far as skills are concerned. */
export interface Negotiation {
  readonly protocol: 1 | 2;
  /** How the client asked for skills; undefined if it did not. */
  readonly optIn: OptIn | undefined;
  readonly jetbrains: boolean;
  /** The client said something about skills. Others get commands as agents send them, without `_meta` of ours. */
  readonly declaresSkills: boolean;
  /** The client shows `notice` updates. */
  readonly notices: boolean;
  /** How the agent connects to MCP servers. In v1 every agent supports stdio. */
  readonly transports: readonly Transport[];
  /** The agent supports additions to its system prompt. */
  readonly systemPrompt: boolean;
  /** The agent's name, as it gave it. */
  readonly agent: string;
  /** The editor's name, as it gave it. */
  readonly editor: string;
  readonly facts: AgentFacts;
  /** The text of embedded resources reaches its model. */
  readonly takesResources: boolean;
  /** The agent uses this package itself. */
  readonly alreadyServed: boolean;
}

/** How a client that opted in wants to get skills. */
interface OptIn {
  /** As the notification `_acp-skills/skills_update`, which typed v1 SDK clients deliver. */
  readonly notification: boolean;
  /** Only changes after the first list. */
  readonly deltas: boolean;
  /** Also as commands. */
  readonly commands: boolean;
}

/** How the list of skills itself is sent. */
export interface SkillsForm {
  readonly method: typeof sessionUpdate | typeof skillsNotification;
  /** The kind of the update. */
  readonly kind: typeof availableSkillsUpdate | typeof extensionSkillsUpdate;
  readonly deltas: boolean;
}

/** The forms in which a connection gets its skills. */
export interface Forms {
  /** Undefined if the list itself is not sent. */
  readonly skills: SkillsForm | undefined;
  readonly commands: boolean;
  readonly problems: boolean;
}

/**
 * Reads the params of an initialize request and the result that answered it. The fields of both versions are read,
 * because a request may be of a newer protocol than the answer.
 */
export function negotiate(params: unknown, result: unknown): Negotiation {
  const protocol = isRecord(result) && Number(result["protocolVersion"]) >= 2 ? 2 : 1;
  const ofClient = [recordAt(params, "clientCapabilities"), recordAt(params, "capabilities")];
  const ofAgent = recordAt(result, "agentCapabilities") ?? recordAt(result, "capabilities");
  const name = nameIn(recordAt(result, "agentInfo") ?? recordAt(result, "info"));
  const facts = factsOf(name);
  const optIn = optInOf(ofClient);
  const jetbrains = ofClient.some((capabilities) => Boolean(recordAt(capabilities, "_meta", "jetbrains")?.["air"]));
  const ofPrompts = protocol === 2 ? recordAt(ofAgent, "session", "prompt") : recordAt(ofAgent, "promptCapabilities");
  return {
    protocol,
    optIn,
    jetbrains,
    declaresSkills: optIn !== undefined || jetbrains,
    notices: protocol === 2 || ofClient.some((capabilities) => Boolean(recordAt(capabilities, "session")?.["notices"])),
    transports: transportsOf(protocol, ofAgent),
    systemPrompt: Boolean(recordAt(ofAgent, protocol === 2 ? "session" : "sessionCapabilities")?.["systemPrompt"]),
    agent: name,
    editor: nameIn(recordAt(params, "clientInfo") ?? recordAt(params, "info")),
    facts,
    takesResources: Boolean(ofPrompts?.["embeddedContext"]) && facts.passesResources,
    alreadyServed: Boolean(recordAt(ofAgent, "_meta")?.[metaKey]),
  };
}

function nameIn(info: JsonRecord | undefined): string {
  const name = info?.["name"];
  return typeof name === "string" ? name : "";
}

/** A client can opt in by our key in `_meta` or by `session.skills`. */
function optInOf(ofClient: readonly (JsonRecord | undefined)[]): OptIn | undefined {
  const declarations = ofClient.flatMap((capabilities) => [
    recordAt(capabilities, "_meta")?.[metaKey],
    recordAt(capabilities, "session")?.["skills"],
  ]);
  const declared = declarations.find(Boolean);
  if (declared === undefined) return undefined;
  const { notification, deltas, commands } = isRecord(declared) ? declared : {};
  // Every list of commands is whole: a client that asks for changes only does not want it with each change.
  const isWhole = commands === undefined ? deltas !== true : commands !== false;
  return { notification: notification === true, deltas: deltas === true, commands: isWhole };
}

/** Chooses the forms. `announce: "rfd"` sends the RFD's update without opt-in. */
export function chooseForms({ protocol, optIn }: Negotiation, announce: AnnouncedForm): Forms {
  const problems = optIn !== undefined;
  const deltas = optIn?.deltas ?? false;
  const method = optIn?.notification === true ? skillsNotification : sessionUpdate;
  const rfd: SkillsForm = { method, kind: availableSkillsUpdate, deltas };
  switch (announce) {
    case "none":
      return { skills: undefined, commands: false, problems: false };
    case "rfd":
      return { skills: rfd, commands: false, problems };
    case "commands":
      return { skills: undefined, commands: true, problems };
    case "auto": {
      const unasked = protocol === 2 ? ({ ...rfd, kind: extensionSkillsUpdate } as const) : undefined;
      return { skills: optIn === undefined ? unasked : rfd, commands: optIn?.commands ?? true, problems };
    }
  }
}

/**
 * Chooses how the agent connects to our MCP server; undefined if it cannot. The HTTP configuration contains the access token, so
 * agents that leak it to other users get the stdio bridge, as do all agents if the calling user cannot be determined.
 */
export function chooseTransport(
  { transports, facts }: Pick<Negotiation, "transports" | "facts">,
  tools: ToolForm,
  canIdentifyUsers: boolean = canIdentifyPeerUsers(),
): Transport | undefined {
  const { hasMcpTools, leaksConfiguration } = facts;
  if (!hasMcpTools) return undefined;
  const stdio = transports.find((transport) => transport === "stdio");
  switch (tools) {
    case "none":
      return undefined;
    case "stdio":
      return stdio;
    case "auto":
      return (leaksConfiguration || !canIdentifyUsers ? stdio : undefined) ?? transports[0];
  }
}

function transportsOf(protocol: 1 | 2, ofAgent: unknown): readonly Transport[] {
  if (protocol === 1) return recordAt(ofAgent, "mcpCapabilities")?.["http"] === true ? ["http", "stdio"] : ["stdio"];
  const mcp = recordAt(ofAgent, "session", "mcp");
  return (["http", "stdio"] as const).filter((transport) => Boolean(mcp?.[transport]));
}

/** Adds to an initialize response what will be sent. */
export function advertise(
  response: unknown,
  { protocol }: Negotiation,
  forms: Forms,
  { version, tools }: { readonly version: string; readonly tools: readonly string[] },
): Amendment[] {
  const result = recordAt(response, "result");
  if (result === undefined) return [];
  const update = [
    ...(forms.skills === undefined ? [] : [nameOfForm(forms.skills)]),
    ...(forms.commands ? [availableCommandsUpdate] : []),
  ];
  const value = { version, tools, update };
  const key = protocol === 2 ? "capabilities" : "agentCapabilities";
  const capabilities = result[key];
  if (capabilities === undefined || capabilities === null)
    return [{ path: ["result", key], value: { _meta: { [metaKey]: value } } }];
  if (!isRecord(capabilities)) return [];
  const path = ["result", key, "_meta"];
  return isRecord(capabilities["_meta"])
    ? [{ path: [...path, metaKey], value }]
    : [{ path, value: { [metaKey]: value } }];
}

/** The name of a form, as it is advertised and recorded. */
export function nameOfForm({ method, kind }: SkillsForm): string {
  return method === sessionUpdate ? kind : method;
}
