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
import type { Transport } from "./messages/server-entry.ts";

export { knownAgents } from "./negotiation/agents.ts";

/** What the client and the agent declared in `initialize`, as far as skills are concerned. */
export interface Negotiation {
  readonly protocol: 1 | 2;
  /** How the client asked for skills; undefined if it did not. */
  readonly optIn: OptIn | undefined;
  readonly jetbrains: boolean;
  /** The client takes skills as `skill` entries of the list of commands (ACP v2, RFD "Agent Skills"). */
  readonly takesSkillEntries: boolean;
  /** Where in a prompt the agent itself takes `skill` blocks. */
  readonly ownBlocks: "nowhere" | "first" | "anywhere";
  /** The client shows forms (`elicitation/create`). */
  readonly showsForms: boolean;
  /** What the client declared wrongly, in sentences. */
  readonly faults: readonly string[];
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
  /** As commands, too. */
  readonly commands: boolean;
}

/** How the list of skills itself is sent. */
export interface SkillsForm {
  readonly method: typeof sessionUpdate | typeof skillsNotification;
  /** The kind of the update. */
  readonly kind: typeof availableSkillsUpdate;
  readonly deltas: boolean;
}

/** The forms in which a connection gets its skills. */
export interface Forms {
  /** Undefined if the list itself is not sent. */
  readonly skills: SkillsForm | undefined;
  /** As what skills stand in the list of commands: v2's `skill` entries, or commands; undefined if they do not. */
  readonly commands: "skill" | "command" | undefined;
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

/** What the client declares of `skill` entries, whatever it is. */
function skillEntries(protocol: 1 | 2, ofClient: readonly (JsonRecord | undefined)[]): unknown {
  if (protocol === 1) return undefined;
  return ofClient.map((capabilities) => recordAt(capabilities, "session", "commands")?.["skill"]).find(isGiven);
}

/** Capabilities are objects; anything else does not count as declared. */
function faultOf(capability: string, value: unknown, result: string): readonly string[] {
  if (!isGiven(value) || isRecord(value)) return [];
  return [`The editor declares ${capability} as ${quoted(JSON.stringify(value))}, not as an object: ${result}.`];
}

function ownBlocksOf(skill: JsonRecord | undefined): Negotiation["ownBlocks"] {
  if (skill === undefined) return "nowhere";
  return isRecord(skill["inline"]) ? "anywhere" : "first";
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
  return { notification: notification === true, deltas: deltas === true, commands: commands === true };
}

/**
 * Chooses the forms, so that no client gets a skill twice unless it asks for that: the list if it opted in, else entries of the list of
 * commands. `announce: "rfd"` sends the list without opt-in.
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

/** Adds to an initialize response what will be sent, and where in prompts `skill` blocks are taken. */
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
  // An agent that takes blocks itself decides where.
  const takesBlocks = protocol === 2 && ownBlocks === "nowhere" && update.length > 0;
  const key = protocol === 2 ? "capabilities" : "agentCapabilities";
  return setFields(result, ["result"], {
    [key]: {
      ...(takesBlocks && { session: { prompt: { skill: { inline: {} } } } }),
      _meta: { [metaKey]: { version, tools, update } },
    },
  });
}

/** Sets fields below `path`, where what is there is an object or nothing. Only objects at the ends of `fields` replace others. */
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

/** The name of a form, as it is advertised and recorded. */
export function nameOfForm({ method, kind }: SkillsForm): string {
  return method === sessionUpdate ? kind : method;
}
