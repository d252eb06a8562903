import type { ToolName } from "../../runtime/tool.ts";
import type { AccessPolicy, CapabilityType } from "../../wire/skill-sharing.ts";

/** Limits on one caller. */
export interface CallerLimits {
  readonly requestsPerMinute: number;
  /** Requests at a time; of anonymous callers, of one address. */
  readonly concurrentRequests: number;
}

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

/** Limits on the whole server, by name. */
export interface ServerLimits {
  readonly connections: number;
  readonly requestBytes: number;
  readonly headerBytes: number;
  /** Calls in one JSON-RPC batch. */
  readonly batch: number;
  /** Until the head of a request, and until all of it has arrived. */
  readonly headerSeconds: number;
  readonly requestSeconds: number;
  /** How long runs may go on after the server was told to stop. */
  readonly shutdownSeconds: number;
  readonly eventStreams: number;
  /** Of answers to clients without token; of one address or caller, half of it. */
  readonly unreadBytes: number;
}

/** What `serve` is told: the file of `--config` with defaults filled in. */
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
