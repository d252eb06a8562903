import { existsSync } from "node:fs";
import path from "node:path";
import type { App } from "../../runtime/app.ts";
import { isNothing, permissionsOf } from "../../skills/permissions.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import type { JsonRecord } from "../messages/raw-message.ts";
import type { RunAnswer } from "../skill-service.ts";
import { requirementsFile } from "../../skills/skill.ts";

interface AnswerContext {
  readonly app: Pick<App, "policyFor" | "source" | "trust" | "findSandbox">;
  readonly skills: Pick<SessionSkills, "catalog" | "directory">;
  /** The owner of the calls: the session. */
  readonly owner: string;
}

/** Why the agent need not ask about a call that runs code; undefined if the agent should ask. The user is not asked here. */
export async function answerRun(
  tool: string,
  input: JsonRecord,
  context: AnswerContext,
): Promise<RunAnswer | undefined> {
  const { app, skills } = context;
  const { answers, runs } = app.policyFor(skills.directory);
  if (!answers) return undefined;
  const answer = tool === "execute_skill" ? await answerSkillRun(input, context) : "sandboxed";
  if (answer !== "sandboxed") return answer;
  return runs === "sandbox" && "tier" in (await app.findSandbox()) ? "sandboxed" : undefined;
}

/** Decides about the run of a skill as if the machine had a sandbox. */
async function answerSkillRun(
  { name, version }: JsonRecord,
  { app, skills, owner }: AnswerContext,
): Promise<RunAnswer | undefined> {
  const { catalog, directory } = skills;
  await catalog.ready;
  const offered = typeof name === "string" ? catalog.find(name) : undefined;
  const skill =
    typeof version === "string" ? offered?.versions.find((other) => other.version === version) : offered?.skill;
  // The call will be refused.
  if (offered === undefined || skill === undefined) return "decided";
  const isAsked = app.policyFor(directory).runs === "ask" || offered.remote !== undefined;
  if (isAsked || !isNothing(permissionsOf(skill))) return "decided";
  if (existsSync(path.join(skill.directory, requirementsFile))) return undefined;
  const [{ offeredToJudged }, trust] = await Promise.all([import("../../runtime/runs.ts"), app.trust()]);
  const caller = { owner, directory, transport: "acp" };
  return (await trust.mayRunUnasked(offeredToJudged(offered, app.source, skill), caller)) ? "sandboxed" : undefined;
}
