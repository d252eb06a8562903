import type { LoopbackAddress } from "./loopback-server.ts";

const urlName = "ACP_SKILLS_MCP_URL";
const authorizationName = "ACP_SKILLS_MCP_AUTHORIZATION";

/** Where the bridge finds the server of the process that had it started. */
export interface BridgeTarget {
  readonly url: string;
  readonly authorization: string;
}

/** The environment for a bridge to this address: other users of the machine can read arguments, but not this. */
export function toBridgeEnvironment({
  url,
  headers,
}: Pick<LoopbackAddress, "url" | "headers">): Record<string, string> {
  return { [urlName]: url, [authorizationName]: headers.Authorization };
}

/** Undefined where the environment names no server on this machine. */
export function fromBridgeEnvironment(environment: NodeJS.ProcessEnv): BridgeTarget | undefined {
  const url = environment[urlName];
  const authorization = environment[authorizationName];
  if (url === undefined || authorization === undefined || !URL.canParse(url)) return undefined;
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && hostname === "127.0.0.1" ? { url, authorization } : undefined;
}
