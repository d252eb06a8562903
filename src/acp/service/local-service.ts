import type { MessagePort } from "node:worker_threads";
import { serveSkills } from "./serve-skills.ts";
import { type App, openApp } from "../../runtime/app.ts";
import { type OnceLog, createOnceLog } from "../../base/log.ts";
import { type Settings, logIdleGrants } from "../../runtime/options.ts";
import { SkillEnvironments, hostMachine } from "../../skills/environment.ts";
import type { Skill, Snapshot } from "../../skills/skill.ts";
import { type SessionSkills, type Skillset, createProblemLog } from "../../skills/skillset.ts";
import { NativelyListedSkills } from "./announce/native-skills.ts";
import { type Notification, encodeMessage } from "../emission.ts";
import { reportFault } from "../messages/amend.ts";
import { readInstructions } from "./prompt/read-instructions.ts";
import { EditorQuestions } from "./ask/editor-questions.ts";
import { type AgentTools, type OpenServers, openAgentTools } from "./tools/agent-tools.ts";
import { EditorCalls, type Response } from "./tools/editor-calls.ts";
import { ServedSession, type ServiceContext } from "./served-session.ts";
import type { Directories, Instructions, ServiceConnection, SessionKey, SkillService } from "../skill-service.ts";
import type { GivenPorts } from "../../runtime/ports.ts";
import type { Trust } from "../../runtime/trust.ts";

/** The delay between equipping a session and loading the tools, unless one is called before: the skills of the first prompt come first. */
const toolsMs = 1_000;

interface LocalServiceOptions {
  readonly skillset?: Skillset;
  readonly ports?: GivenPorts;
  /** The tools. Default: those of `settings`; undefined if no tools are served. */
  readonly tools?: AgentTools | undefined;
  /** Opens the MCP servers of the default tools. */
  readonly openServers?: OpenServers;
  readonly readInstructions?: (skill: Skill) => Promise<Instructions>;
  readonly environments?: SkillEnvironments;
  /** The current time, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Opens the service on this thread: in the worker, or where no worker can be started. */
export function openLocalService(settings: Settings, options: LocalServiceOptions = {}): SkillService {
  const app = openApp(settings, { ...options.ports, ...(options.skillset && { skillset: options.skillset }) });
  const { now = Date.now, readInstructions: read = readInstructions } = options;
  const ownTools =
    settings.tools === "none"
      ? undefined
      : openAgentTools(app, { isTaught: settings.instructModel, openServers: options.openServers });
  const tools = "tools" in options ? options.tools : ownTools;
  const trust = createTrustSignals(app);
  const { clock, log } = settings;
  const findSandbox = settings.tools === "none" ? undefined : () => app.findSandbox();
  const { environments = new SkillEnvironments({ clock, log, openMachine: hostMachine, findSandbox }) } = options;
  let closing: Promise<void> | undefined;

  const ports = new Set<MessagePort>();

  async function close(): Promise<void> {
    environments.close();
    await tools?.close();
    await app.close();
    for (const port of ports) port.close();
  }

  /** Opens a session's skills. If they cannot be opened, the session continues without skills. */
  function openSkills(directories: Directories, logOnce: OnceLog["logOnce"]): SessionSkills {
    try {
      const skills = app.openSession(directories);
      logIdleGrants(settings.grants, skills.catalog, logOnce);
      return skills;
    } catch (error) {
      return noSkills(`Skills cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  return {
    connect(outlet) {
      const { logOnce } = createOnceLog(outlet.log);
      const more = { readInstructions: read, now, startedAt: now(), settings, outlet, logOnce };
      return openConnection({ app, environments, tools, trust, ...more }, (directories) =>
        openSkills(directories, logOnce),
      );
    },
    serveSkills(port, opening) {
      ports.add(port);
      port.on("close", () => ports.delete(port));
      serveSkills(port, opening, { app, settings });
    },
    close: () => (closing ??= close()),
  };
}

const nothing: Snapshot = Object.freeze({ skills: [], problems: [] });

function noSkills(problem: string): SessionSkills {
  return {
    directory: undefined,
    catalog: {
      snapshot: nothing,
      ready: Promise.resolve(nothing),
      onChange: () => () => undefined,
      find: () => undefined,
    },
    problems: [problem],
    close: () => undefined,
  };
}

/** Serves the skills and tools of one ACP connection. */
function openConnection(
  options: Omit<ServiceContext, "send" | "logProblems" | "shown" | "questions">,
  openSkills: (directories: Directories) => SessionSkills,
): ServiceConnection {
  const { tools, outlet, settings } = options;
  const { clock } = settings;
  const { log } = outlet;
  const sessions = new Map<SessionKey, ServedSession>();
  let isOpen = true;

  function send(message: Notification | Response, written: () => void): number {
    const bytes = encodeMessage(message);
    if (isOpen) outlet.send(bytes, written);
    else written();
    return bytes.length;
  }
  const questions = new EditorQuestions(outlet, clock);
  const context: ServiceContext = {
    ...options,
    send,
    questions,
    logProblems: createProblemLog(log),
    shown: new NativelyListedSkills(),
  };
  const calls =
    tools &&
    new EditorCalls({
      tools,
      log,
      send,
      answered: outlet.answered,
      sessions: () => [...sessions.values()].flatMap(({ session }) => session ?? []),
      askIn: (session) => questions.askIn(session),
      openSkills: () => openSkills({ cwd: undefined, additionalDirectories: [] }),
    });

  function release(key: SessionKey): void {
    const session = sessions.get(key);
    sessions.delete(key);
    session?.close();
  }

  return {
    open(key, directories) {
      if (isOpen) sessions.set(key, new ServedSession(key, openSkills(directories), context));
    },
    prepare: () => tools?.prepare(),
    async equip(key, request) {
      const entry = await sessions.get(key)?.equip(request);
      clock.after(toolsMs, () => {
        if (isOpen) tools?.prepare();
      });
      return entry;
    },
    begin: (key, request) => sessions.get(key)?.begin(request),
    named: (key, isPrompt) => sessions.get(key)?.session?.named(isPrompt),
    agentListed(key, commands) {
      try {
        return sessions.get(key)?.agentListed(commands);
      } catch (error) {
        reportFault(options, error);
        return undefined;
      }
    },
    listPassed: (key) => sessions.get(key)?.session?.listPassed(),
    invoke: (key, name, form) => sessions.get(key)?.invoke(name, form),
    turnBegan: (key) => sessions.get(key)?.turnBegan(),
    answersRun: (key, tool, input) => sessions.get(key)?.answersRun(tool, input),
    callReported: (key, call) => sessions.get(key)?.calls.reported(call),
    indexSent: (key, ticket) => sessions.get(key)?.indexSent(ticket),
    callTool: (request) => calls?.call(request),
    questionShown: (id) => questions.shown(id),
    editorReplied: (id, reply, elapsedMs) => questions.replied(id, reply, elapsedMs),
    cancelCall: (id) => calls?.cancel(id),
    cancelTurn: (key, subagents) => sessions.get(key)?.cancelTurn(subagents),
    cancelToolCall: (key, toolCallId) => sessions.get(key)?.cancelToolCall(toolCallId),
    release,
    close() {
      isOpen = false;
      questions.close();
      calls?.close();
      for (const key of sessions.keys()) release(key);
      return Promise.resolve();
    },
  };
}

type Signals = Pick<Trust, "consent" | "newTurn" | "endSession">;

/** Passes the user's actions in sessions on to trust, without loading it. Until trust is loaded, consents are held back. */
export function createTrustSignals({ onTrust }: Pick<App, "onTrust">): Signals {
  let trust: Trust | undefined;
  const consents = new Map<string, Set<string>>();
  onTrust((loaded) => {
    trust = loaded;
    for (const [owner, directories] of consents) for (const directory of directories) loaded.consent(owner, directory);
    consents.clear();
  });
  return {
    consent(owner, directory) {
      if (trust === undefined) consents.set(owner, (consents.get(owner) ?? new Set()).add(directory));
      else trust.consent(owner, directory);
    },
    newTurn: (owner) => trust?.newTurn(owner),
    endSession(owner) {
      consents.delete(owner);
      trust?.endSession(owner);
    },
  };
}
