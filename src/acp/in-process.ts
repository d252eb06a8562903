import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { SkillsError } from "../base/errors.ts";
import {
  type OptionRule,
  type Settings,
  type SkillsOptions,
  directoryPaths,
  isNonEmptyText,
  readOptions,
} from "../runtime/options.ts";
import type { Skill } from "../skills/skill.ts";
import type { ToolDefinitions, ToolFormat, ServedToolName, ToolInput, ToolOutput } from "../runtime/tools.ts";
import {
  type AskUser,
  RemoteSkills,
  type NewSession,
  type SkillsHandle,
  withHandle,
} from "./in-process/remote-skills.ts";
import type { ReportOptions } from "./messages/report-tool-call.ts";

export type { NewSession, SkillsHandle } from "./in-process/remote-skills.ts";
export type { SkillsChange } from "./skill-service.ts";

/** Options of `openSkills`, besides those that all transports share. */
export interface OpenSkillsOptions extends SkillsOptions {
  /** The project's directory. Default: the working directory. */
  readonly cwd?: string;
  /** More directories whose default roots are searched for skills. */
  readonly additionalDirectories?: readonly string[];
  /** Skill versions for which this returns false are hidden from calls. Must not throw. */
  readonly visible?: (skill: Skill) => boolean;
  /**
   * Asks the agent's user before a skill does more than its sandbox allows, and before the model reads skills of an untrusted project.
   * Resolves with the user's answer, or undefined for none: then nothing is allowed. Without `ask` nobody is asked.
   */
  readonly ask?: AskUser;
}

/** The options for reporting a call to the editor, as `tool_call` and `tool_call_update`. */
export type CallReport = Omit<ReportOptions, "name" | "args" | "log">;

/** Options of one call of a tool. */
export interface SkillsCallOptions {
  /** Cancels the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** The session's id, which the ledger records. Blobs belong to the session unless `owner` is given. */
  readonly sessionId?: string;
  /** The owner of the blobs that are written and read; blobs of other owners are not accessible. */
  readonly owner?: string;
  /** The directory for skills with permission to access the project. Default: `cwd`. */
  readonly project?: string;
  /** Called with the output of code while it runs. Must not throw. */
  readonly onPrint?: (text: string) => void;
  /** Reports the call to the editor. Failures to send do not affect the call. */
  readonly report?: CallReport;
}

/** The parameters of `call` after the name. The tool's arguments may be omitted if none is required. */
type Arguments<Name extends ServedToolName> =
  Record<string, never> extends ToolInput<Name>
    ? [args?: ToolInput<Name>, options?: SkillsCallOptions]
    : [args: ToolInput<Name>, options?: SkillsCallOptions];

/** The tools, callable from this process, and the skills, which are watched for changes. */
export interface Skills extends SkillsHandle {
  /**
   * Calls a tool; the result is the same plain JSON as over MCP, ACP and HTTP. Rejects only with a SkillsError or the reason of `signal`.
   * With a name that is not known at compile time, such as a model's, it accepts any arguments and returns `unknown`.
   */
  call<Name extends ServedToolName>(name: Name, ...rest: Arguments<Name>): Promise<ToolOutput<Name>>;
  call<Name extends string>(
    name: string extends Name ? Name : never,
    args?: unknown,
    options?: SkillsCallOptions,
  ): Promise<unknown>;
  /** Returns the tools in the format of a model's API. */
  tools<Format extends ToolFormat>(format: Format): ToolDefinitions[Format][];
  /** Opens the tools with the skills of one session, which may have its own `ask`. All sessions share the thread. */
  forSession(session: NewSession & Pick<OpenSkillsOptions, "ask">): Skills;
}

/**
 * Opens the tools for agent authors who call their model themselves. The tools run on a worker thread, so that nothing blocks the
 * caller's. Resolves when the skills have been read. Rejects with INVALID_OPTIONS. The tools are loaded here, not with the package.
 */
export async function openSkills(options: OpenSkillsOptions = {}): Promise<Skills> {
  const settings = readOptions(options, { rules: ownRules });
  const { cwd = process.cwd(), additionalDirectories } = options;
  if (!existsSync(cwd))
    throw new SkillsError("INVALID_OPTIONS", `Option cwd: ${resolve(cwd)} does not exist.`, {
      facts: { option: "cwd" },
    });
  const [{ openService }, { toolDefinitions }] = await Promise.all([
    import("./remote-service.ts"),
    import("../runtime/tools.ts"),
  ]);
  const service = openService(settings);
  const { visible, ask } = options;
  const open = (session: NewSession & Pick<OpenSkillsOptions, "ask">): RemoteSkills =>
    new RemoteSkills((port, opening) => service.serveSkills(port, opening), settings, { visible, ask, ...session });
  function toSkills(remote: RemoteSkills, close: () => Promise<void>): Skills {
    // The toolbox validates every result against the tool's own schema.
    const call = (name: string, args?: unknown, callOptions?: SkillsCallOptions): Promise<unknown> =>
      callTool(remote, settings, name, args, callOptions);
    const own: Pick<Skills, "call" | "tools" | "forSession"> = {
      call,
      tools: (format) => toolDefinitions(format),
      forSession(session) {
        const opened = open(session);
        return toSkills(opened, () => opened.close());
      },
    };
    return withHandle(own, { open: () => remote, openSession: open, close });
  }

  const remote = open({ cwd, additionalDirectories });
  await remote.opened();
  return toSkills(remote, () => service.close());
}

async function callTool(
  remote: RemoteSkills,
  { log }: Settings,
  name: string,
  args: unknown,
  { sessionId, owner, project, signal, onPrint, report }: SkillsCallOptions = {},
): Promise<unknown> {
  const directory = project === undefined ? undefined : resolve(project);
  const facts = { name, args, sessionId, owner, project: directory, signal };
  if (report === undefined) return await remote.call({ ...facts, onPrint });
  const { reportToolCall } = await import("./messages/report-tool-call.ts");
  return await reportToolCall({ ...report, name, args, log }, async (running) => {
    const both = (text: string): void => {
      running.onPrint(text);
      onPrint?.(text);
    };
    return await remote.call({ ...facts, onPrint: both });
  });
}

/** Options that only `openSkills` has. */
const ownRules: Readonly<Record<"cwd" | "additionalDirectories" | "visible" | "ask", OptionRule>> = {
  cwd: { expected: "a directory path", accepts: isNonEmptyText },
  additionalDirectories: directoryPaths,
  visible: { expected: "a function of a skill", accepts: (value) => typeof value === "function" },
  ask: { expected: "a function of a question", accepts: (value) => typeof value === "function" },
};
