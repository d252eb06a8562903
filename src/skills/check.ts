import type { CheckOptions, CheckReport } from "./check/check-skills.ts";

/**
 * Validates the skills at paths as `acp-skills check` does: each is a SKILL.md, a skill's directory, or a directory that contains skills.
 * Problems are returned, not thrown. What it needs is loaded here, not with the package.
 */
export async function checkSkills(
  paths: readonly string[],
  options: Pick<CheckOptions, "cwd" | "level" | "rules" | "fix"> = {},
): Promise<Omit<CheckReport, "stamp">> {
  const check = await import("./check/check-skills.ts");
  return await check.checkSkillPaths(paths, options);
}
