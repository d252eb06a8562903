import type { MessagePort } from "node:worker_threads";
import type { App } from "../../runtime/app.ts";
import type { ThreadReply } from "../../base/processes/threads.ts";
import { createCaller } from "../../runtime/caller.ts";
import { toPlainError } from "../../base/errors.ts";
import { type Settings, logIdleGrants } from "../../runtime/options.ts";
import { logProblemsOf } from "../../skills/skillset.ts";
import type { Ask, Reply } from "../../runtime/question.ts";
import type { Skill, Snapshot } from "../../skills/skill.ts";
import type { AvailableSkill } from "../../wire/available-skill.ts";
import { projectSkill } from "../../wire/command-facts.ts";
import type { CallResult, FromSkills, Opening, SkillsChange, ToSkills } from "../skill-service.ts";

interface ServedSkillsOptions {
  readonly app: App;
  readonly settings: Settings;
}

/**
 * Serves the tools with one session's skills to the other end of a port, until either end closes. A failure is logged and closes only the
 * port, because other sessions are on the same thread.
 */
export function serveSkills(port: MessagePort, opening: Opening, options: ServedSkillsOptions): void {
  serve(port, opening, options).catch((error: unknown) => {
    options.settings.log("error", `Skills cannot be read: ${String(error)}`);
    port.close();
  });
}

async function serve(port: MessagePort, opening: Opening, { app, settings }: ServedSkillsOptions): Promise<void> {
  const session = app.openSession(opening);
  const { catalog } = session;
  const running = new Map<number, AbortController>();
  const numbers = new WeakMap<Skill, number>();
  let lastNumber = 0;
  const questions = new Map<number, (reply: Reply) => void>();
  let lastQuestion = 0;

  function post(message: FromSkills | ThreadReply): void {
    port.postMessage(message);
  }

  function answer(call: number, value?: CallResult): void {
    post({ kind: "answer", call, value });
  }

  function postSkills({ problems, skills }: Snapshot, change?: SkillsChange): void {
    const versions = opening.asksVisible ? skills.flatMap((offered) => offered.versions) : [];
    const numbered = versions.map((skill) => [numberOf(skill), skill] as const);
    post({ kind: "skills", problems, numbered, ...(change && { change }) });
  }

  function numberOf(skill: Skill): number {
    const number = numbers.get(skill) ?? ++lastNumber;
    numbers.set(skill, number);
    return number;
  }

  function seenBy(visible: readonly number[]): (skill: Skill) => boolean {
    const seen = new Set(visible);
    return (skill) => seen.has(numbers.get(skill) ?? 0);
  }

  /** Asks the user at the other end. */
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

  async function callTool({ call, name, args, visible, ...facts }: Extract<ToSkills, { kind: "call" }>): Promise<void> {
    const controller = new AbortController();
    running.set(call, controller);
    const { cwd, canAsk } = opening;
    const { sessionId, owner, project = cwd } = facts;
    try {
      const own = project === cwd ? session : { catalog, directory: project, identity: undefined };
      const caller = createCaller(own, {
        transport: "in-process",
        sessionId,
        owner,
        onEvent: (event) => {
          if (event.type === "printed") post({ kind: "print", call, text: event.text });
        },
        ...(canAsk && { ask }),
        ...(visible && { visible: seenBy(visible) }),
      });
      answer(call, { value: await app.toolbox.call(name, args, caller, controller.signal) });
    } catch (error) {
      answer(call, { error: toPlainError(error) });
    } finally {
      running.delete(call);
    }
  }

  logProblemsOf(session, settings.log);
  logIdleGrants(settings.grants, catalog, settings.log);
  // The skills are ready only when the tools are loaded, too.
  const ready = Promise.all([catalog.ready, app.load()]).then(() => postSkills(catalog.snapshot));
  const stopListening = catalog.onChange((snapshot, { added, changed, removed }) =>
    postSkills(snapshot, {
      added: added.map(({ skill }) => skill.name),
      changed: changed.map(({ after }) => after.skill.name),
      removed: removed.map(({ skill }) => skill.name),
    }),
  );
  port.on("message", (message: ToSkills) => {
    switch (message.kind) {
      case "open":
        ready.then(
          () => answer(message.call),
          () => undefined,
        );
        break;
      case "call":
        void callTool(message);
        break;
      case "abort":
        running.get(message.call)?.abort();
        break;
      case "answered":
        questions.get(message.question)?.(message.reply);
        break;
      case "list":
        answer(message.call, { value: listed(catalog.snapshot, message.visible && seenBy(message.visible)) });
        break;
      case "close":
        port.close();
        break;
    }
  });
  port.on("close", () => {
    for (const controller of running.values()) controller.abort();
    stopListening();
    session.close();
  });
  await ready;
}

/** Returns the skills as editors get them, each in the newest visible version. */
function listed({ skills }: Snapshot, isVisible: ((skill: Skill) => boolean) | undefined): readonly AvailableSkill[] {
  return skills.flatMap((offered) => {
    if (isVisible === undefined || isVisible(offered.skill)) return [projectSkill(offered)];
    const skill = offered.versions.find(isVisible);
    return skill === undefined ? [] : [projectSkill({ ...offered, skill })];
  });
}
