import { type App, openApp } from "../../app.ts";
import { openToldOnce, type ToldOnce } from "../../base/log.ts";
import type { Settings } from "../../options.ts";
import { logIdleGrants } from "../../runs/authorize/idle-grants.ts";
import { createProblemLog } from "../../skills/rules/log-problems.ts";
import type { Skill, Snapshot } from "../../skills/skill.ts";
import type { SessionSkills, Skillset } from "../../skills/skillset.ts";
import { openShownSkills } from "../announce/command-list.ts";
import type { Notification } from "../announce/emission.ts";
import { encodeMessage } from "../bytes/encode-message.ts";
import { reportFault } from "../fault.ts";
import type { Instructions } from "../prompt/invocation.ts";
import { readInstructions } from "../prompt/read-instructions.ts";
import type { Session } from "../session/session.ts";
import { type AgentTools, openAgentTools } from "../tools/agent-tools.ts";
import { openEditorCalls, type Response } from "../tools/editor-calls.ts";
import { ServedSession, type ServedSessionContext } from "./served-session.ts";
import type { Directories, ServiceConnection, ServiceOutlet, SessionKey, SkillService } from "./skill-service.ts";

interface LocalServiceOptions {
  readonly skillset?: Skillset;
  /** Undefined if no tools are served. */
  readonly tools?: AgentTools | undefined;
  readonly readInstructions?: (skill: Skill) => Promise<Instructions>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The service on this thread: in the worker, or if no worker can be started. */
export function openLocalService(settings: Settings, options: LocalServiceOptions = {}): SkillService {
  const app = openApp(settings, options.skillset && { skillset: options.skillset });
  const tools =
    "tools" in options
      ? options.tools
      : settings.tools === "none"
        ? undefined
        : openAgentTools(app, { isTaught: settings.teach });
  const readSkill = options.readInstructions ?? readInstructions;
  const now = options.now ?? Date.now;
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    await tools?.close();
    await app.close();
  }

  return {
    connect(outlet) {
      const { tellOnce } = openToldOnce(outlet.log);
      return openServiceConnection({
        openSkills(directories) {
          const skills = openSkills(app, directories);
          logIdleGrants(settings.grants, skills.catalog, tellOnce);
          return skills;
        },
        tools,
        readInstructions: readSkill,
        onInvoked({ name: skill, version }, sessionId) {
          const session = sessionId === undefined ? {} : { sessionId };
          app.ledger.record({
            at: now(),
            tool: "prompt",
            skill,
            version,
            outcome: "completed",
            ...session,
            door: "acp",
          });
        },
        startedAt: now(),
        settings,
        outlet,
        tellOnce,
      });
    },
    close: () => (closing ??= close()),
  };
}

function openSkills(app: Pick<App, "openSession">, directories: Directories): SessionSkills {
  try {
    return app.openSession(directories);
  } catch (error) {
    return noSkills(`Skills cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const nothing: Snapshot = Object.freeze({ skills: [], problems: [] });

/** Used if skills cannot be opened: the session continues without them. */
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

export interface ServiceConnectionOptions {
  readonly openSkills: (directories: Directories) => SessionSkills;
  /** Undefined if no tools are served. */
  readonly tools: AgentTools | undefined;
  readonly readInstructions: (skill: Skill) => Promise<Instructions>;
  /** Called when the user invoked a skill by `/name`. */
  readonly onInvoked: (skill: Skill, sessionId: string | undefined) => void;
  /** When the connection began, in milliseconds since 1970: an agent may show skills as they were then. */
  readonly startedAt: number;
  readonly settings: Pick<Settings, "clock" | "home" | "teach">;
  readonly outlet: ServiceOutlet;
  readonly tellOnce: ToldOnce["tellOnce"];
}

/** Serves the skills and tools of one ACP connection. */
function openServiceConnection(options: ServiceConnectionOptions): ServiceConnection {
  const { openSkills, tools, outlet, tellOnce } = options;
  const sessions = new Map<SessionKey, ServedSession>();
  const bySessionId = new Map<string, Session>();
  let isOpen = true;

  function send(message: Notification | Response, written: () => void): void {
    if (isOpen) outlet.send(encodeMessage(message), written);
    else written();
  }

  const context: ServedSessionContext = {
    ...options,
    send,
    logProblems: createProblemLog(outlet.log),
    shown: openShownSkills(),
    failed: (error) => {
      reportFault({ tellOnce }, error);
    },
  };
  const calls =
    tools &&
    openEditorCalls({
      tools,
      log: outlet.log,
      send,
      answered: outlet.answered,
      sessions: bySessionId,
      openSkills: () => openSkills({ cwd: undefined, additionalDirectories: [] }),
    });

  function release(key: SessionKey): void {
    const served = sessions.get(key);
    sessions.delete(key);
    served?.close();
    for (const [id, session] of bySessionId) if (session === served?.session) bySessionId.delete(id);
  }

  return {
    prepare() {
      tools?.prepare();
    },
    open(key, directories) {
      if (isOpen) sessions.set(key, new ServedSession(key, directories, context));
    },
    equip: (key, request) => sessions.get(key)?.equip(request),
    begin(key, request) {
      const served = sessions.get(key);
      served?.begin(request);
      if (served?.session !== undefined) bySessionId.set(request.sessionId, served.session);
    },
    heard(key, isPrompt) {
      sessions.get(key)?.session?.heard(isPrompt);
    },
    agentListed(key, commands) {
      try {
        return sessions.get(key)?.agentListed(commands);
      } catch (error) {
        context.failed(error);
        return undefined;
      }
    },
    listPassed(key) {
      sessions.get(key)?.session?.listPassed();
    },
    invoke: (key, name, sigil) => sessions.get(key)?.invoke(name, sigil),
    callTold(key, call) {
      sessions.get(key)?.calls.told(call);
    },
    taught(key, ticket) {
      sessions.get(key)?.taught(ticket);
    },
    ask(request) {
      calls?.ask(request);
    },
    giveUp(id) {
      calls?.cancel(id);
    },
    cancelTurn(key) {
      sessions.get(key)?.cancelTurn();
    },
    release,
    close() {
      isOpen = false;
      calls?.close();
      for (const key of sessions.keys()) release(key);
      return Promise.resolve();
    },
  };
}
