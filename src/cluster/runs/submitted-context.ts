import * as z from "zod";
import type { SubmittedRun } from "../../runtime/runs.ts";
import { isNothing, permissionsOf } from "../../skills/permissions.ts";

const text = z.string();

const submittedSkill = z.strictObject({
  slug: text,
  version: text,
  digest: text,
  /** The directory under which the one who submitted the run found it: of that machine, for decisions about where skills are from. */
  root: text,
  directory: text,
  isOwn: z.boolean(),
  remote: z.strictObject({ label: text, place: text.exactOptional(), commit: text.exactOptional() }).exactOptional(),
});

/** What a worker needs besides the spec of a run: who calls, what allows calls of other skills, and where these are from. */
export const submittedContext = z.strictObject({
  by: text,
  calls: z.array(text).readonly(),
  refused: z.array(text).readonly(),
  /** Who calls from elsewhere. Absent: a user of the machine that submitted the run. */
  caller: text.exactOptional(),
  /** Texts of the grants that such a caller has. */
  grants: z.array(text).readonly().exactOptional(),
  /** Names of the secrets that the runs may get. */
  secrets: z.array(text).readonly().exactOptional(),
  project: text.exactOptional(),
  runBlobs: z.strictObject({ maxBytes: z.number(), maxBlobs: z.number() }),
  skills: z.array(submittedSkill).readonly(),
  /** Whether somebody reads what it prints. */
  isFollowed: z.boolean(),
});

export type SubmittedContext = z.infer<typeof submittedContext>;
export type SubmittedSkill = z.infer<typeof submittedSkill>;

/** The context of a run. */
export function toSubmittedContext({ caller, by, facts }: SubmittedRun): SubmittedContext {
  const { skills } = caller;
  return {
    by,
    calls: facts.calls,
    refused: facts.refused,
    ...(caller.caller !== undefined && { caller: caller.caller }),
    ...(caller.grants !== undefined && { grants: caller.grants.exactTexts }),
    ...(caller.secrets !== undefined && { secrets: caller.secrets }),
    ...(caller.project !== undefined && { project: caller.project }),
    runBlobs: caller.limits.runBlobs,
    isFollowed: caller.onEvent !== undefined,
    skills: facts.skills.map(({ skill, digest }) => {
      const remote = skills.remoteOf(skill);
      const commit = remote?.provenanceOf(skill.directory)?.commit;
      return {
        slug: skill.slug,
        version: skill.version,
        digest,
        root: skills.rootOf(skill),
        directory: skill.directory,
        isOwn: skills.isOwn(skill),
        ...(remote && {
          remote: {
            label: remote.label,
            ...(remote.place !== undefined && { place: remote.place }),
            ...(commit !== undefined && { commit }),
          },
        }),
      };
    }),
  };
}

/** Whether executing a run twice could be noticed: it, or a skill that its code can call, reaches beyond its sandbox. */
export function hasEffects({ spec, facts }: SubmittedRun): boolean {
  return !isNothing(spec.needs) || facts.skills.some(({ skill }) => !isNothing(permissionsOf(skill)));
}

const label = /^[a-z0-9][a-z0-9._-]{0,62}(?:=[a-zA-Z0-9][a-zA-Z0-9._-]{0,62})?$/;
const maxLabels = 8;

/** The labels of a text such as `gpu arch=arm64`, sorted; undefined where it is none. */
export function labelsIn(written: string): readonly string[] | undefined {
  const labels = [...new Set(written.split(/[\s,]+/).filter((word) => word !== ""))].toSorted();
  return labels.length <= maxLabels && labels.every((one) => label.test(one)) ? labels : undefined;
}

/** What a skill demands of a worker: the key `runs-on` of its metadata. */
export const demandKey = "runs-on";
