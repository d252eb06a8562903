import type { MessagePort } from "node:worker_threads";
import type { App } from "../../runtime/app.ts";
import type { ThreadReply } from "../../base/processes/threads.ts";
import { createCaller } from "../../runtime/caller.ts";
import { toPlainError } from "../../base/errors.ts";
import { type Settings, logIdleGrants } from "../../runtime/options.ts";
import { type SessionSkills, logProblemsOf } from "../../skills/skillset.ts";
import type { Ask, Reply } from "../../runtime/question.ts";
import type { Skill, Snapshot } from "../../skills/skill.ts";
import { projectSkill } from "../../wire/command-facts.ts";
import type { CallResult, FromSkills, Opening, SkillsChange, ToSkills } from "../skill-service.ts";

interface ServedSkillsOptions {
  readonly app: App;
  readonly settings: Settings;
}

/**
 * Serves the tools over one session's skills to the other end of a port, until one of both closes. What fails is logged and closes the
 * port: other sessions are on the same thread.
 */
export function serveSkills(port: MessagePort, opening: Opening, options: ServedSkillsOptions): void {
  const failed = (error: unknown): void => {
    options.settings.log("error", `Skills cannot be read: ${String(error)}`);
    port.close();
  };
  try {
    const served = new ServedSkills(port, opening, options);
    served.ready.catch(failed);
    port.on("message", (message: ToSkills) => served.receive(message));
    port.on("close", () => served.close());
  } catch (error) {
    failed(error);
  }
}

class ServedSkills {
  readonly #port: MessagePort;
  readonly #opening: Opening;
  readonly #app: App;
  readonly #session: SessionSkills;
  /** Resolves when the skills were read, and the tools loaded. */
  readonly ready: Promise<void>;
  readonly #stopListening: () => void;
  readonly #running = new Map<number, AbortController>();
  readonly #numbers = new WeakMap<Skill, number>();
  #lastNumber = 0;
  readonly #questions = new Map<number, (reply: Reply) => void>();
  #lastQuestion = 0;

  constructor(port: MessagePort, opening: Opening, { app, settings }: ServedSkillsOptions) {
    this.#port = port;
    this.#opening = opening;
    this.#app = app;
    this.#session = app.openSession(opening);
    const { catalog } = this.#session;
    logProblemsOf(this.#session, settings.log);
    logIdleGrants(settings.grants, catalog, settings.log);
    this.ready = Promise.all([catalog.ready, app.load()]).then(() => this.#postSkills(catalog.snapshot));
    this.#stopListening = catalog.onChange((snapshot, { added, changed, removed }) =>
      this.#postSkills(snapshot, {
        added: added.map(({ skill }) => skill.name),
        changed: changed.map(({ after }) => after.skill.name),
        removed: removed.map(({ skill }) => skill.name),
      }),
    );
  }

  receive(message: ToSkills): void {
    switch (message.kind) {
      case "open":
        this.ready.then(
          () => this.#answer(message.call),
          () => undefined,
        );
        break;
      case "call":
        void this.#call(message);
        break;
      case "abort":
        this.#running.get(message.call)?.abort();
        break;
      case "answered":
        this.#questions.get(message.question)?.(message.reply);
        break;
      case "list":
        this.#list(message);
        break;
      case "close":
        this.#port.close();
        break;
    }
  }

  close(): void {
    for (const controller of this.#running.values()) controller.abort();
    this.#stopListening();
    this.#session.close();
  }

  #post(message: FromSkills | ThreadReply): void {
    this.#port.postMessage(message);
  }

  #answer(call: number, value?: CallResult): void {
    this.#post({ kind: "answer", call, value });
  }

  #postSkills({ problems, skills }: Snapshot, change?: SkillsChange): void {
    const versions = this.#opening.asksVisible ? skills.flatMap((offered) => offered.versions) : [];
    const numbered = versions.map((skill) => [this.#numberOf(skill), skill] as const);
    this.#post({ kind: "skills", problems, numbered, ...(change && { change }) });
  }

  #numberOf(skill: Skill): number {
    const number = this.#numbers.get(skill) ?? ++this.#lastNumber;
    this.#numbers.set(skill, number);
    return number;
  }

  #seenBy(visible: readonly number[]): (skill: Skill) => boolean {
    const seen = new Set(visible);
    return (skill) => seen.has(this.#numbers.get(skill) ?? 0);
  }

  /** As editors get them, each in the newest version that is visible. */
  #list({ call, visible }: Extract<ToSkills, { kind: "list" }>): void {
    const isSeen = visible && this.#seenBy(visible);
    const value = this.#session.catalog.snapshot.skills.flatMap((offered) => {
      if (isSeen === undefined || isSeen(offered.skill)) return [projectSkill(offered)];
      const skill = offered.versions.find(isSeen);
      return skill === undefined ? [] : [projectSkill({ ...offered, skill })];
    });
    this.#answer(call, { value });
  }

  /** Asks the person at the other end. */
  readonly #ask: Ask = async (question, signal, shown) => {
    const number = ++this.#lastQuestion;
    const withdraw = (): void => this.#post({ kind: "withdrawn", question: number });
    try {
      return await new Promise<Reply>((resolve, reject) => {
        this.#questions.set(number, resolve);
        this.#post({ kind: "ask", question: number, asked: question });
        shown?.();
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        signal.addEventListener("abort", withdraw, { once: true });
      });
    } finally {
      this.#questions.delete(number);
      signal.removeEventListener("abort", withdraw);
    }
  };

  async #call({ call, name, args, visible, ...facts }: Extract<ToSkills, { kind: "call" }>): Promise<void> {
    const controller = new AbortController();
    this.#running.set(call, controller);
    const { cwd, hasPerson } = this.#opening;
    const { sessionId, owner, project = cwd } = facts;
    const { catalog } = this.#session;
    try {
      const place = project === cwd ? this.#session : { catalog, directory: project, identity: undefined };
      const caller = createCaller(place, {
        door: "in-process",
        sessionId,
        owner,
        onEvent: (event) => {
          if (event.type === "printed") this.#post({ kind: "print", call, text: event.text });
        },
        ...(hasPerson && { ask: this.#ask }),
        ...(visible && { visible: this.#seenBy(visible) }),
      });
      this.#answer(call, { value: await this.#app.toolbox.call(name, args, caller, controller.signal) });
    } catch (error) {
      this.#answer(call, { error: toPlainError(error) });
    } finally {
      this.#running.delete(call);
    }
  }
}
