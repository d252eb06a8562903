import { isInvocable, type ShownSkills } from "../announce/command-list.ts";
import type { JsonRecord } from "../bytes/raw-message.ts";
import { type Lessons, openLessons, toTaught } from "../prompt/teaching.ts";
import { type AgentFacts, readsItself } from "../session/agents.ts";
import { Session, type SessionContext } from "../session/session.ts";
import { withinTime } from "../../base/clock.ts";
import { equipSession, openClaimedCalls, type SessionTools } from "../tools/session-tools.ts";
import type { ServiceConnectionOptions } from "./local-service.ts";
import type {
  BeginRequest,
  Directories,
  EquipRequest,
  InvokedSkill,
  Lesson,
  NativeSkill,
  SessionKey,
} from "./skill-service.ts";

/** How long an invocation waits until the skills were read. */
const readingTime = 2_000;

/** What the sessions of one connection share. */
export interface ServedSessionContext extends ServiceConnectionOptions, Pick<SessionContext, "send" | "logProblems"> {
  readonly shown: ShownSkills;
  readonly failed: (error: unknown) => void;
}

/** The skills and tools of one session, from the request that opens it. */
export class ServedSession {
  readonly #key: SessionKey;
  readonly #context: ServedSessionContext;
  readonly #skills;
  /** The calls that the editor knows. */
  readonly calls = openClaimedCalls();
  #tools: SessionTools | undefined;
  #session: Session | undefined;
  #lessons: Lessons | undefined;
  /** The lesson that is ready. */
  #lesson: (Lesson & { readonly told: () => void }) | undefined;
  #lastTicket = 0;
  #facts: AgentFacts | undefined;
  /** As far as is known, the model has our tools. */
  #hasTools = false;
  /** The skills were read. */
  #isRead = false;
  #isOpen = true;
  #stopLessons = (): void => undefined;

  constructor(key: SessionKey, directories: Directories, context: ServedSessionContext) {
    this.#key = key;
    this.#context = context;
    this.#skills = context.openSkills(directories);
  }

  /** Undefined until the agent has opened it. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** Opens our MCP server; its entry for `mcpServers`. */
  async equip(request: EquipRequest): Promise<JsonRecord | undefined> {
    const { tools, tellOnce } = this.#context;
    const { transport } = request;
    if (tools === undefined) return undefined;
    if (transport === undefined) {
      this.#teach(request);
      return undefined;
    }
    try {
      const onReached = (): void => {
        if (this.#hasTools) return;
        this.#hasTools = true;
        this.#prepareLesson();
      };
      const { settings, send } = this.#context;
      const [skills, calls, clock] = [this.#skills, this.calls, settings.clock];
      const opened = await equipSession({ ...request, transport }, { tools, skills, calls, onReached, clock, send });
      if (!this.#isOpen) {
        opened.close();
        return undefined;
      }
      this.#tools = opened;
      this.#teach(request);
      return opened.entry;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (this.#isOpen) tellOnce("warning", `The model does not get the skill tools: ${why}`);
      return undefined;
    }
  }

  /** The agent has opened it. */
  begin(request: BeginRequest): void {
    const { settings, shown, send, tellOnce, logProblems, failed } = this.#context;
    this.#tools?.begin(request.sessionId);
    this.#session = new Session({
      ...request,
      skills: this.#skills,
      home: settings.home,
      shown,
      clock: settings.clock,
      send,
      tellOnce,
      logProblems,
      fault: failed,
    });
    this.#prepareLesson();
  }

  agentListed(commands: readonly unknown[]): ReturnType<Session["agentListed"]> {
    const amendments = this.#session?.agentListed(commands);
    this.#prepareLesson();
    return amendments;
  }

  /** Reads the skill that the user invoked by name, unless the agent runs it itself. */
  async invoke(name: string, sigil: "/" | "$"): Promise<InvokedSkill | NativeSkill | undefined> {
    const { readInstructions, onInvoked, startedAt, settings, outlet } = this.#context;
    const session = this.#session;
    const { catalog } = this.#skills;
    await withinTime(catalog.ready, settings.clock, readingTime);
    const offered = catalog.find(name);
    if (offered === undefined || session === undefined || !isInvocable(offered)) return undefined;
    const how = session.how(offered);
    // The name is another command of the agent; the skill can still be invoked with a dollar sign.
    if (how === "as-other" && sigil === "/") return undefined;
    const { slug, directory, file } = offered.skill;
    try {
      const instructions = await readInstructions(offered.skill);
      onInvoked(offered.skill, session.id);
      // The agent runs a skill that it shows, unless it may have read it before an edit.
      const isCurrent = how === "as-skill" && instructions.changedAt <= startedAt;
      const command = isCurrent ? session.commandOf(offered) : undefined;
      return command === undefined ? { slug, directory, file, instructions } : { command };
    } catch (error) {
      outlet.log("warning", `Cannot read skill ${slug}: ${String(error)}. The prompt was forwarded unchanged.`);
      return undefined;
    }
  }

  /** The lesson with this ticket was sent to the model. */
  taught(ticket: number): void {
    if (this.#lesson?.ticket !== ticket) return;
    this.#lesson.told();
    this.#lesson = undefined;
    this.#prepareLesson();
  }

  /** Cancels the calls of our tools that the model has running. */
  cancelTurn(): void {
    this.#tools?.cancel();
  }

  close(): void {
    this.#isOpen = false;
    this.#stopLessons();
    this.#tools?.close();
    if (this.#session === undefined) this.#skills.close();
    else this.#session.close();
  }

  #teach({ negotiation, name, transport }: EquipRequest): void {
    const { facts } = negotiation;
    this.#facts = facts;
    // A system prompt is written before the agent can have connected to our server.
    this.#hasTools ||= transport !== undefined && negotiation.systemPrompt && facts.tools !== undefined;
    if (!this.#context.settings.teach) return;
    const { catalog } = this.#skills;
    this.#lessons = openLessons({ facts, server: name });
    this.#stopLessons = catalog.onChange(() => {
      this.#prepareLesson();
    });
    catalog.ready.then(() => {
      this.#isRead = true;
      this.#prepareLesson();
    }, this.#context.failed);
  }

  /** Sends the next lesson to the relay, if it has changed. */
  #prepareLesson(): void {
    if (!this.#isOpen || !this.#isRead) return;
    try {
      const next = this.#nextLesson();
      if (next !== undefined && next.text === this.#lesson?.text) return;
      this.#lesson = next && { ...next, ticket: ++this.#lastTicket };
      const lesson = this.#lesson && {
        ticket: this.#lesson.ticket,
        text: this.#lesson.text,
        label: this.#lesson.label,
      };
      this.#context.outlet.lesson(this.#key, lesson);
    } catch (error) {
      this.#context.failed(error);
    }
  }

  /** Skills that the agent itself lists for its model are omitted. */
  #nextLesson(): ReturnType<Lessons["next"]> {
    const facts = this.#facts;
    if (facts === undefined) return undefined;
    const { home } = this.#context.settings;
    const untaught = this.#skills.catalog.snapshot.skills.filter((offered) => {
      if (offered.skill.disableModelInvocation === true) return false;
      if (readsItself(facts, offered.sources, home) !== true) return true;
      return facts.listsSkills && this.#session !== undefined && this.#session.how(offered) !== "as-skill";
    });
    return this.#lessons?.next(toTaught(untaught, this.#skills.directory), this.#hasTools ? "tools" : "files");
  }
}
