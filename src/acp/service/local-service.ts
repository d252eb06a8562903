import { logIdleGrants } from "../../runs/authorize/idle-grants.ts";
import type { Settings } from "../../options.ts";
import { type App, openApp } from "../../app.ts";
import type { SessionSkills, Skillset } from "../../skills/skillset.ts";
import type { Skill, Snapshot } from "../../skills/skill.ts";
import { openToldOnce } from "../../base/told-once.ts";
import { type AgentTools, openAgentTools } from "../tools/agent-tools.ts";
import type { Instructions } from "../prompt/prompt.ts";
import { readInstructions } from "../prompt/read-instructions.ts";
import { openServiceConnection } from "./service-connection.ts";
import type { Directories, SkillService } from "./skill-service.ts";

export interface LocalServiceOptions {
  readonly skillset?: Skillset;
  /** Undefined if no tools are served. */
  readonly tools?: AgentTools | undefined;
  readonly readInstructions?: (skill: Skill) => Promise<Instructions>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The service on this thread: in the worker, or if no worker can be started. */
export function openLocalService(settings: Settings, options: LocalServiceOptions = {}): SkillService {
  const app = openApp(settings, options.skillset && { skillset: options.skillset });
  const tools =
    "tools" in options
      ? options.tools
      : settings.tools === "none"
        ? undefined
        : openAgentTools(app, { isTaught: settings.teach });
  const readSkill = options.readInstructions ?? readInstructions;
  const now = options.now ?? Date.now;
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    await tools?.close();
    await app.close();
  }

  return {
    connect(outlet) {
      const { tellOnce } = openToldOnce(outlet.log);
      return openServiceConnection({
        openSkills(directories) {
          const skills = openSkills(app, directories);
          logIdleGrants(settings.grants, skills.catalog, tellOnce);
          return skills;
        },
        tools,
        readInstructions: readSkill,
        onInvoked({ name: skill, version }, sessionId) {
          const session = sessionId === undefined ? {} : { sessionId };
          app.ledger.record({
            at: now(),
            tool: "prompt",
            skill,
            version,
            outcome: "completed",
            ...session,
            door: "acp",
          });
        },
        startedAt: now(),
        settings,
        outlet,
        tellOnce,
      });
    },
    close: () => (closing ??= close()),
  };
}

function openSkills(app: Pick<App, "openSession">, directories: Directories): SessionSkills {
  try {
    return app.openSession(directories);
  } catch (error) {
    return noSkills(`Skills cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const nothing: Snapshot = Object.freeze({ skills: [], problems: [] });

/** Used if skills cannot be opened: the session continues without them. */
function noSkills(problem: string): SessionSkills {
  return {
    directory: undefined,
    catalog: {
      snapshot: nothing,
      ready: Promise.resolve(nothing),
      onChange: () => () => undefined,
      find: () => undefined,
    },
    problems: [problem],
    close: () => undefined,
  };
}
