import type { Settings } from "../options.ts";
import type { SessionSkills, Skillset } from "../skillset.ts";
import type { ToldOnce } from "../told-once.ts";
import type { AgentTools } from "./agent-tools.ts";
import type { Amendment } from "./amend.ts";
import type { Notification } from "./emission.ts";
import { chooseTransport, type Negotiation } from "./negotiation.ts";
import { noSkills } from "./no-skills.ts";
import type { JsonRecord } from "./raw-message.ts";
import { equipSession, type SessionTools } from "./session-tools.ts";
import { withinTime } from "./within-time.ts";

/** A session whose request is on its way to the agent, or about to be. */
export interface Opening {
  readonly kind: "open";
  /** Unknown where the agent chooses it. */
  readonly sessionId: string | undefined;
  readonly skills: SessionSkills;
  /** What its model has of our tools, once that is settled. */
  tools: SessionTools | undefined;
  /** The session was opened or refused: what is settled later comes too late. */
  isOver: boolean;
}

export interface OpeningsOptions {
  readonly skillset: Skillset;
  readonly tools: AgentTools | undefined;
  readonly settings: Pick<Settings, "tools" | "teach" | "clock" | "log">;
  /** The agent's answer to `initialize`; undefined where there is none to wait for. */
  readonly negotiation: () => Promise<Negotiation | undefined>;
  readonly tellOnce: ToldOnce["tellOnce"];
  /** Puts a message of ours on its way to the editor. */
  readonly send: (message: Notification) => void;
}

export interface Openings {
  open(params: JsonRecord, sessionId: string | undefined): Opening;
  /** The skills that there are without a session. */
  openSkills(params: JsonRecord): SessionSkills;
  /** How the request is to be amended; never rejects, for a session goes on without tools. Undefined where none are served. */
  equip(opening: Opening, params: JsonRecord): Promise<readonly Amendment[]> | undefined;
  release(opening: Opening): void;
}

/** An editor may open a session without waiting for the answer to `initialize`. We do: agents take their time to boot. */
const answerTime = 60_000;

export function openOpenings({ skillset, tools, settings, negotiation, tellOnce, send }: OpeningsOptions): Openings {
  const { teach, clock } = settings;

  function openSkills({ cwd, additionalDirectories }: JsonRecord): SessionSkills {
    const directories = Array.isArray(additionalDirectories) ? additionalDirectories : [];
    try {
      return skillset.openSession({
        cwd: typeof cwd === "string" ? cwd : undefined,
        additionalDirectories: directories.filter((directory) => typeof directory === "string"),
      });
    } catch (error) {
      return noSkills(`Skills cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async function equip(opening: Opening, params: JsonRecord, served: AgentTools): Promise<readonly Amendment[]> {
    const agreed = await withinTime(negotiation(), clock, answerTime);
    if (isOver(opening)) return [];
    const transport = agreed && chooseTransport(agreed, settings.tools);
    if (agreed === undefined || transport === undefined) {
      const why = agreed === undefined ? "its agent did not say what it takes" : "its agent takes none";
      tellOnce("info", `The session has no MCP server of ours: ${why}.`);
      return [];
    }
    const options = { tools: served, skills: opening.skills, negotiation: agreed, transport, teach, clock, send };
    const equipped = await equipSession(params, opening.sessionId, options);
    if (equipped === undefined) return [];
    if (isOver(opening)) {
      equipped.tools.close();
      return [];
    }
    opening.tools = equipped.tools;
    return equipped.amendments;
  }

  return {
    open: (params, sessionId) => {
      return { kind: "open", sessionId, skills: openSkills(params), tools: undefined, isOver: false };
    },
    openSkills,
    equip: (opening, params) =>
      tools &&
      equip(opening, params, tools).catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        tellOnce("warning", `The tools are not served to the model: ${why}`);
        return [];
      }),
    release(opening) {
      opening.isOver = true;
      opening.tools?.close();
      opening.skills.close();
    },
  };
}

/** It changes while we wait. */
function isOver(opening: Opening): boolean {
  return opening.isOver;
}
