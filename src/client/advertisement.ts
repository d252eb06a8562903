import * as z from "zod";
import { metaKey } from "../wire/methods.ts";

const advertisementSchema = z.looseObject({
  version: z.string(),
  tools: z.array(z.string()),
  update: z.array(z.string()),
});

/** What an agent that carries acp-skills says of it: our version, the meta-tools it serves, the update kinds it will send. */
export type SkillsAdvertisement = z.infer<typeof advertisementSchema>;

/** Spread into `clientCapabilities._meta` (ACP v1) or `capabilities._meta` (v2) to be sent `available_skills_update`. */
export const skillsOptIn: Readonly<Record<typeof metaKey, true>> = Object.freeze({ [metaKey]: true });

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
