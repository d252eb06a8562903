import type { Settings } from "../../options.ts";
import type { ToldOnce } from "../../base/told-once.ts";
import { openProblemLog } from "../../skills/rules/log-problems.ts";
import type { Skill } from "../../skills/skill.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import type { Notification } from "../announce/emission.ts";
import { openShownSkills } from "../announce/shown-skills.ts";
import { encodeMessage } from "../bytes/encode-message.ts";
import { reportFault } from "../fault.ts";
import type { Instructions } from "../prompt/prompt.ts";
import type { Session } from "../session/session.ts";
import type { AgentTools } from "../tools/agent-tools.ts";
import { openEditorCalls, type Response } from "../tools/editor-calls.ts";
import { ServedSession, type ServedSessionContext } from "./served-session.ts";
import type { Directories, ServiceConnection, ServiceOutlet, SessionKey } from "./skill-service.ts";

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
export function openServiceConnection(options: ServiceConnectionOptions): ServiceConnection {
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
    logProblems: openProblemLog(outlet.log),
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
