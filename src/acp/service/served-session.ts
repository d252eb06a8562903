import { deniedSkills, ownerOf } from "../../runtime/caller.ts";
import { withinTime } from "../../base/clock.ts";
import { type SessionRecord, maxReportedNames } from "../../runtime/ledger.ts";
import { recordedDigest } from "../../skills/hash.ts";
import type { Skill } from "../../skills/skill.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import type { Ask } from "../../runtime/question.ts";
import type { Trust } from "../../runtime/trust.ts";
import type { EditorQuestions } from "./ask/editor-questions.ts";
import { isInvocable } from "./announce/command-list.ts";
import { readsItself } from "./announce/native-skills.ts";
import { availableCommandsUpdate } from "../../wire/methods.ts";
import { reportFault } from "../messages/amend.ts";
import type { BlobFacts } from "../messages/describe-call.ts";
import type { JsonRecord } from "../messages/raw-message.ts";
import { type NextIndex, openIndexHistory, toIndexed } from "./prompt/skill-index.ts";
import type { AgentFacts } from "../negotiation/agents.ts";
import { nameOfForm } from "../negotiation.ts";
import { Session, type SessionContext } from "./session/session.ts";
import type { AgentTools } from "./tools/agent-tools.ts";
import { ClaimedCalls, type SessionTools, equipSession } from "./tools/session-tools.ts";
import { answerRun } from "./answer-run.ts";
import type {
  BeginRequest,
  EquipRequest,
  Instructions,
  InvocationForm,
  Invoked,
  RunAnswer,
  ServiceOutlet,
  SessionKey,
  SkillIndex,
} from "../skill-service.ts";

/** The maximum time, in milliseconds, that an invocation waits until the skills have been read. */
const readingMs = 2_000;

/** The context that the sessions of one connection share. */
export interface ServiceContext extends SessionContext {
  /** The tools; undefined if none are served. */
  readonly tools: AgentTools | undefined;
  /** The receiver of the user's actions. */
  readonly trust: Pick<Trust, "consent" | "newTurn" | "endSession">;
  readonly questions: EditorQuestions;
  readonly readInstructions: (skill: Skill) => Promise<Instructions>;
  readonly outlet: ServiceOutlet;
  /** The start of the connection, in milliseconds since 1970. An agent may show skills as they were then. */
  readonly startedAt: number;
  /** The current time, in milliseconds since 1970. */
  readonly now: () => number;
}

/** The skills and tools of one session, from the request that opens it. */
export class ServedSession {
  readonly #key: SessionKey;
  readonly #context: ServiceContext;
  readonly #skills: SessionSkills;
  /** The calls that the editor knows. */
  readonly calls = new ClaimedCalls();
  #tools: SessionTools | undefined;
  /** The session as the editor sees it; undefined until the agent has opened it. */
  session: Session | undefined;
  #next: NextIndex | undefined;
  /** The next index, which was not sent yet. */
  #index: (SkillIndex & { readonly sent: () => void }) | undefined;
  #lastTicket = 0;
  #facts: AgentFacts | undefined;
  #known: SessionRecord | undefined;
  /** Whether the model has the tools, as far as is known. */
  #hasTools = false;
  /** Whether the skills were read. */
  #isRead = false;
  #isOpen = true;
  #stopListening = (): void => undefined;

  constructor(key: SessionKey, skills: SessionSkills, context: ServiceContext) {
    this.#key = key;
    this.#skills = skills;
    this.#context = context;
  }

  /** Opens the session's MCP server. Returns its entry for `mcpServers`, or undefined if there is no server; a failure is logged. */
  async equip(request: EquipRequest): Promise<JsonRecord | undefined> {
    const { tools, logOnce, settings, send, questions } = this.#context;
    const { transport } = request;
    if (tools === undefined) return undefined;
    if (transport === undefined) {
      this.#indexSkills(request);
      return undefined;
    }
    try {
      const toolsListed = (): void => {
        if (this.#hasTools) return;
        this.#hasTools = true;
        this.#prepareIndex();
      };
      const { protocol, showsForms } = request.negotiation;
      const askIn = (id: string): Ask => questions.askIn({ id, protocol, showsForms });
      const { clock } = settings;
      const onBlob = (id: string, facts: BlobFacts): void => this.#context.outlet.blob(this.#key, id, facts);
      const session = { tools, skills: this.#skills, calls: this.calls, toolsListed, askIn, onBlob, clock, send };
      const opened = await equipSession({ ...request, transport }, session);
      if (!this.#isOpen) {
        opened.close();
        return undefined;
      }
      this.#tools = opened;
      // The agent may have received the address, and opened the session, while the tools were loaded.
      if (this.session !== undefined) opened.begin(this.session.id);
      this.#indexSkills(request);
      return opened.entry;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (this.#isOpen) logOnce("warning", `The model does not get the skill tools: ${why}`);
      return undefined;
    }
  }

  /** Called when the agent has opened the session. */
  begin(request: BeginRequest): void {
    const { sessionId, negotiation, forms } = request;
    const { skills: list } = forms;
    const { now } = this.#context;
    this.#tools?.begin(sessionId);
    this.#known = {
      sessionId,
      agent: negotiation.agent,
      editor: negotiation.editor,
      directory: this.#skills.directory,
      openedAt: now(),
      forms: [
        ...(list === undefined ? [] : [nameOfForm(list)]),
        ...(forms.commands === undefined ? [] : [availableCommandsUpdate]),
      ],
      tools: false,
    };
    this.#record({});
    this.session = new Session(request, this.#skills, this.#context, (skills) => {
      const names = skills.slice(0, maxReportedNames).map(({ skill }) => skill.slug);
      this.#record({ announced: { at: now(), skills: skills.length, names }, tools: this.#hasTools });
    });
    this.#prepareIndex();
  }

  agentListed(commands: readonly unknown[]): ReturnType<Session["agentListed"]> {
    const amendments = this.session?.agentListed(commands);
    this.#prepareIndex();
    return amendments;
  }

  /** Reads the skill that the user invoked by name, unless the agent runs the skill itself. */
  async invoke(name: string, form: InvocationForm): Promise<Invoked | undefined> {
    const { readInstructions, startedAt, settings, outlet, trust } = this.#context;
    const session = this.session;
    const { catalog } = this.#skills;
    await withinTime(catalog.ready, settings.clock, readingMs);
    const isBlock = form === "block" || form === "text";
    const offered = isBlock ? session?.listed(name) : catalog.find(name);
    const gone = offered === undefined && !isBlock ? session?.goneSlug(name) : undefined;
    if (gone !== undefined) return { gone };
    if (offered === undefined || session === undefined || !isInvocable(offered)) return undefined;
    const shown = session.shown(offered);
    // The name belongs to another command of the agent, but the skill can still be invoked with a dollar sign.
    if (shown?.kind === "as-other" && form !== "$")
      return isBlock ? { refused: "the agent has a command of its own with this name" } : undefined;
    const { slug, directory, file } = offered.skill;
    const refused = (why: string): { readonly refused: string } | undefined => {
      if (!isBlock) outlet.log("warning", `${why} The prompt was forwarded unchanged.`);
      return isBlock ? { refused: why } : undefined;
    };
    const denial = session.denied.get(offered.skill);
    if (denial !== undefined) return refused(denial.why);
    try {
      const instructions = await readInstructions(offered.skill);
      await this.#recordInvocation(offered.skill, session.id);
      trust.consent(ownerOf(session.id, session), directory);
      // The agent runs a skill that it shows, unless the skill may have been edited since the agent read it.
      const isCurrent = form !== "text" && shown?.kind === "as-skill" && instructions.changedAt <= startedAt;
      return isCurrent ? { command: String(shown.command["name"]) } : { slug, directory, file, instructions };
    } catch (error) {
      return refused(`Cannot read skill ${slug}: ${String(error)}.`);
    }
  }

  /** Why the agent need not ask about a call that runs code; undefined if the agent should ask. The user is not asked here. */
  async answersRun(tool: string, input: JsonRecord): Promise<RunAnswer | undefined> {
    if (this.session === undefined) return undefined;
    const { app } = this.#context;
    return await answerRun(tool, input, { app, skills: this.#skills, owner: ownerOf(this.session.id, this.session) });
  }

  /** Called when the index with this ticket was sent to the model. */
  indexSent(ticket: number): void {
    if (this.#index?.ticket !== ticket) return;
    this.#index.sent();
    this.#index = undefined;
    this.#prepareIndex();
  }

  /** Called when the user sent a prompt. */
  turnBegan(): void {
    if (this.session !== undefined) this.#context.trust.newTurn(ownerOf(this.session.id, this.session));
  }

  /** Cancels the model's running calls of tools, or only those of some subagents. */
  cancelTurn(subagents?: readonly string[]): void {
    this.#tools?.cancel(subagents);
  }

  /** Cancels one running call, by its id in the editor. */
  cancelToolCall(toolCallId: string): void {
    this.#tools?.cancelCall(toolCallId);
  }

  close(): void {
    this.#isOpen = false;
    this.#record({ closedAt: this.#context.now(), tools: this.#hasTools });
    this.#stopListening();
    this.#tools?.close();
    if (this.session === undefined) {
      this.#skills.close();
      return;
    }
    this.#context.questions.endSession(this.session.id);
    this.#context.trust.endSession(ownerOf(this.session.id, this.session));
    this.session.close();
  }

  async #recordInvocation({ name: skill, version, directory }: Skill, sessionId: string): Promise<void> {
    const { app, now } = this.#context;
    const project = this.#skills.directory;
    const digest = await recordedDigest(app.hasher, app.source, { directory }, new AbortController().signal);
    app.ledger.record({
      at: now(),
      tool: "prompt",
      ...(project !== undefined && { project }),
      skill,
      version,
      ...(digest !== undefined && { digest }),
      outcome: "completed",
      sessionId,
      door: "acp",
    });
  }

  /** Updates the record of the session, which the user can read later. A session that the agent never opened has no record. */
  #record(news: Partial<SessionRecord>): void {
    if (this.#known === undefined) return;
    this.#known = { ...this.#known, ...news };
    this.#context.app.sessionRecords.keep(this, this.#known);
  }

  #indexSkills({ negotiation, name, transport }: EquipRequest): void {
    const { facts } = negotiation;
    this.#facts = facts;
    // A system prompt is written before the agent can connect to the server, so tools are assumed.
    this.#hasTools ||= transport !== undefined && negotiation.systemPrompt && facts.tools !== undefined;
    if (!this.#context.settings.instructModel) return;
    const { catalog } = this.#skills;
    this.#next = openIndexHistory({ facts, server: name });
    this.#stopListening = catalog.onChange(() => this.#prepareIndex());
    catalog.ready.then(
      () => {
        this.#isRead = true;
        this.#prepareIndex();
      },
      (error: unknown) => reportFault(this.#context, error),
    );
  }

  /** Sends the next index to the relay, if it has changed. */
  #prepareIndex(): void {
    if (!this.#isOpen || !this.#isRead) return;
    try {
      const next = this.#nextIndex();
      if (next !== undefined && next.text === this.#index?.text) return;
      const ticket = ++this.#lastTicket;
      this.#index = next && { ...next, ticket };
      this.#context.outlet.index(this.#key, next && { ticket, text: next.text, label: next.label });
    } catch (error) {
      reportFault(this.#context, error);
    }
  }

  /** Makes the next index, without the skills that the agent itself lists for its model. */
  #nextIndex(): ReturnType<NextIndex> {
    const facts = this.#facts;
    if (facts === undefined) return undefined;
    const { home } = this.#context.settings;
    const { catalog, directory } = this.#skills;
    const denied = deniedSkills(this.#context.app.policyFor(directory), catalog.snapshot);
    const unknown = catalog.snapshot.skills.filter((offered) => {
      if (offered.skill.disableModelInvocation === true || denied.has(offered.skill)) return false;
      if (readsItself(facts, offered.sources, home) !== true) return true;
      return facts.listsSkills && this.session !== undefined && this.session.shown(offered)?.kind !== "as-skill";
    });
    return this.#next?.(toIndexed(unknown, directory), this.#hasTools ? "tools" : "files");
  }
}
