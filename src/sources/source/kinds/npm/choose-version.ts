import maxSatisfying from "semver/ranges/max-satisfying.js";
import satisfies from "semver/functions/satisfies.js";
import validRange from "semver/ranges/valid.js";
import { isObject } from "../../../../base/json/json-value.ts";
import { cutCodePoints, shortList } from "../../../../base/text/code-points.ts";
import { withoutControls } from "../../../../base/text/unsafe-characters.ts";
import type { PinnedPackage, WantedPackage } from "./package-text.ts";
import { badSource } from "../../source-label.ts";

/** A version as its registry describes it. */
export interface PublishedVersion extends PinnedPackage {
  readonly integrity: string;
  /** The absolute URL of the package. */
  readonly tarball: string;
  /** The publisher's warning against using it. */
  readonly deprecated: string | undefined;
  /** The latest possible time of publication, as the registry reports it, in milliseconds since 1970. */
  readonly publishedAt?: number;
}

const maxMessageLength = 200;
const maxUrlLength = 2_048;

/** Chooses the version of a package that npm would install, from the registry's list of all. Throws SOURCE_INVALID. */
export function chooseVersion(packument: unknown, { name, range }: WantedPackage): PublishedVersion {
  const [all, tags] = isObject(packument) ? [packument["versions"], packument["dist-tags"]] : [];
  if (!isObject(packument) || packument["name"] !== name || !isObject(all) || !isObject(tags))
    throw badSource(`The registry did not answer with the versions of ${name}`);
  const wanted = range === "" ? "latest" : range;
  const version = Object.hasOwn(tags, wanted) ? tags[wanted] : versionIn(wanted, all, tags["latest"]);
  if (typeof version !== "string" || !Object.hasOwn(all, version)) {
    const offered = shortList(Object.keys(tags), 5);
    throw badSource(`No version of ${name} is ${wanted}; its registry has the tags ${offered === "" ? "" : offered}`);
  }
  return { ...toPublished(all[version], { name, version }), ...publishedAt(packument, version) };
}

/** Returns the time of publication; for the short form of an answer, the last change of the package, which was not earlier. */
function publishedAt(packument: Readonly<Record<string, unknown>>, version: string): { readonly publishedAt?: number } {
  const { time, modified } = packument;
  const text = isObject(time) ? time[version] : modified;
  const at = typeof text === "string" ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? {} : { publishedAt: at };
}

/** Returns the recommended version if it is in the range, else the highest that is; deprecated ones only if there is no other. */
function versionIn(range: string, all: Readonly<Record<string, unknown>>, latest: unknown): string | undefined {
  if (validRange(range) === null) return undefined;
  const isGood = (version: string): boolean => deprecationOf(all[version]) === undefined;
  if (typeof latest === "string" && Object.hasOwn(all, latest) && satisfies(latest, range) && isGood(latest))
    return latest;
  const versions = Object.keys(all);
  return maxSatisfying(versions.filter(isGood), range) ?? maxSatisfying(versions, range) ?? undefined;
}

function toPublished(manifest: unknown, { name, version }: Omit<PinnedPackage, "integrity">): PublishedVersion {
  const what = `${name}@${version}`;
  const dist = isObject(manifest) ? manifest["dist"] : undefined;
  if (!isObject(manifest) || manifest["name"] !== name || manifest["version"] !== version || !isObject(dist))
    throw badSource(`What the registry says of ${what} is of another package`);
  const { tarball, integrity } = dist;
  if (typeof tarball !== "string" || tarball.length > maxUrlLength || !URL.canParse(tarball))
    throw badSource(`The registry does not say where ${what} is`);
  const strong =
    typeof integrity === "string" ? /(?:^|\s)(sha512-[A-Za-z0-9+/]{86}==)(?:\s|\?|$)/.exec(integrity) : null;
  if (strong?.[1] === undefined)
    throw badSource(
      `${what} has no sha512 integrity in its registry, so its bytes cannot be verified; its publisher has to publish it again`,
    );
  return { name, version, integrity: strong[1], tarball, deprecated: deprecationOf(manifest) };
}

function deprecationOf(manifest: unknown): string | undefined {
  const message = isObject(manifest) ? manifest["deprecated"] : undefined;
  if (typeof message !== "string" || message === "") return undefined;
  return cutCodePoints(withoutControls(message).replace(/\s+/g, " ").trim(), maxMessageLength);
}
