import * as z from "zod";
import type { SubmittedRun } from "../../runtime/runs.ts";
import { isNothing, permissionsOf } from "../../skills/permissions.ts";

const text = z.string();

const submittedSkill = z.strictObject({
  slug: text,
  version: text,
  digest: text,
  /** The directory below which the submitting member found the skill, on its machine: it decides about the source of the skill. */
  root: text,
  directory: text,
  isOwn: z.boolean(),
  remote: z.strictObject({ label: text, place: text.exactOptional(), commit: text.exactOptional() }).exactOptional(),
});

/** The facts that a worker needs besides the spec of a run: the caller, the approval of calls of other skills, and their sources. */
export const submittedContext = z.strictObject({
  by: text,
  calls: z.array(text).readonly(),
  refused: z.array(text).readonly(),
  /** The remote caller. Absent: a user of the machine that submitted the run. */
  caller: text.exactOptional(),
  /** The texts of the remote caller's grants. */
  grants: z.array(text).readonly().exactOptional(),
  /** Names of the secrets that the runs may get. */
  secrets: z.array(text).readonly().exactOptional(),
  project: text.exactOptional(),
  runBlobs: z.strictObject({ maxBytes: z.number(), maxBlobs: z.number() }),
  skills: z.array(submittedSkill).readonly(),
  /** Whether the caller follows the events of the run. */
  isFollowed: z.boolean(),
});

export type SubmittedContext = z.infer<typeof submittedContext>;
export type SubmittedSkill = z.infer<typeof submittedSkill>;

/** Returns the context of a run. */
export function toSubmittedContext({ caller, by, facts }: SubmittedRun): SubmittedContext {
  const { skills } = caller;
  return {
    by,
    calls: facts.calls,
    refused: facts.refused,
    ...(caller.callerName !== undefined && { caller: caller.callerName }),
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
            ...(remote.url !== undefined && { place: remote.url }),
            ...(commit !== undefined && { commit }),
          },
        }),
      };
    }),
  };
}

/** Whether repeating a run could be noticed: the run, or a skill that its code can call, reaches beyond its sandbox. */
export function hasEffects({ spec, facts }: SubmittedRun): boolean {
  return !isNothing(spec.needs) || facts.skills.some(({ skill }) => !isNothing(permissionsOf(skill)));
}

const label = /^[a-z0-9][a-z0-9._-]{0,62}(?:=[a-zA-Z0-9][a-zA-Z0-9._-]{0,62})?$/;
const maxLabels = 8;

/** Parses the labels of a text such as `gpu arch=arm64`, and sorts them; undefined if the text is invalid. */
export function labelsIn(written: string): readonly string[] | undefined {
  const labels = [...new Set(written.split(/[\s,]+/).filter((word) => word !== ""))].toSorted();
  return labels.length <= maxLabels && labels.every((one) => label.test(one)) ? labels : undefined;
}

/** The key in the metadata of a skill for the labels that it demands of a worker. */
export const demandKey = "runs-on";
