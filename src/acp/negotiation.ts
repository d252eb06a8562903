import type { AnnouncedForm, ToolForm } from "../runtime/options.ts";
import {
  availableCommandsUpdate,
  availableSkillsUpdate,
  metaKey,
  sessionUpdate,
  skillsNotification,
} from "../wire/methods.ts";
import { type AgentFacts, factsOf } from "./negotiation/agents.ts";
import type { Amendment, Path } from "./messages/amend.ts";
import { canIdentifyPeerUsers } from "../base/network/peer-users.ts";
import { quoted } from "../base/text/quoted.ts";
import { isGiven, isRecord, type JsonRecord, recordAt } from "./messages/raw-message.ts";
import type { McpTransport } from "./messages/server-entry.ts";

export { knownAgents } from "./negotiation/agents.ts";

/** The declarations of the client and the agent in `initialize` that concern skills. */
export interface Negotiation {
  readonly protocol: 1 | 2;
  /** The client's opt-in to skills; undefined if it did not opt in. */
  readonly optIn: OptIn | undefined;
  readonly jetbrains: boolean;
  /** Whether the client takes skills as `skill` entries of the list of commands (ACP v2, RFD "Agent Skills"). */
  readonly takesSkillEntries: boolean;
  /** The positions in a prompt at which the agent itself takes `skill` blocks. */
  readonly ownBlocks: "nowhere" | "first" | "anywhere";
  /** Whether the client shows forms (`elicitation/create`). */
  readonly showsForms: boolean;
  /** The client's invalid declarations, as sentences. */
  readonly faults: readonly string[];
  /** Whether the client declared anything about skills. Other clients get commands as agents send them, without `_meta` of acp-skills. */
  readonly declaresSkills: boolean;
  /** Whether the client shows `notice` updates. */
  readonly notices: boolean;
  /** The transports over which the agent connects to MCP servers. In v1 every agent supports stdio. */
  readonly transports: readonly McpTransport[];
  /** Whether the agent supports additions to its system prompt. */
  readonly systemPrompt: boolean;
  /** The agent's name, as it declares it; empty if it declares none. */
  readonly agent: string;
  /** The editor's name, as it declares it; empty if it declares none. */
  readonly editor: string;
  readonly facts: AgentFacts;
  /** Whether the text of embedded resources reaches the agent's model. */
  readonly takesResources: boolean;
  /** Whether the agent uses this package itself. */
  readonly alreadyServed: boolean;
}

/** The form in which a client that opted in wants to get skills. */
interface OptIn {
  /** Whether the list is sent as the notification `_acp-skills/skills_update`, which typed v1 SDK clients deliver. */
  readonly notification: boolean;
  /** Whether only changes are sent after the first list. */
  readonly deltas: boolean;
  /** Whether skills are sent as commands, too. */
  readonly commands: boolean;
}

/** The form in which the list of skills is sent. */
export interface SkillsForm {
  readonly method: typeof sessionUpdate | typeof skillsNotification;
  /** The value of the update's `sessionUpdate`. */
  readonly kind: typeof availableSkillsUpdate;
  readonly deltas: boolean;
}

/** The forms in which a connection gets its skills. */
export interface Forms {
  /** The form of the list of skills; undefined if the list is not sent. */
  readonly skills: SkillsForm | undefined;
  /** The form of skills in the list of commands: v2's `skill` entries, or commands; undefined if the list has none. */
  readonly commands: "skill" | "command" | undefined;
  readonly problems: boolean;
}

/**
 * Reads the params of an initialize request and the result that answered it. The fields of v1 and v2 are read, because the request may be
 * of a newer protocol than the answer.
 */
export function negotiate(params: unknown, result: unknown): Negotiation {
  const protocol = isRecord(result) && Number(result["protocolVersion"]) >= 2 ? 2 : 1;
  const ofClient = [recordAt(params, "clientCapabilities"), recordAt(params, "capabilities")];
  const ofAgent = recordAt(result, "agentCapabilities") ?? recordAt(result, "capabilities");
  const name = nameIn(recordAt(result, "agentInfo") ?? recordAt(result, "info"));
  const facts = factsOf(name);
  const optIn = optInOf(ofClient);
  const jetbrains = ofClient.some((capabilities) => Boolean(recordAt(capabilities, "_meta", "jetbrains")?.["air"]));
  const declared = skillEntries(protocol, ofClient);
  const forms = ofClient.map((capabilities) => recordAt(capabilities, "elicitation")?.["form"]).find(isGiven);
  const ofPrompts = protocol === 2 ? recordAt(ofAgent, "session", "prompt") : recordAt(ofAgent, "promptCapabilities");
  return {
    protocol,
    optIn,
    jetbrains,
    takesSkillEntries: isRecord(declared),
    ownBlocks: protocol === 2 ? ownBlocksOf(recordAt(ofPrompts, "skill")) : "nowhere",
    showsForms: isRecord(forms),
    faults: [
      ...faultOf("session.commands.skill", declared, "it gets skills as plain commands"),
      ...faultOf("elicitation.form", forms, "it is asked by permission requests"),
    ],
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

/** Reads the client's declaration of `skill` entries, unchecked. */
function skillEntries(protocol: 1 | 2, ofClient: readonly (JsonRecord | undefined)[]): unknown {
  if (protocol === 1) return undefined;
  return ofClient.map((capabilities) => recordAt(capabilities, "session", "commands")?.["skill"]).find(isGiven);
}

/** Reports a capability whose value is not an object: such a value does not count as declared. */
function faultOf(capability: string, value: unknown, result: string): readonly string[] {
  if (!isGiven(value) || isRecord(value)) return [];
  return [`The editor declares ${capability} as ${quoted(JSON.stringify(value))}, not as an object: ${result}.`];
}

function ownBlocksOf(skill: JsonRecord | undefined): Negotiation["ownBlocks"] {
  if (skill === undefined) return "nowhere";
  return isRecord(skill["inline"]) ? "anywhere" : "first";
}

/** Reads the client's opt-in, by the key of acp-skills in `_meta` or by `session.skills`. */
function optInOf(ofClient: readonly (JsonRecord | undefined)[]): OptIn | undefined {
  const declarations = ofClient.flatMap((capabilities) => [
    recordAt(capabilities, "_meta")?.[metaKey],
    recordAt(capabilities, "session")?.["skills"],
  ]);
  const declared = declarations.find(Boolean);
  if (declared === undefined) return undefined;
  const { notification, deltas, commands } = isRecord(declared) ? declared : {};
  return { notification: notification === true, deltas: deltas === true, commands: commands === true };
}

/**
 * Chooses the forms, so that no client gets a skill twice unless it asks for that. A client that opted in gets the list of skills; others
 * get entries of the list of commands. `announce: "rfd"` sends the list without opt-in.
 */
export function chooseForms(
  { optIn, takesSkillEntries }: Pick<Negotiation, "optIn" | "takesSkillEntries">,
  announce: AnnouncedForm,
): Forms {
  const problems = optIn !== undefined && announce !== "none";
  const method = optIn?.notification === true ? skillsNotification : sessionUpdate;
  const list: SkillsForm = { method, kind: availableSkillsUpdate, deltas: optIn?.deltas ?? false };
  const entries = takesSkillEntries ? "skill" : "command";
  switch (announce) {
    case "none":
      return { skills: undefined, commands: undefined, problems };
    case "rfd":
      return { skills: list, commands: undefined, problems };
    case "commands":
      return { skills: undefined, commands: entries, problems };
    case "auto":
      if (optIn === undefined) return { skills: undefined, commands: entries, problems };
      return { skills: list, commands: optIn.commands ? entries : undefined, problems };
  }
}

/**
 * Chooses the transport between the agent and the MCP server; undefined if there is none. The HTTP configuration contains the access
 * token. Agents that leak it to other users get the stdio bridge, as do all agents if calling users cannot be identified.
 */
export function chooseTransport(
  { transports, facts }: Pick<Negotiation, "transports" | "facts">,
  tools: ToolForm,
  canIdentifyUsers: boolean = canIdentifyPeerUsers(),
): McpTransport | undefined {
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

function transportsOf(protocol: 1 | 2, ofAgent: unknown): readonly McpTransport[] {
  if (protocol === 1) return recordAt(ofAgent, "mcpCapabilities")?.["http"] === true ? ["http", "stdio"] : ["stdio"];
  const mcp = recordAt(ofAgent, "session", "mcp");
  return (["http", "stdio"] as const).filter((transport) => Boolean(mcp?.[transport]));
}

/** Adds to an initialize response the updates that will be sent, and whether prompts may contain `skill` blocks. */
export function advertise(
  response: unknown,
  { protocol, ownBlocks }: Pick<Negotiation, "protocol" | "ownBlocks">,
  forms: Forms,
  { version, tools }: { readonly version: string; readonly tools: readonly string[] },
): Amendment[] {
  const result = recordAt(response, "result");
  if (result === undefined) return [];
  const update = [
    ...(forms.skills === undefined ? [] : [nameOfForm(forms.skills)]),
    ...(forms.commands === undefined ? [] : [availableCommandsUpdate]),
  ];
  // An agent that takes blocks itself declares their positions.
  const takesBlocks = protocol === 2 && ownBlocks === "nowhere" && update.length > 0;
  const key = protocol === 2 ? "capabilities" : "agentCapabilities";
  return setFields(result, ["result"], {
    [key]: {
      ...(takesBlocks && { session: { prompt: { skill: { inline: {} } } } }),
      _meta: { [metaKey]: { version, tools, update } },
    },
  });
}

/** Sets fields below `path`. Objects are merged, but the one at `metaKey` is replaced. An existing value that is no object stays. */
function setFields(holder: JsonRecord, path: Path, fields: JsonRecord): Amendment[] {
  return Object.entries(fields).flatMap(([key, value]) => {
    const before = holder[key];
    if (!isGiven(before)) return [{ path: [...path, key], value }];
    if (!isRecord(before)) return [];
    return key === metaKey || !isRecord(value)
      ? [{ path: [...path, key], value }]
      : setFields(before, [...path, key], value);
  });
}

/** Returns the name of a form, for the advertisement and the record. */
export function nameOfForm({ method, kind }: SkillsForm): string {
  return method === sessionUpdate ? kind : method;
}
