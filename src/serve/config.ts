import type { AccessPolicy, CapabilityType } from "../wire/skill-sharing.ts";
import { newToken, toTokenDigest } from "../wire/http.ts";
import type { ToolName } from "../wire/tools.ts";
import type { WrittenConfig } from "./config/config-schema.ts";

/** Limits on one caller. */
export type CallerLimits = Readonly<Required<NonNullable<NonNullable<WrittenConfig["anonymous"]>["limits"]>>>;

/** Limits on the whole server, by name; the schema describes them. */
export type ServerLimits = Readonly<Required<NonNullable<WrittenConfig["limits"]>>>;

/** A caller of the configuration. Lists of skills are patterns over canonical names; `*` stands for any characters. */
export interface CallerConfig {
  /** The unique name, `^[a-z0-9-]{1,64}$`, which owns the caller's blobs and runs. */
  readonly name: string;
  /** The SHA-256 of the bearer token. */
  readonly tokenDigest: Buffer;
  /** Patterns of the skills that the caller sees. Default: all. */
  readonly skills: readonly string[];
  /** The tools that the caller may call. Default: all. */
  readonly tools: readonly ToolName[] | undefined;
  /** Grants for runs of this caller only: `NAME@DIGEST[:PERMISSION,…]`. Default: none. */
  readonly grants: readonly string[];
  /** Names of secrets that runs of this caller may get. Default: none. */
  readonly secrets: readonly string[];
  readonly limits: CallerLimits;
}

/** A set of skills behind the path `/s/<token>/`, for clients that cannot send credentials. */
export interface ShareConfig {
  readonly name: string;
  /** The SHA-256 of the path's token. */
  readonly tokenDigest: Buffer;
  /** Patterns of the skills in the share. Default: all. */
  readonly skills: readonly string[];
}

/** The configuration of `serve`: the file of `--config` with defaults filled in. */
export interface ServeConfig {
  readonly provider: {
    readonly name: string;
    readonly url?: string;
    /** The reversed domain, which begins every id: `com.example`. */
    readonly domain: string;
  };
  /** The URL by which clients reach the server, such as `https://skills.example`, without a slash at its end. Default: its address. */
  readonly publicUrl: string | undefined;
  /** Patterns of skills by access. If several match, the strictest counts; if none matches, `default`. */
  readonly access: { readonly default: AccessPolicy } & {
    readonly [Policy in AccessPolicy]: readonly string[];
  };
  /** Patterns of skills whose published type differs from that of their kind. */
  readonly capabilityTypes: { readonly [Type in CapabilityType]?: readonly string[] };
  readonly callers: readonly CallerConfig[];
  readonly anonymous: { readonly tools: readonly ToolName[]; readonly limits: CallerLimits };
  readonly shares: readonly ShareConfig[];
  /** Sources of further skills, as for `--source`. */
  readonly sources: readonly string[];
  readonly limits: ServerLimits;
}

/** The part of the configuration that changes while the server runs. */
export type CallerShares = Pick<ServeConfig, "callers" | "shares">;

export const defaultCallerLimits: CallerLimits = { requestsPerMinute: 1_200, concurrentRequests: 64 };

export const defaultAnonymousLimits: CallerLimits = { requestsPerMinute: 300, concurrentRequests: 8 };

/** The tools that anyone may call: those that read, and runs of public skills, which get no permissions. */
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

/** The configuration without a file: everything is private, so that only callers with a token see anything. */
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

/** The name of the caller that is this machine's user, with the blobs and approvals of the command line. */
export const localCaller = "local";

/** The tokens with which this machine's user calls a server without configured callers. */
export interface LocalTokens {
  /** The token of the caller `local`, which sees and may do all that the user sees and may do. */
  readonly bearer: string;
  /** The token of the path `/s/<token>/`, below which all skills can be installed. */
  readonly share: string;
}

/** Adds the caller `local` and a share of all skills to a configuration. Their tokens are new, and known to nobody else. */
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
