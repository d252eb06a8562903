import { isIP } from "node:net";
import type { WrittenConfig } from "./config-schema.ts";
import type { ConfigTokens } from "./read-tokens.ts";
import { type CallerLimits, type ServeConfig, defaultCallerLimits, defaultConfig } from "../config.ts";

type WrittenLimits = NonNullable<NonNullable<WrittenConfig["anonymous"]>["limits"]>;

const allSkills: readonly string[] = ["*"];

/** A valid configuration with the defaults filled in. */
export function toServeConfig(written: WrittenConfig, tokens: ConfigTokens): ServeConfig {
  const { provider, url, access = {}, capabilityTypes = {}, callers = [], anonymous = {}, shares = [] } = written;
  const base = defaultConfig;
  return {
    provider: {
      name: provider?.name ?? base.provider.name,
      ...(provider?.url !== undefined && { url: provider.url }),
      domain: toReverseDomain(provider?.url ?? url) ?? base.provider.domain,
    },
    publicUrl: url?.replace(/\/+$/, ""),
    access: { ...base.access, ...defined(access) },
    capabilityTypes: defined(capabilityTypes),
    callers: callers.map(({ name, skills = allSkills, tools, grants = [], secrets = [], limits }, index) => ({
      name,
      tokenDigest: tokens.callers[index] ?? Buffer.alloc(0),
      skills,
      tools,
      grants,
      secrets,
      limits: withDefaults(limits, defaultCallerLimits),
    })),
    anonymous: {
      tools: anonymous.tools ?? base.anonymous.tools,
      limits: withDefaults(anonymous.limits, base.anonymous.limits),
    },
    shares: shares.map(({ name, skills = allSkills }, index) => ({
      name,
      tokenDigest: tokens.shares[index] ?? Buffer.alloc(0),
      skills,
    })),
    sources: written.sources ?? base.sources,
    limits: { ...base.limits, ...defined(written.limits ?? {}) },
  };
}

/** `com.example.skills` of `https://skills.example.com`; undefined for addresses and names without a dot. */
function toReverseDomain(url: string | undefined): string | undefined {
  const host = url === undefined ? "" : new URL(url).hostname.replace(/^www\./, "").replace(/\.$/, "");
  if (!host.includes(".") || isIP(host) !== 0) return undefined;
  return host.split(".").reverse().join(".");
}

function withDefaults(written: WrittenLimits | undefined, defaults: CallerLimits): CallerLimits {
  return { ...defaults, ...defined(written ?? {}) };
}

type Defined<Value> = { [Key in keyof Value]: Exclude<Value[Key], undefined> };

/** Without the keys whose value is undefined, so that defaults stay. */
function defined<Value extends object>(value: Value): Defined<Value> {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as Defined<Value>;
}
