import type { App } from "../../app.ts";
import { LimitedMap } from "../../base/limited-map.ts";
import { createCaller } from "../../caller.ts";
import type { Skill } from "../../skills/skill.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import { isGiven } from "../tools/recognise-call.ts";
import { isRecord } from "../bytes/raw-message.ts";
import type { AgentToolUse } from "../tools/agent-uses.ts";
import type { Directories, UseDecision } from "./skill-service.ts";
import { answerWords } from "../../trust/asking/question.ts";
import type { Reply } from "../../trust/asking/question.ts";
import type * as Permissions from "./tool-permissions.ts";
import type { OpenUse } from "./tool-permissions.ts";

interface ActiveSkillsOptions {
  readonly app: Pick<App, "source" | "hasher" | "ledger" | "trust" | "log">;
  readonly skills: SessionSkills;
  readonly directories: Directories;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** How many skills are active at a time, and how many requests are open. */
const mostActive = 32;
const mostOpen = 64;

/** Tools of ours that show or run a skill. */
const using: ReadonlySet<string> = new Set(["describe_skill", "read_skill_file", "execute_skill"]);

/**
 * The skills with which a session's model works in this turn: those that the person invoked, and those whose instructions the model read
 * or whose code it ran. They decide about requests of the agent for its own tools.
 */
export class ActiveSkills {
  readonly #options: ActiveSkillsOptions;
  /** By slug and version. */
  readonly #active = new LimitedMap<string, { readonly skill: Skill; readonly digest: Promise<string | undefined> }>(
    mostActive,
  );
  readonly #open = new LimitedMap<number, OpenUse>(mostOpen);
  #lastTicket = 0;
  #session: { readonly sessionId: string; readonly agent: string } | undefined;

  constructor(options: ActiveSkillsOptions) {
    this.#options = options;
  }

  /** The agent has opened the session. */
  begin(session: { readonly sessionId: string; readonly agent: string }): void {
    this.#session = session;
  }

  turnBegan(): void {
    this.#active.clear();
  }

  /** The person invoked it. */
  invoked(skill: Skill): void {
    if ((skill.allowedTools ?? []).length === 0) return;
    const key = JSON.stringify([skill.slug, skill.version]);
    const before = this.#active.get(key)?.digest;
    const digest = permissions().then(({ digestOf }) => digestOf(this.#options.app, skill));
    // The model may follow whichever bytes it has read.
    const always = Promise.all([digest, before ?? digest]).then(([now, then]) => (now === then ? now : undefined));
    this.#active.set(key, { skill, digest: always });
  }

  /** The model called one of our tools, successfully. */
  called(tool: string, input: unknown): void {
    if (!using.has(tool) || !isRecord(input)) return;
    const { name, version, detail } = input;
    if (typeof name !== "string" || (tool === "describe_skill" && detail !== "full")) return;
    const offered = this.#options.skills.catalog.find(name);
    const skill = isGiven(version) ? offered?.versions.find((other) => other.version === version) : offered?.skill;
    if (skill !== undefined) this.invoked(skill);
  }

  /** See `ServiceConnection.decideUse`. */
  decide(use: AgentToolUse): Promise<UseDecision | undefined> | undefined {
    return this.#active.size === 0 ? undefined : this.#decide(use);
  }

  allowed(ticket: number): void {
    const open = this.#take(ticket);
    if (open !== undefined) void this.#record(open, { event: "permission", outcome: "allowed" });
  }

  /** See `ServiceConnection.useAnswered`. */
  async answered(ticket: number, reply: Reply): Promise<boolean> {
    const open = this.#take(ticket);
    if (open === undefined) return false;
    const { app, now } = this.#options;
    const { keepAnswer, toEntry } = await permissions();
    const answer = answerWords(reply);
    const tell = (by: string | undefined): void => {
      const outcome = by === undefined ? "denied" : "allowed";
      app.ledger.record(toEntry(open, { event: "answer", outcome, answer, grant: by }, now()));
    };
    try {
      return (await keepAnswer(open, await app.trust(), reply, tell)) !== undefined;
    } catch (error) {
      // The skill changed while its question was open.
      app.log("warning", `Nothing was allowed: ${error instanceof Error ? error.message : String(error)}`);
    }
    tell(undefined);
    return false;
  }

  async #decide(use: AgentToolUse): Promise<UseDecision | undefined> {
    const { app, skills, directories } = this.#options;
    const session = this.#session;
    if (session === undefined) return undefined;
    const { decideUse } = await permissions();
    const active = await Promise.all(
      [...this.#active.values()].map(async ({ skill: { slug, version }, digest }) => {
        // What it declares now.
        const skill = skills.catalog.find(slug)?.versions.find((other) => other.version === version);
        return skill === undefined ? [] : [{ skill, digest: await digest }];
      }),
    );
    const caller = createCaller(skills, { door: "acp", ...session });
    const { cwd, additionalDirectories } = directories;
    const asking = { caller, directories: [...(cwd === undefined ? [] : [cwd]), ...additionalDirectories] };
    const ticket = ++this.#lastTicket;
    const open = await decideUse(use, active.flat(), asking, { ticket, trust: await app.trust(), app });
    if (open === undefined) return undefined;
    this.#open.set(ticket, open);
    if (open.decision.kind === "ask") await this.#record(open, { event: "ask", outcome: "asked" });
    return open.decision;
  }

  #take(ticket: number): OpenUse | undefined {
    const open = this.#open.get(ticket);
    this.#open.delete(ticket);
    return open;
  }

  async #record(open: OpenUse, step: Parameters<(typeof Permissions)["toEntry"]>[1]): Promise<void> {
    const { app, now } = this.#options;
    const { toEntry } = await permissions();
    app.ledger.record(toEntry(open, step, now()));
  }
}

/** Loaded when a skill that lists tools becomes active. */
function permissions(): Promise<typeof Permissions> {
  return import("./tool-permissions.ts");
}
