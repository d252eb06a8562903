import type { Settings } from "../../options.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import { openProblemLog } from "../../skills/rules/log-problems.ts";
import type { Skill } from "../../skills/skill.ts";
import { isForModels } from "../../tools/view/visible-to.ts";
import type { ToldOnce } from "../../base/told-once.ts";
import type { AgentTools } from "../tools/agent-tools.ts";
import { type AgentFacts, readsItself } from "../session/agents.ts";
import { type ClaimedCalls, openClaimedCalls } from "../tools/claimed-calls.ts";
import { openEditorCalls, type Response } from "../tools/editor-calls.ts";
import type { Notification } from "../announce/emission.ts";
import { reportFault } from "../fault.ts";
import { encodeMessage } from "../bytes/encode-message.ts";
import { type Lessons, openLessons } from "../prompt/lessons.ts";
import type { Instructions } from "../prompt/prompt.ts";
import { openSession, type Session } from "../session/session.ts";
import { equipSession, type SessionTools } from "../tools/session-tools.ts";
import type { Transport } from "../tools/server-entry.ts";
import { isInvocable } from "../announce/command-list.ts";
import { openShownSkills } from "../announce/shown-skills.ts";
import { toTaught } from "../prompt/teaching.ts";
import { withinTime } from "../session/within-time.ts";
import type {
  Directories,
  EquipRequest,
  InvokedSkill,
  Lesson,
  NativeSkill,
  ServiceConnection,
  ServiceOutlet,
  SessionKey,
} from "./skill-service.ts";

export interface ServiceConnectionOptions {
  readonly openSkills: (directories: Directories) => SessionSkills;
  /** Undefined where no tools are served. */
  readonly tools: AgentTools | undefined;
  readonly readInstructions: (skill: Skill) => Promise<Instructions>;
  /** Called when a person used a skill by `/name`. */
  readonly onInvoked: (skill: Skill, sessionId: string | undefined) => void;
  /** When the connection began, in milliseconds since 1970: an agent may show skills as they were then. */
  readonly startedAt: number;
  readonly settings: Pick<Settings, "clock" | "home" | "teach">;
  readonly outlet: ServiceOutlet;
  readonly tellOnce: ToldOnce["tellOnce"];
}

/** How long the call of a skill waits for the first reading of the disk. */
const readingTime = 2_000;

/** What the service holds for one session, from the request that opens it on. */
interface Entry {
  readonly skills: SessionSkills;
  tools: SessionTools | undefined;
  lessons: Lessons | undefined;
  /** The number of the lesson that is ready, and how to note that the model was told it. */
  lesson: (Lesson & { readonly told: () => void }) | undefined;
  /** What is known of its agent. */
  facts: AgentFacts | undefined;
  /** Its model has our tools, as far as can be known. */
  hasTools: boolean;
  /** The disk was read, so that it is known whether there are skills. */
  isRead: boolean;
  session: Session | undefined;
  /** The calls that its editor was told of. */
  readonly calls: ClaimedCalls;
  stopLessons: () => void;
  isOpen: boolean;
}

/** The skills and tools of one ACP connection. */
export function openServiceConnection(options: ServiceConnectionOptions): ServiceConnection {
  const { openSkills, tools, readInstructions, onInvoked, startedAt, settings, outlet, tellOnce } = options;
  const { clock, home, teach } = settings;
  const { log } = outlet;
  const entries = new Map<SessionKey, Entry>();
  const bySessionId = new Map<string, Session>();
  const shown = openShownSkills();
  const logProblems = openProblemLog(log);
  let lastTicket = 0;
  let isOpen = true;

  const calls =
    tools &&
    openEditorCalls({
      tools,
      log,
      send,
      answered: outlet.answered,
      sessions: bySessionId,
      openSkills: () => openSkills({ cwd: undefined, additionalDirectories: [] }),
    });

  function send(message: Notification | Response, written: () => void): void {
    if (isOpen) outlet.send(encodeMessage(message), written);
    else written();
  }

  function failed(error: unknown): void {
    reportFault({ tellOnce }, error);
  }

  /** Tells the relay what the model is to be told next, whenever that changes. */
  function prepareLesson(key: SessionKey, entry: Entry): void {
    if (!entry.isOpen || !entry.isRead) return;
    try {
      const next = nextLesson(entry);
      if (next !== undefined && next.text === entry.lesson?.text) return;
      entry.lesson = next && { ...next, ticket: ++lastTicket };
      const { lesson } = entry;
      outlet.lesson(key, lesson && { ticket: lesson.ticket, text: lesson.text, label: lesson.label });
    } catch (error) {
      failed(error);
    }
  }

  /** What the agent tells its model itself is left out. */
  function nextLesson({ facts, hasTools, lessons, session, skills }: Entry): ReturnType<Lessons["next"]> {
    if (facts === undefined) return undefined;
    const untaught = skills.catalog.snapshot.skills.filter((offered) => {
      if (!isForModels(offered.skill)) return false;
      if (readsItself(facts, offered.sources, home) !== true) return true;
      return facts.listsSkills && session !== undefined && session.how(offered) !== "as-skill";
    });
    return lessons?.next(toTaught(untaught, skills.directory), hasTools ? "tools" : "files");
  }

  function teachSession(key: SessionKey, entry: Entry, { negotiation, name, transport }: EquipRequest): void {
    const { facts } = negotiation;
    entry.facts = facts;
    // What stands in a system prompt is told before an agent can have asked for the tools.
    entry.hasTools ||= transport !== undefined && negotiation.systemPrompt && facts.tools !== undefined;
    if (!teach) return;
    const prepare = (): void => {
      prepareLesson(key, entry);
    };
    const { catalog } = entry.skills;
    entry.lessons = openLessons({ facts, server: name });
    entry.stopLessons = catalog.onChange(prepare);
    catalog.ready.then(() => {
      entry.isRead = true;
      prepare();
    }, failed);
  }

  async function equip(
    key: SessionKey,
    entry: Entry,
    request: EquipRequest & { readonly transport: Transport },
    served: AgentTools,
  ): Promise<SessionTools> {
    const onReached = (): void => {
      if (entry.hasTools) return;
      entry.hasTools = true;
      prepareLesson(key, entry);
    };
    const { skills, calls } = entry;
    const equipped = await equipSession(request, { tools: served, skills, calls, onReached, clock, send });
    if (!entry.isOpen) {
      equipped.close();
      throw new Error("the session is closed");
    }
    entry.tools = equipped;
    teachSession(key, entry, request);
    return equipped;
  }

  async function invoke(
    { session, skills }: Entry,
    name: string,
    sigil: "/" | "$",
  ): Promise<InvokedSkill | NativeSkill | undefined> {
    const { catalog } = skills;
    await withinTime(catalog.ready, clock, readingTime);
    const offered = catalog.find(name);
    if (offered === undefined || session === undefined || !isInvocable(offered)) return undefined;
    const how = session.how(offered);
    // A name that the agent gave to something else is its own; the skill still has its dollar sign.
    if (how === "as-other" && sigil === "/") return undefined;
    const { slug, directory, file } = offered.skill;
    try {
      const instructions = await readInstructions(offered.skill);
      const [sessionId] = [...bySessionId].find(([, one]) => one === session) ?? [];
      onInvoked(offered.skill, sessionId);
      // What the agent shows is its own to run, unless it may have read it before an edit.
      const command =
        how === "as-skill" && instructions.changedAt <= startedAt ? session.commandOf(offered) : undefined;
      if (command !== undefined) return { command };
      return { slug, directory, file, instructions };
    } catch (error) {
      log("warning", `The skill ${slug} could not be read: ${String(error)}. The prompt is sent as it is.`);
      return undefined;
    }
  }

  function release(key: SessionKey, entry: Entry): void {
    entry.isOpen = false;
    entries.delete(key);
    entry.stopLessons();
    entry.tools?.close();
    if (entry.session === undefined) entry.skills.close();
    else {
      entry.session.close();
      for (const [id, session] of bySessionId) if (session === entry.session) bySessionId.delete(id);
    }
  }

  return {
    prepare() {
      tools?.prepare();
    },
    open(key, directories) {
      if (!isOpen) return;
      entries.set(key, {
        skills: openSkills(directories),
        tools: undefined,
        lessons: undefined,
        lesson: undefined,
        facts: undefined,
        hasTools: false,
        isRead: false,
        calls: openClaimedCalls(),
        session: undefined,
        stopLessons: () => undefined,
        isOpen: true,
      });
    },
    async equip(key, request) {
      const entry = entries.get(key);
      if (entry === undefined || tools === undefined) return undefined;
      const { transport } = request;
      if (transport === undefined) {
        teachSession(key, entry, request);
        return undefined;
      }
      try {
        const { entry: server } = await equip(key, entry, { ...request, transport }, tools);
        return server;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        if (entry.isOpen) tellOnce("warning", `The tools are not served to the model: ${why}`);
        return undefined;
      }
    },
    begin(key, request) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      entry.tools?.begin(request.sessionId);
      const { skills } = entry;
      const context = { ...request, skills, home, shown, clock, send, tellOnce, logProblems, fault: failed };
      entry.session = openSession(context);
      bySessionId.set(request.sessionId, entry.session);
      prepareLesson(key, entry);
    },
    heard(key, isPrompt) {
      entries.get(key)?.session?.heard(isPrompt);
    },
    agentListed(key, commands) {
      try {
        const entry = entries.get(key);
        const amendments = entry?.session?.agentListed(commands);
        if (entry !== undefined) prepareLesson(key, entry);
        return amendments;
      } catch (error) {
        failed(error);
        return undefined;
      }
    },
    listPassed(key) {
      entries.get(key)?.session?.listPassed();
    },
    invoke(key, name, sigil) {
      const entry = entries.get(key);
      return entry && invoke(entry, name, sigil);
    },
    callTold(key, call) {
      entries.get(key)?.calls.told(call);
    },
    taught(key, ticket) {
      const entry = entries.get(key);
      if (entry?.lesson?.ticket !== ticket) return;
      entry.lesson.told();
      entry.lesson = undefined;
      prepareLesson(key, entry);
    },
    ask(request) {
      calls?.ask(request);
    },
    giveUp(id) {
      calls?.cancel(id);
    },
    cancelTurn(key) {
      entries.get(key)?.tools?.cancel();
    },
    release(key) {
      const entry = entries.get(key);
      if (entry !== undefined) release(key, entry);
    },
    close() {
      isOpen = false;
      calls?.close();
      for (const [key, entry] of entries) release(key, entry);
      return Promise.resolve();
    },
  };
}
