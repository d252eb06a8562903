import { lstatSync } from "node:fs";
import path from "node:path";
import { LimitedMap } from "../../base/limited-map.ts";
import type { Log } from "../../base/log.ts";
import { checkPolicy } from "./check-policy.ts";
import type { PolicyLayer } from "./layer.ts";
import { looseningsOf } from "./loosenings.ts";
import { mergePolicies } from "./merge-policies.ts";
import { policyFileName } from "./policy-file.ts";
import { noPolicy } from "./policy.ts";
import type { Policy } from "./policy.ts";
import { readPolicyText, stampOf } from "./read-policy-file.ts";

/** The policies of this machine. */
export interface Policies {
  /** What counts in a session with this directory; without one, what counts everywhere. Files are read when they change. Never throws. */
  readonly policyFor: (directory: string | undefined) => Policy;
  /** The files that it is made from, with their problems; those that do not exist are left out. */
  readonly layersFor: (directory: string | undefined) => readonly PolicyLayer[];
}

export interface PoliciesOptions {
  /** The policy file of the configuration. */
  readonly given: string | undefined;
  readonly home: string;
  readonly log: Log;
  /** The organisation's file. Default: the platform's fixed place. */
  readonly organisation?: string;
}

/** Where an organisation puts its policy: a place that only administrators can write to. */
export function organisationPolicy(
  platform: NodeJS.Platform = process.platform,
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): string {
  if (platform === "darwin") return `/Library/Application Support/acp-skills/${policyFileName}`;
  // Unlike %ProgramData%, where all users may create directories.
  if (platform === "win32")
    return path.win32.join(env.ProgramFiles ?? "C:\\Program Files", "acp-skills", policyFileName);
  return `/etc/acp-skills/${policyFileName}`;
}

interface Place {
  readonly file: string;
  readonly origin: PolicyLayer["origin"];
}

const keptDirectories = 256;

export function openPolicies({ given, home, log, organisation = organisationPolicy() }: PoliciesOptions): Policies {
  const read = new LimitedMap<string, { readonly stamp: string; readonly layer: PolicyLayer }>(keptDirectories);
  const merged = new LimitedMap<string, Merged>(keptDirectories);
  const everywhere: readonly Place[] = [
    { file: organisation, origin: "organisation" },
    ...(given === undefined ? [] : [{ file: given, origin: "configuration" as const }]),
  ];

  function readLayer(place: Place, stamp: string): PolicyLayer {
    const known = read.get(place.file);
    if (known?.stamp === stamp) return known.layer;
    const layer = toLayer(place, home);
    read.set(place.file, { stamp, layer });
    return layer;
  }

  function mergedFor(directory: string | undefined): Merged {
    const places = [...everywhere, ...(directory === undefined ? [] : placesIn(directory))];
    const stamps = places.map(
      ({ file, origin }) => stampOf(file) ?? (file === given ? `missing ${origin}` : undefined),
    );
    const stamp = stamps.join("\n");
    const known = merged.get(directory ?? "");
    if (known?.stamp === stamp && known.places === places.length) return known;
    const found = places.flatMap((place, index) => {
      const own = stamps[index];
      return own === undefined ? [] : [readLayer(place, own)];
    });
    const layers = found.map((layer, index) => {
      const loosenings = looseningsOf(layer, found.slice(0, index), home);
      return loosenings.length === 0 ? layer : { ...layer, problems: [...layer.problems, ...loosenings] };
    });
    const policy = layers.length === 0 ? noPolicy : mergePolicies(layers, home);
    const next: Merged = { stamp, places: places.length, layers, policy };
    merged.set(directory ?? "", next);
    tell(layers, known?.layers ?? []);
    return next;
  }

  /** Logs the problems of files that are new or have changed. */
  function tell(layers: readonly PolicyLayer[], before: readonly PolicyLayer[]): void {
    const told = new Set(before.flatMap(({ problems }) => problems.map(toLine)));
    for (const { problems } of layers)
      for (const problem of problems) if (!told.has(toLine(problem))) log(problem.severity, toLine(problem));
  }

  return {
    policyFor: (directory) => mergedFor(directory).policy,
    layersFor: (directory) => mergedFor(directory).layers,
  };
}

interface Merged {
  readonly stamp: string;
  readonly places: number;
  readonly layers: readonly PolicyLayer[];
  readonly policy: Policy;
}

function toLine({ file, line, column, message, fix }: PolicyLayer["problems"][number]): string {
  return `${file}:${line}:${column}: ${message}. ${fix}`;
}

/** Reads one file. */
export function toLayer({ file, origin }: Place, home: string): PolicyLayer {
  const found = readPolicyText(file, origin);
  if ("text" in found) return { file, origin, ...checkPolicy(file, found.text, home) };
  const start = { file, line: 1, column: 1 };
  const { fault: message, fix } = found;
  const problem = { code: "policy-unreadable", severity: "error", ...start, message, fix } as const;
  return { file, origin, policy: undefined, problems: [problem], placeOf: () => start };
}

/** A project's files: in the directory of the session, and at the root of the repository that contains it. */
function placesIn(directory: string): readonly Place[] {
  const root = repositoryRoot(directory);
  return [...(root === undefined || root === directory ? [] : [root]), directory].map((place) => ({
    file: path.join(place, policyFileName),
    origin: "project",
  }));
}

/** The nearest directory with a `.git` that another user cannot have put there. */
function repositoryRoot(directory: string): string | undefined {
  const user = process.getuid?.();
  for (let place = directory; ; place = path.dirname(place)) {
    const owner = ownerOf(path.join(place, ".git"));
    if (owner !== undefined && (user === undefined || [0, user, ownerOf(directory)].includes(owner))) return place;
    if (place === path.dirname(place)) return undefined;
  }
}

function ownerOf(file: string): number | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.uid;
  } catch {
    return undefined; // In a directory that cannot be searched.
  }
}
