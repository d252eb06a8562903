import type { Resolve } from "../../base/network/resolve.ts";
import { unlessAborted } from "../../base/promises/unless-aborted.ts";
import { SkillsError } from "../../base/errors.ts";
import type { AddressRules } from "../fetch/address-rules.ts";
import type { GitRemote } from "./program/git-settings.ts";
import type { GitUrl } from "../git.ts";

/** How hosts are looked up and judged: the same as for every other connection. */
export interface NetworkChecks {
  readonly rules: AddressRules;
  readonly resolve: Resolve;
}

const mostAddresses = 8;

/** Looks up the host of a repository, and checks its addresses; git then connects to these only. Throws ENDPOINT_UNREACHABLE. */
export async function pinRemote(
  url: GitUrl,
  { rules, resolve }: NetworkChecks,
  signal: AbortSignal,
): Promise<GitRemote> {
  // For ssh the rules are those of https.
  const scheme = url.scheme === "http" ? "http" : "https";
  const target = rules.targetOf(new URL(`${scheme}://${url.host.text}:${url.port}/`));
  const addresses = url.host.address === undefined ? await lookUp(url.host.text, resolve, signal) : [url.host.address];
  const why = rules.judge(target, addresses);
  if (why !== undefined) throw new SkillsError("ENDPOINT_UNREACHABLE", `${why}.`);
  return { url, addresses: addresses.slice(0, mostAddresses) };
}

async function lookUp(host: string, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  let addresses: readonly string[] = [];
  let cause: unknown;
  try {
    addresses = await unlessAborted(resolve(host, signal), signal);
  } catch (error) {
    signal.throwIfAborted();
    cause = error;
  }
  if (addresses.length > 0) return addresses;
  throw new SkillsError("ENDPOINT_UNREACHABLE", `${host} cannot be resolved.`, { cause });
}
