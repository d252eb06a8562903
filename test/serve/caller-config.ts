import { type CallerConfig, defaultCallerLimits } from "../../src/serve/config.ts";
import { toTokenDigest } from "../../src/wire/http.ts";

/** The token of a caller of {@link callerConfig}. */
export function tokenOf(name: string): string {
  return `${name}-token-of-at-least-128-bits`;
}

/** A caller of the configuration; without `skills`, it sees all. */
export function callerConfig(name: string, rest: Partial<CallerConfig> = {}): CallerConfig {
  return {
    name,
    tokenDigest: toTokenDigest(tokenOf(name)),
    skills: ["*"],
    tools: undefined,
    grants: [],
    secrets: [],
    limits: defaultCallerLimits,
    ...rest,
  };
}
