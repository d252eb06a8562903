import type { MessagePort } from "node:worker_threads";
import { isSkillsError } from "../errors.ts";
import { logIdleGrants } from "../runs/authorize/idle-grants.ts";
import type { Settings } from "../options.ts";
import { logProblemsOf } from "../skills/rules/log-problems.ts";
import type { Skill, Snapshot } from "../skills/skill.ts";
import { openApp } from "../app.ts";
import { createCaller } from "../caller.ts";
import type { FromSkills, Opening, PlainError, SkillNumber, SkillsChange, ToSkills } from "./skills-messages.ts";

/** Serves the tools over one session's skills to the other end of a port, until that end asks to close. */
export function serveSkills(port: MessagePort, settings: Settings, opening: Opening): void {
  const { cwd, additionalDirectories, asksVisible } = opening;
  const app = openApp(settings);
  const session = app.openSession({ cwd, additionalDirectories });
  const { catalog } = session;
  const running = new Map<number, AbortController>();
  const shown = openShown();
  const asked = new Map<number, (hidden: readonly SkillNumber[]) => void>();
  logProblemsOf(session, settings.log);
  logIdleGrants(settings.grants, catalog, settings.log);
  void Promise.all([catalog.ready, app.load()]).then(() => {
    post({ kind: "skills", problems: catalog.snapshot.problems });
    post({ kind: "opened" });
  });
  catalog.onChange(({ problems }, { added, changed, removed }) => {
    const change: SkillsChange = {
      added: added.map(({ skill }) => skill.name),
      changed: changed.map(({ after }) => after.skill.name),
      removed: removed.map(({ skill }) => skill.name),
    };
    post({ kind: "skills", problems, change });
  });

  function post(message: FromSkills): void {
    port.postMessage(message);
  }

  /** Asks the other end which skills are visible now. */
  async function askVisible(call: number): Promise<(skill: Skill) => boolean> {
    const answered = new Promise<readonly SkillNumber[]>((resolve) => asked.set(call, resolve));
    post({ kind: "see", call, ...shown.update(catalog.snapshot) });
    const hidden = new Set(await answered);
    return (skill) => {
      const number = shown.numberOf(skill);
      // A skill that was added meanwhile was not asked about: the next call sees it.
      return number !== undefined && !hidden.has(number);
    };
  }

  async function call({ call, name, args, ...facts }: Extract<ToSkills, { kind: "call" }>): Promise<void> {
    const controller = new AbortController();
    running.set(call, controller);
    const { sessionId, owner, project = cwd } = facts;
    try {
      const place = project === cwd ? session : { catalog, directory: project, identity: undefined };
      const caller = createCaller(place, {
        door: "in-process",
        sessionId,
        owner,
        onEvent(event) {
          if (event.type === "printed") post({ kind: "print", call, text: event.text });
        },
        ...(asksVisible && { visible: await askVisible(call) }),
      });
      post({ kind: "result", call, value: await app.toolbox.call(name, args, caller, controller.signal) });
    } catch (error) {
      post({ kind: "error", call, error: toPlainError(error) });
    } finally {
      running.delete(call);
    }
  }

  port.on("message", (message: ToSkills) => {
    switch (message.kind) {
      case "call":
        void call(message);
        break;
      case "abort":
        running.get(message.call)?.abort();
        break;
      case "hidden":
        asked.get(message.call)?.(message.numbers);
        asked.delete(message.call);
        break;
      case "close":
        void app.close().then(() => {
          port.close();
        });
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

interface Shown {
  /** What was added and removed since the last update. */
  update(snapshot: Snapshot): {
    readonly skills: readonly (readonly [SkillNumber, Skill])[];
    readonly gone: readonly SkillNumber[];
  };
  numberOf(skill: Skill): SkillNumber | undefined;
}

/** Numbers the skills that were sent to the other end. */
function openShown(): Shown {
  let numbers = new Map<Skill, SkillNumber>();
  let last = 0;
  return {
    update({ skills }) {
      const now = new Map<Skill, SkillNumber>();
      const added: (readonly [SkillNumber, Skill])[] = [];
      for (const skill of skills.flatMap(({ versions }) => versions)) {
        const known = numbers.get(skill);
        const number = known ?? ++last;
        now.set(skill, number);
        if (known === undefined) added.push([number, skill]);
      }
      const gone = [...numbers].filter(([skill]) => !now.has(skill)).map(([, number]) => number);
      numbers = now;
      return { skills: added, gone };
    },
    numberOf: (skill) => numbers.get(skill),
  };
}
