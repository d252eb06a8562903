import { resolve } from "node:path";
import { SkillsError } from "../errors.ts";
import { readOptions } from "../options.ts";
import type { OptionRule, SkillsOptions } from "../options.ts";
import type { Skill } from "../skills/skill.ts";
import type { ToolDefinitions, ToolFormat } from "../tools/tool-definitions.ts";
import type { ServedToolName, ToolOutput } from "../tools/answers/tool-output.ts";

export interface OpenSkillsOptions extends SkillsOptions {
  /** The project's directory, absolute or relative to the process's. Default: the process's own. */
  readonly cwd?: string;
  /** More directories in whose default roots skills are looked for. */
  readonly additionalDirectories?: readonly string[];
  /** A version for which this is false behaves exactly as one that is not there. Must not throw. */
  readonly visible?: (skill: Skill) => boolean;
}

export interface SkillsCallOptions {
  /** Gives the call up, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Goes into the ledger; blobs belong to the session unless `owner` says otherwise. */
  readonly sessionId?: string;
  /** Whose blobs are written and read; another owner's do not exist. */
  readonly owner?: string;
  /** The directory that a skill with permission for the project works on. Default: `cwd`. */
  readonly project?: string;
  /** Told what code prints while it runs. Must not throw. */
  readonly onPrint?: (text: string) => void;
}

/** The tools in this process, over skills that are watched. */
export interface Skills {
  /**
   * Calls a tool; the answer is the same plain JSON as through every other door. Rejects with a SkillsError, or with the reason
   * of `signal`; nothing else.
   */
  call<Name extends ServedToolName>(name: Name, args?: unknown, options?: SkillsCallOptions): Promise<ToolOutput<Name>>;
  call(name: string, args?: unknown, options?: SkillsCallOptions): Promise<unknown>;
  /** The tools as a model's API takes them. */
  tools<Format extends ToolFormat>(format: Format): ToolDefinitions[Format][];
  /** Stops watching, and releases everything. May be called more than once. Calls after it reject with CLOSED. */
  close(): Promise<void>;
}

/**
 * The tools for agent authors who call their model themselves, on a thread of their own: nothing that is read or run holds up the
 * caller's. Resolves once the skills have been read. Throws INVALID_OPTIONS. What the tools need is loaded here, not with the package.
 */
export async function openSkills(options: OpenSkillsOptions = {}): Promise<Skills> {
  const settings = readOptions(options, { rules: ownRules });
  const { additionalDirectories = [], visible } = options;
  const [{ openRemoteSkills }, { toolDefinitions }] = await Promise.all([
    import("./remote-skills.ts"),
    import("../tools/tool-definitions.ts"),
  ]);
  const remote = await openRemoteSkills(settings, {
    cwd: resolve(options.cwd ?? process.cwd()),
    additionalDirectories: additionalDirectories.map((directory) => resolve(directory)),
    visible,
  });
  let isClosed = false;

  async function call(name: string, args?: unknown, callOptions: SkillsCallOptions = {}): Promise<unknown> {
    if (isClosed) throw new SkillsError("CLOSED", "The skills were closed.");
    const { sessionId, owner, project, signal, onPrint } = callOptions;
    const directory = project === undefined ? undefined : resolve(project);
    return await remote.call({ name, args, sessionId, owner, project: directory, signal, onPrint });
  }

  return {
    // The toolbox holds every answer to the tool's own schema.
    call,
    tools: (format) => toolDefinitions(format),
    close() {
      isClosed = true;
      return remote.close();
    },
  };
}

/** What only this door takes. */
const ownRules: Readonly<Record<"cwd" | "additionalDirectories" | "visible", OptionRule>> = {
  cwd: { expected: "a directory path", accepts: isPath },
  additionalDirectories: {
    expected: "an array of directory paths",
    accepts: (value) => Array.isArray(value) && value.every(isPath),
  },
  visible: { expected: "a function of a skill", accepts: (value) => typeof value === "function" },
};

function isPath(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
