import path from "node:path";
import { lstatSync } from "node:fs";
import { LimitedMap } from "../../../base/limited-map.ts";
import type { Log } from "../../../base/log.ts";
import { checkPolicy } from "./check-policy.ts";
import type { PolicyLayer } from "./layers.ts";
import { looseningsOf, mergePolicies } from "./merge-policies.ts";
import { type GuardedText, readGuardedFile } from "../../../base/paths/read-guarded-file.ts";
import { fileStamp } from "../../../base/paths/identity.ts";
import type { Policy, PolicyRefusal } from "../policy.ts";
import { readLicense } from "../../../skills/licenses.ts";
import type { Skill, Snapshot } from "../../../skills/skill.ts";
import { organisationPolicy, policyFileName } from "../../../base/paths/directories.ts";
import { isRepository } from "../project-of.ts";
import { policyLimits } from "./policy-file.ts";

/** The policies of this machine. */
export interface Policies {
  /** The policy for a session in a directory; without one, the policy that counts everywhere. Reads changed files again. Never throws. */
  readonly policyFor: (directory: string | undefined) => Policy;
  /** The existing files behind `policyFor`, with their problems. */
  readonly layersFor: (directory: string | undefined) => readonly PolicyLayer[];
}

export interface PoliciesOptions {
  /** The policy file of the configuration. */
  readonly given: string | undefined;
  readonly home: string;
  readonly log: Log;
  /** The organisation's file. Default: the platform's fixed path. */
  readonly organisation?: string;
  /** The organisation's current policy for many machines. Returns another object exactly if the policy is another one. */
  readonly shared?: (() => SharedPolicy | undefined) | undefined;
}

/** A policy of the organisation that is no file on this machine. With a fault, nothing beyond the sandbox is allowed. */
export type SharedPolicy = { readonly name: string } & (
  { readonly text: string } | { readonly fault: string; readonly fix: string }
);

const maxCachedDirectories = 256;

interface Merged {
  readonly stamp: string;
  readonly ofAll: SharedPolicy | undefined;
  readonly layers: readonly PolicyLayer[];
  readonly policy: Policy;
}

export function createPolicies(options: PoliciesOptions): Policies {
  const { given, home, log, organisation = organisationPolicy(), shared } = options;
  const merged = new LimitedMap<string, Merged>(maxCachedDirectories);

  function mergedFor(directory: string | undefined): Merged {
    const locations: readonly PolicyFileLocation[] = [
      { file: organisation, origin: "organisation" },
      ...(given === undefined ? [] : [{ file: given, origin: "configuration" as const }]),
      ...(directory === undefined ? [] : locationsIn(directory)),
    ];
    const found = locations.flatMap((location) => {
      const stamp = fileStamp(location.file) ?? (location.file === given ? "missing" : undefined);
      return stamp === undefined ? [] : [{ location, stamp: `${location.file} ${stamp}` }];
    });
    const ofAll = shared?.();
    const stamp = found.map((one) => one.stamp).join("\n");
    const known = merged.get(directory ?? "");
    if (known?.stamp === stamp && known.ofAll === ofAll) return known;
    const read = [
      ...(ofAll === undefined ? [] : [readLayer(ofAll.name, "organisation", ofAll, home)]),
      ...found.map(({ location }) => toLayer(location, home)),
    ];
    const layers = read.map((layer, index) => {
      return { ...layer, problems: [...layer.problems, ...looseningsOf(layer, read.slice(0, index), home)] };
    });
    const next: Merged = { stamp, ofAll, layers, policy: layers.length === 0 ? noPolicy : mergePolicies(layers, home) };
    merged.set(directory ?? "", next);
    logNewProblems(layers, known?.layers ?? []);
    return next;
  }

  /** Logs the problems of files that are new or have changed. */
  function logNewProblems(layers: readonly PolicyLayer[], before: readonly PolicyLayer[]): void {
    const known = new Set(before.flatMap(({ problems }) => problems.map(toLine)));
    for (const problem of layers.flatMap(({ problems }) => problems))
      // `policy check` reports this to the author of the policy; the policy counts as it is.
      if (problem.code !== "policy-implied" && !known.has(toLine(problem))) log(problem.severity, toLine(problem));
  }

  return {
    policyFor: (directory) => mergedFor(directory).policy,
    layersFor: (directory) => mergedFor(directory).layers,
  };
}

function toLine({ file, line, column, message, fix }: PolicyLayer["problems"][number]): string {
  return `${file}:${line}:${column}: ${message}. ${fix}`;
}

type ReadText = { readonly text: string } | { readonly fault: string; readonly fix: string };

/** Reads one policy file. */
export function toLayer({ file, origin }: PolicyFileLocation, home: string): PolicyLayer {
  return readLayer(file, origin, readPolicyText(file, origin), home);
}

function readLayer(file: string, origin: PolicyLayer["origin"], found: ReadText, home: string): PolicyLayer {
  if ("text" in found) return { file, origin, ...checkPolicy(file, found.text, home) };
  const start = { file, line: 1, column: 1 };
  const { fault: message, fix } = found;
  const problem = { code: "policy-unreadable", severity: "error", ...start, message, fix } as const;
  return { file, origin, policy: undefined, problems: [problem], positionOf: () => start };
}

/** The policy without any policy file. */
export const noPolicy: Policy = mergePolicies([], "");

/** The path of a possible policy file, and its origin. */
type PolicyFileLocation = Pick<PolicyLayer, "file" | "origin">;

/** A project's files: in the directory of the session, and at the root of the repository that contains it. */
function locationsIn(directory: string): readonly PolicyFileLocation[] {
  const root = repositoryRoot(directory);
  return [...(root === undefined || root === directory ? [] : [root]), directory].map((above) => ({
    file: path.join(above, policyFileName),
    origin: "project",
  }));
}

/** The nearest directory upwards with a git repository that no other user can have created. */
function repositoryRoot(directory: string): string | undefined {
  const user = process.getuid?.();
  for (let above = directory; ; above = path.dirname(above)) {
    const git = path.join(above, ".git");
    const owner = ownerOf(git);
    const isOurs = owner !== undefined && (user === undefined || [0, user, ownerOf(directory)].includes(owner));
    if (isOurs && isRepository(git)) return above;
    if (above === path.dirname(above)) return undefined;
  }
}

function ownerOf(file: string): number | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.uid;
  } catch {
    return undefined; // In a directory that cannot be searched.
  }
}

/** Reads a policy file, or returns why it cannot be read. */
export function readPolicyText(file: string, origin: PolicyLayer["origin"]): GuardedText {
  const of = origin === "project" ? "project" : "user";
  const read = readGuardedFile(file, { maxBytes: policyLimits.bytes, of });
  if (!("fault" in read) || read.fault !== "there is no such file") return read;
  return { ...read, fix: "Create it, or correct the name, for example in $ACP_SKILLS_POLICY." };
}

/** The denied skills, each with the reason. */
export type DeniedSkills = ReadonlyMap<Skill, PolicyRefusal>;

const noneDenied: DeniedSkills = new Map();

const knownDenied = new WeakMap<Snapshot, { readonly policy: Policy; readonly denied: DeniedSkills }>();

/**
 * The versions of skills that a policy denies as such, so that models do not see them. Only licenses that skills state are considered. A
 * skill that states none is judged by its license files when it is used.
 */
export function deniedSkills(policy: Policy, snapshot: Snapshot): DeniedSkills {
  const { hides } = policy;
  if (hides === undefined) return noneDenied;
  const before = knownDenied.get(snapshot);
  if (before?.policy === policy) return before.denied;
  const denied = new Map<Skill, PolicyRefusal>();
  for (const { versions, sources, isOwn = false, remote } of snapshot.skills) {
    for (const skill of versions) {
      const { name, slug, directory, license } = skill;
      const judged = {
        name,
        slug,
        isOwn,
        source: sources[0] ?? directory,
        directory,
        origin: remote && { source: remote.label, url: remote.url },
      };
      const refusal = hides(judged, license === undefined ? undefined : (readLicense(license) ?? "unknown"));
      if (refusal !== undefined) denied.set(skill, refusal);
    }
  }
  knownDenied.set(snapshot, { policy, denied });
  return denied;
}
