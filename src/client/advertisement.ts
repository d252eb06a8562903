import * as z from "zod";
import { metaKey } from "../wire/methods.ts";

const advertisementSchema = z.looseObject({
  version: z.string(),
  tools: z.array(z.string()),
  update: z.array(z.string()),
});

/** What an agent that carries acp-skills says of it: our version, the meta-tools it serves, the update kinds it will send. */
export type SkillsAdvertisement = z.infer<typeof advertisementSchema>;

/** How an editor asks for skills (ACP.md A-6). */
export interface SkillsOptIn {
  /** True: as the extension notification `_acp-skills/skills_update`; else as a `session/update`, which typed v1 SDKs refuse. */
  readonly notification?: boolean;
  /** True: after the first list only `{revision, added, changed, removed}`. */
  readonly deltas?: boolean;
  /** False: skills are not also listed as commands. */
  readonly commands?: boolean;
}

/**
 * Spread into `clientCapabilities._meta` (ACP v1) or `capabilities._meta` (v2) to be sent skills as `_acp-skills/skills_update`, which the
 * clients of every SDK deliver as an extension notification. Its params are those of `available_skills_update`.
 */
export const skillsOptIn: Readonly<Record<typeof metaKey, SkillsOptIn>> = Object.freeze({
  [metaKey]: Object.freeze({ notification: true }),
});

const capabilitiesSchema = z.looseObject({ _meta: z.looseObject({ [metaKey]: advertisementSchema }) });

/** Reads the advertisement out of an initialize response of ACP v1 or v2; undefined where the agent has none. */
export function readAdvertisement(initializeResponse: unknown): SkillsAdvertisement | undefined {
  const response = z
    .looseObject({ agentCapabilities: z.unknown().optional(), capabilities: z.unknown().optional() })
    .safeParse(initializeResponse);
  if (!response.success) return undefined;
  const capabilities = capabilitiesSchema.safeParse(response.data.agentCapabilities ?? response.data.capabilities);
  return capabilities.success ? capabilities.data._meta[metaKey] : undefined;
}
