import { newToken, toTokenDigest } from "../../wire/http/token.ts";
import { defaultCallerLimits } from "./default-config.ts";
import type { ServeConfig } from "./serve-config.ts";

/** The name of the caller that is this machine's user: its blobs and approvals are those of the command line. */
export const localCaller = "local";

/** What this machine's user needs to call a server without configured callers. */
export interface LocalTokens {
  /** Of the caller `local`, who sees and may do what the user sees and may do. */
  readonly bearer: string;
  /** Of the path `/s/<token>/`, below which all skills can be installed. */
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
