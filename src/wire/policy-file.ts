import path from "node:path";

/** The name of a policy file, everywhere. */
export const policyFileName = "acp-skills.policy.json";

/** Where an organisation puts its policy: a place that only administrators can write to. */
export function organisationPolicy(
  platform: NodeJS.Platform = process.platform,
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): string {
  if (platform === "darwin") return `/Library/Application Support/acp-skills/${policyFileName}`;
  // Unlike %ProgramData%, where all users may create directories.
  if (platform === "win32")
    return path.win32.join(env.ProgramFiles ?? "C:\\Program Files", "acp-skills", policyFileName);
  return `/etc/acp-skills/${policyFileName}`;
}
