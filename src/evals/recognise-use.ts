import { parseIfJson } from "../base/json/json-value.ts";
import { fieldsOf } from "../client/json.ts";
import type { TranscriptEntry } from "../conformance/transcript.ts";
import { toSlug } from "../skills/skill.ts";
import type { EvalRun } from "./recorded-runs.ts";

/** Whether an agent used a skill: `unseen` if it delegated work to another agent whose calls it does not show. */
type SkillUse = EvalRun["use"];

/** A tool call as the agent reported it, over all its updates. */
interface SeenCall {
  title: string;
  /** The title, the input, the locations and the `_meta` of the call, as JSON. */
  said: string;
}

/** Tools of acp-skills that take a skill. */
const ourTools = /describe_skill|read_skill_file|execute_skill|run_code/;
/** The names of tools with which agents delegate work to another agent. */
const delegating = /\b(?:task|agent|subagent|delegate)\b/i;

/**
 * Recognises the use of a skill: a call to a tool of acp-skills or to the agent's own tool for skills, or a read of the skill's files. The
 * session's rows of the ledger add calls that agents do not report, and calls of agents to which they delegate. The order of calls does
 * not matter. A list of skills is no use.
 */
export function recogniseUse(entries: readonly TranscriptEntry[], name: string, ledger: string): SkillUse {
  const calls = [...callsIn(entries).values()];
  const names = new Set([name, toSlug(name) ?? name, name.replaceAll("-", ".")]);
  if (calls.some((call) => isUse(call, names)) || ledger.split("\n").some((line) => isUseOfOurs(line, names)))
    return "used";
  return calls.some(({ title, said }) => delegating.test(title) || /"toolName":"(?:Task|Agent)"/.test(said))
    ? "unseen"
    : "unused";
}

function isUse({ title, said }: SeenCall, names: ReadonlySet<string>): boolean {
  for (const name of names) {
    const word = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    if (new RegExp(`[/\\\\]skills[/\\\\]+${word}[/\\\\"]`).test(said)) return true;
    const isNamed = new RegExp(`"(?:name|skill|command|skill_name)":"/?(?:[\\w-]+:)?${word}"`).test(said);
    if (isNamed && (ourTools.test(title) || ourTools.test(said) || /\bskill\b/i.test(title + said))) return true;
    if (new RegExp(`\\bskill\\b.{0,20}\\b${word}\\b`, "i").test(title)) return true;
    if (said.includes("mount_skills") && said.includes(`"${name}"`)) return true;
  }
  return false;
}

function isUseOfOurs(line: string, names: ReadonlySet<string>): boolean {
  const { tool, skill, event } = fieldsOf(parseIfJson(line)) ?? {};
  return event === undefined && typeof tool === "string" && ourTools.test(tool) && names.has(String(skill));
}

function callsIn(entries: readonly TranscriptEntry[]): ReadonlyMap<unknown, SeenCall> {
  const calls = new Map<unknown, SeenCall>();
  for (const { from, message } of entries) {
    const params = from === "agent" ? fieldsOf(fieldsOf(message)?.["params"]) : undefined;
    const update = fieldsOf(params?.["update"]) ?? fieldsOf(params?.["toolCall"]);
    const id = update?.["toolCallId"];
    if (update === undefined || id === undefined) continue;
    const call = calls.get(id) ?? { title: "", said: "" };
    const { title, rawInput, locations, _meta } = update;
    if (typeof title === "string") call.title += ` ${title}`;
    call.said += JSON.stringify([title, rawInput, locations, _meta]);
    calls.set(id, call);
  }
  return calls;
}
