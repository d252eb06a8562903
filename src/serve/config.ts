import type { AccessPolicy, CapabilityType } from "../wire/skill-sharing.ts";
import { newToken, toTokenDigest } from "../wire/http.ts";
import type { ToolName } from "../wire/tools.ts";
import type { WrittenConfig } from "./config/config-schema.ts";

/** Limits on one caller. */
export type CallerLimits = Readonly<Required<NonNullable<NonNullable<WrittenConfig["anonymous"]>["limits"]>>>;

/** Limits on the whole server, by name; the schema says what they mean. */
export type ServerLimits = Readonly<Required<NonNullable<WrittenConfig["limits"]>>>;

/** A caller of the configuration. Lists of skills are patterns over canonical names; `*` stands for any characters. */
export interface CallerConfig {
  /** `^[a-z0-9-]{1,64}$`, unique: it owns the caller's blobs and runs. */
  readonly name: string;
  /** SHA-256 of the bearer token. */
  readonly tokenDigest: Buffer;
  /** Default: all. */
  readonly skills: readonly string[];
  /** Default: all. */
  readonly tools: readonly ToolName[] | undefined;
  /** `NAME@DIGEST[:PERMISSION,…]`, for runs of this caller only. Default: none. */
  readonly grants: readonly string[];
  /** Names of secrets that runs of this caller may get. Default: none. */
  readonly secrets: readonly string[];
  readonly limits: CallerLimits;
}

/** A set of skills behind the path `/s/<token>/`, for clients that cannot send credentials. */
export interface ShareConfig {
  readonly name: string;
  /** SHA-256 of the path's token. */
  readonly tokenDigest: Buffer;
  /** Default: all. */
  readonly skills: readonly string[];
}

/** The configuration of `serve`: the file of `--config` with defaults filled in. */
export interface ServeConfig {
  readonly provider: {
    readonly name: string;
    readonly url?: string;
    /** Reverse domain, the start of every id: `com.example`. */
    readonly domain: string;
  };
  /** What people reach the server by, such as `https://skills.example`; without a slash at its end. Default: where it listens. */
  readonly publicUrl: string | undefined;
  /** Patterns; of several that match the strictest counts, and `default` where none does. */
  readonly access: { readonly default: AccessPolicy } & {
    readonly [Policy in AccessPolicy]: readonly string[];
  };
  /** Patterns of skills that are published with another type than their kind says. */
  readonly capabilityTypes: { readonly [Type in CapabilityType]?: readonly string[] };
  readonly callers: readonly CallerConfig[];
  readonly anonymous: { readonly tools: readonly ToolName[]; readonly limits: CallerLimits };
  readonly shares: readonly ShareConfig[];
  /** Sources of skills of others, as for `--source`. */
  readonly sources: readonly string[];
  readonly limits: ServerLimits;
}

export const defaultCallerLimits: CallerLimits = { requestsPerMinute: 1_200, concurrentRequests: 64 };

export const defaultAnonymousLimits: CallerLimits = { requestsPerMinute: 300, concurrentRequests: 8 };

/** What anybody may call: what reads, and runs of public skills, which have no permissions. */
const defaultAnonymousTools: readonly ToolName[] = [
  "list_skills",
  "describe_skill",
  "read_skill_file",
  "execute_skill",
  "load_skills_protocol_guide",
];

export const defaultServerLimits: ServerLimits = {
  connections: 4_096,
  requestBytes: 16 * 1024 * 1024,
  headerBytes: 16 * 1024,
  batch: 20,
  headerSeconds: 10,
  requestSeconds: 60,
  shutdownSeconds: 10,
  eventStreams: 256,
  unreadBytes: 48 * 1024 * 1024,
};

/** Without a configuration: everything is private, and nobody but those with a token sees anything. */
export const defaultConfig: ServeConfig = {
  provider: { name: "acp-skills", domain: "local" },
  publicUrl: undefined,
  access: { default: "private", public: [], restricted: [], private: [] },
  capabilityTypes: {},
  callers: [],
  anonymous: { tools: defaultAnonymousTools, limits: defaultAnonymousLimits },
  shares: [],
  sources: [],
  limits: defaultServerLimits,
};

/** The name of the caller that is this machine's user: its blobs and approvals are those of the command line. */
export const localCaller = "local";

/** What this machine's user needs to call a server without configured callers. */
export interface LocalTokens {
  /** The token of the caller `local`, who sees and may do what the user sees and may do. */
  readonly bearer: string;
  /** The token of the path `/s/<token>/`, below which all skills can be installed. */
  readonly share: string;
}

/** A configuration with the caller `local`, and a share of all skills. Their tokens are new, and known to nobody else. */
export function withLocalCaller(config: ServeConfig): { readonly config: ServeConfig; readonly tokens: LocalTokens } {
  const tokens = { bearer: newToken(), share: newToken() };
  const caller = {
    name: localCaller,
    tokenDigest: toTokenDigest(tokens.bearer),
    skills: ["*"],
    tools: undefined,
    grants: [],
    secrets: [],
    limits: defaultCallerLimits,
  };
  const share = { name: localCaller, tokenDigest: toTokenDigest(tokens.share), skills: ["*"] };
  return { config: { ...config, callers: [caller], shares: [...config.shares, share] }, tokens };
}
