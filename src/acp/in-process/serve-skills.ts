import type { MessagePort } from "node:worker_threads";
import { openApp } from "../../runtime/app.ts";
import type { ThreadReply } from "../../base/processes/threads.ts";
import { createCaller } from "../../runtime/caller.ts";
import { isSkillsError, type SkillsErrorCode } from "../../base/errors.ts";
import { type Settings, type SettingsData, logIdleGrants } from "../../runtime/options.ts";
import { logProblemsOf } from "../../skills/skillset.ts";
import type { Ask, Question, Reply } from "../../runtime/question.ts";
import type { Problem } from "../../skills/rules.ts";
import type { Skill, Snapshot } from "../../skills/skill.ts";

/** Serves the tools over one session's skills to the other end of a port, until that end asks to close. */
export function serveSkills(port: MessagePort, settings: Settings, opening: Opening): void {
  const { cwd, additionalDirectories, asksVisible, hasPerson } = opening;
  const app = openApp(settings);
  const session = app.openSession({ cwd, additionalDirectories });
  const { catalog } = session;
  const running = new Map<number, AbortController>();
  const numbers = new WeakMap<Skill, number>();
  let lastNumber = 0;
  const questions = new Map<number, (reply: Reply) => void>();
  let lastQuestion = 0;
  logProblemsOf(session, settings.log);
  logIdleGrants(settings.grants, catalog, settings.log);
  const ready = Promise.all([catalog.ready, app.load()]).then(() => postSkills(catalog.snapshot));
  catalog.onChange((snapshot, { added, changed, removed }) => {
    const change: SkillsChange = {
      added: added.map(({ skill }) => skill.name),
      changed: changed.map(({ after }) => after.skill.name),
      removed: removed.map(({ skill }) => skill.name),
    };
    postSkills(snapshot, change);
  });

  function post(message: FromSkills | ThreadReply): void {
    port.postMessage(message);
  }

  function answer(call: number, value?: CallResult): void {
    post({ kind: "answer", call, value });
  }

  function postSkills({ problems, skills }: Snapshot, change?: SkillsChange): void {
    const versions = asksVisible ? skills.flatMap((offered) => offered.versions) : [];
    const numbered = versions.map((skill) => [numberOf(skill), skill] as const);
    post({ kind: "skills", problems, numbered, ...(change && { change }) });
  }

  function numberOf(skill: Skill): number {
    const number = numbers.get(skill) ?? ++lastNumber;
    numbers.set(skill, number);
    return number;
  }

  /** Asks the person at the other end. */
  const ask: Ask = async (question, signal, shown) => {
    const number = ++lastQuestion;
    const withdraw = (): void => post({ kind: "withdrawn", question: number });
    try {
      return await new Promise<Reply>((resolve, reject) => {
        questions.set(number, resolve);
        post({ kind: "ask", question: number, asked: question });
        shown?.();
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        signal.addEventListener("abort", withdraw, { once: true });
      });
    } finally {
      questions.delete(number);
      signal.removeEventListener("abort", withdraw);
    }
  };

  async function call({ call, name, args, visible, ...facts }: Extract<ToSkills, { kind: "call" }>): Promise<void> {
    const controller = new AbortController();
    running.set(call, controller);
    const { sessionId, owner, project = cwd } = facts;
    const seen = visible && new Set(visible);
    try {
      const place = project === cwd ? session : { catalog, directory: project, identity: undefined };
      const caller = createCaller(place, {
        door: "in-process",
        sessionId,
        owner,
        onEvent(event) {
          if (event.type === "printed") post({ kind: "print", call, text: event.text });
        },
        ...(hasPerson && { ask }),
        ...(seen && { visible: (skill) => seen.has(numbers.get(skill) ?? 0) }),
      });
      answer(call, { value: await app.toolbox.call(name, args, caller, controller.signal) });
    } catch (error) {
      answer(call, { error: toPlainError(error) });
    } finally {
      running.delete(call);
    }
  }

  port.on("message", (message: ToSkills) => {
    switch (message.kind) {
      case "open":
        void ready.then(() => answer(message.call));
        break;
      case "call":
        void call(message);
        break;
      case "abort":
        running.get(message.call)?.abort();
        break;
      case "answered":
        questions.get(message.question)?.(message.reply);
        break;
      case "close":
        void app.close().then(() => port.close());
        break;
    }
  });
}

function toPlainError(error: unknown): PlainError {
  if (!isSkillsError(error)) {
    const message = error instanceof Error ? error.message : String(error);
    return { code: "INTERNAL", message, facts: {}, cause: undefined };
  }
  const { code, message, facts, cause } = error;
  return { code, message, facts, cause: cause instanceof Error ? cause.message : undefined };
}

/** The data with which a worker is started. */
export interface SkillsData {
  readonly settings: SettingsData;
  readonly opening: Opening;
}

export interface Opening {
  /** Absolute. */
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  /** Whether the other end decides which skills are visible; it says so with each call. */
  readonly asksVisible: boolean;
  /** There is a person who can be asked. */
  readonly hasPerson: boolean;
}

/** The caller of a tool. */
export interface CallFacts {
  readonly sessionId: string | undefined;
  readonly owner: string | undefined;
  readonly project: string | undefined;
}

export type ToSkills =
  /** Answered when the skills have been read. */
  | { readonly kind: "open"; readonly call: number }
  | ({
      readonly kind: "call";
      readonly call: number;
      readonly name: string;
      readonly args: unknown;
      /** The numbers of the skills that are visible; undefined for all. Skills that were not sent before are not. */
      readonly visible: readonly number[] | undefined;
    } & CallFacts)
  | { readonly kind: "abort"; readonly call: number }
  | { readonly kind: "answered"; readonly question: number; readonly reply: Reply }
  | { readonly kind: "close" };

/** Which skills changed, by canonical name. */
export interface SkillsChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** What the thread sends besides answers. */
export type FromSkills =
  /** When the skills have been read, and after every change. `numbered`: every version, if the other end decides which are visible. */
  | {
      readonly kind: "skills";
      readonly problems: readonly Problem[];
      readonly numbered: readonly (readonly [number, Skill])[];
      readonly change?: SkillsChange;
    }
  | { readonly kind: "print"; readonly call: number; readonly text: string }
  | { readonly kind: "ask"; readonly question: number; readonly asked: Question }
  | { readonly kind: "withdrawn"; readonly question: number };

/** The answer to a call. */
export type CallResult = { readonly value: unknown } | { readonly error: PlainError };

/** A SkillsError as data. */
export interface PlainError {
  readonly code: SkillsErrorCode;
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly cause: string | undefined;
}
