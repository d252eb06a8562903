import type { Clock } from "../../../base/clock.ts";
import type { Problem } from "../../../skills/rules.ts";
import type { Snapshot } from "../../../skills/skill.ts";
import type { AvailableSkill } from "../../../wire/available-skill.ts";
import type { JsonRecord } from "../../messages/raw-message.ts";
import type { BeginRequest } from "../../skill-service.ts";
import { commandsNotification, type Notification, skillsDelta, skillsMessage } from "../../emission.ts";
import { notice, problemsNotification, sessionUpdate } from "../../../wire/methods.ts";

/** The size in bytes above which a list delays the next one, because each change of one skill sends the whole list again. */
const largeList = 100_000;
const restMs = 500;

/** Sends a message and returns its size in bytes. `written` is called when the message was written, or never will be. */
export type SendToEditor = (message: Notification, written: () => void) => number;

interface UpdatesContext {
  readonly send: SendToEditor;
  readonly clock: Pick<Clock, "after">;
  /** Called when the editor has caught up, if `mayFollow` has returned false before. */
  readonly caughtUp: () => void;
}

/** The updates that the editor of one session has received. A list is sent if it differs from the last list of its kind. */
export class EditorUpdates {
  readonly #session: Pick<BeginRequest, "sessionId" | "negotiation" | "forms">;
  readonly #context: UpdatesContext;
  /** Whether the editor has named the session: from then on it does not drop the session's updates. */
  #isKnown = false;
  /** Whether an update was sent that the editor may have dropped. */
  #maybeMissed = false;
  #revision = 0;
  /** The skills of the last list; undefined before the first, so that editors that opted in also get an empty list. */
  #skills: readonly AvailableSkill[] | undefined;
  /** The commands of the last list. They are compared separately, because they have more fields than skills, such as the input hint. */
  #commands: readonly JsonRecord[] = [];
  #problems = { errors: 0, warnings: 0 };
  /** The number of messages that the editor has not read. Until it has read them, no other message is sent. */
  #unread = 0;
  #isResting = false;
  #isBehind = false;
  #hasFailed = false;

  constructor(session: Pick<BeginRequest, "sessionId" | "negotiation" | "forms">, context: UpdatesContext) {
    this.#session = session;
    this.#context = context;
    this.#skills = session.negotiation.optIn === undefined ? [] : undefined;
  }

  /** Whether the editor has read all messages, and the delay after a large list is over. If not, `caughtUp` is called when both hold. */
  mayFollow(): boolean {
    this.#isBehind = this.#unread > 0 || this.#isResting;
    return !this.#isBehind;
  }

  /** Called when the editor has named the session. */
  known(): void {
    this.#isKnown = true;
  }

  /** Marks the updates that the editor may have dropped as not sent. Editors that opted in drop nothing. */
  forgetMissed(): void {
    if (this.#session.negotiation.optIn !== undefined || !this.#maybeMissed) return;
    this.#skills = [];
    this.#commands = [];
  }

  skills(available: readonly AvailableSkill[]): void {
    const { sessionId, forms } = this.#session;
    const before = this.#skills;
    if (forms.skills === undefined || (before !== undefined && isSameOnWire(before, available))) return;
    const isDelta = forms.skills.deltas && this.#revision > 0;
    const revision = ++this.#revision;
    this.#post(
      isDelta
        ? skillsDelta(sessionId, forms.skills, revision, { before: before ?? [], after: available })
        : skillsMessage(sessionId, forms.skills, revision, available),
    );
    this.#skills = available;
  }

  /** Sends the list of commands if those of skills changed. `toList` returns the commands of skills together with those of the agent. */
  commands(ofSkills: readonly JsonRecord[], toList: () => readonly unknown[]): void {
    if (isSameOnWire(this.#commands, ofSkills)) return;
    this.#commands = ofSkills;
    const { sessionId, negotiation } = this.#session;
    const count = negotiation.declaresSkills ? ofSkills.length : undefined;
    this.#post(commandsNotification(sessionId, toList(), count));
  }

  /** Called when these commands were added to a list of the agent. */
  commandsAdded(ofSkills: readonly JsonRecord[]): void {
    this.#commands = ofSkills;
    if (!this.#isKnown) this.#maybeMissed = true;
  }

  /** Called when a list of the agent replaced the commands that were sent. */
  commandsReplaced(): void {
    this.#commands = [];
  }

  /** Sends the numbers of errors and warnings to an editor that opted in, if they changed. */
  problems(problems: readonly Problem[]): void {
    const { sessionId, forms } = this.#session;
    if (!forms.problems) return;
    const errors = problems.filter(({ severity }) => severity === "error").length;
    const warnings = problems.filter(({ severity }) => severity === "warning").length;
    if (errors === this.#problems.errors && warnings === this.#problems.warnings) return;
    this.#problems = { errors, warnings };
    this.#post({ jsonrpc: "2.0", method: problemsNotification, params: { sessionId, errors, warnings } });
  }

  /** Notifies an editor that shows notices, once, that skills failed as a whole. Returns a warning if the log has none yet. */
  failed(unusable: readonly string[], snapshot: Snapshot): string | undefined {
    const failure = failureOfAll(unusable, snapshot);
    if (failure === undefined || this.#hasFailed) return undefined;
    this.#hasFailed = true;
    const { sessionId, negotiation } = this.#session;
    const update = { sessionUpdate: notice, severity: "warning", ...failure };
    if (negotiation.notices) this.#post({ jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update } });
    // Problems of single skills are in the log already.
    return unusable.length > 0 ? `${failure.title} ${failure.description}` : undefined;
  }

  #post(message: Notification): void {
    this.#unread++;
    if (!this.#isKnown) this.#maybeMissed = true;
    const bytes = this.#context.send(message, () => {
      this.#unread--;
      this.#goOn();
    });
    if (bytes <= largeList || this.#isResting) return;
    this.#isResting = true;
    this.#context.clock.after(restMs, () => {
      this.#isResting = false;
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#unread > 0 || this.#isResting || !this.#isBehind) return;
    this.#isBehind = false;
    this.#context.caughtUp();
  }
}

/** Whether two lists are the same on the wire. */
function isSameOnWire(before: readonly object[], after: readonly object[]): boolean {
  return (
    before.length === after.length &&
    before.every((item, index) => item === after[index] || JSON.stringify(item) === JSON.stringify(after[index]))
  );
}

interface Failure {
  readonly title: string;
  readonly description: string;
}

/** Describes the failure of skills as a whole, if any: some directories could not be searched, or there are errors and no skill. */
function failureOfAll(unusable: readonly string[], { skills, problems }: Snapshot): Failure | undefined {
  if (unusable.length > 0)
    return { title: "Some directories were not searched for skills.", description: unusable.join(" ") };
  const errors = problems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (skills.length > 0 || first === undefined) return undefined;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return { title: "No skills could be read.", description: `${first.file}: ${first.message}${more} ${first.fix}` };
}
