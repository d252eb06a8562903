import type { App } from "../../runtime/app.ts";
import { ConfiguredGrants } from "../../runtime/trust.ts";
import { type RunCaller, type RunSpec, maxMountedBytes } from "../../runtime/runs.ts";
import { SkillsError } from "../../base/errors.ts";
import type { RunListener } from "../../wire/run-event.ts";
import type { Skill } from "../../skills/skill.ts";
import { loadManifestReader, needsManifestReader, readDirectory } from "../../skills/skillset.ts";
import type { Clock } from "../../base/clock.ts";
import { duringOutages } from "../database/during-outages.ts";
import type { SkillPacks } from "../skills.ts";
import type { SubmittedSkill, SubmittedContext } from "../runs/submitted-context.ts";

/** Restores the caller that the submitting member had: with the skills of the run, from their stored bytes, and no user to ask. */
export async function toSubmittedCaller(
  spec: RunSpec,
  context: SubmittedContext,
  stores: {
    readonly app: App;
    readonly packs: SkillPacks;
    readonly clock: Clock;
    readonly onEvent: RunListener;
    readonly signal: AbortSignal;
  },
): Promise<RunCaller> {
  const { app, packs, onEvent, signal } = stores;
  const found: { readonly skill: Skill; readonly submitted: SubmittedSkill }[] = [];
  for (const submitted of context.skills) {
    const directory = await duringOutages(() => packs.ensure(submitted.digest, submitted.slug, signal), {
      clock: stores.clock,
      signal,
    });
    found.push({ skill: await readSkill(directory, submitted, app), submitted });
  }
  const submittedOf = (skill: Skill): SubmittedSkill => {
    const one = found.find((other) => other.skill === skill);
    if (one === undefined) throw new Error(`${skill.name} is no skill of the run.`);
    return one.submitted;
  };
  const { caller, grants, secrets, project } = context;
  return {
    owner: spec.owner,
    transport: spec.door,
    sessionId: spec.session,
    subagent: spec.subagent,
    label: spec.label,
    callerName: caller,
    project,
    secrets,
    onEvent,
    ...(grants !== undefined && { grants: new ConfiguredGrants(grants) }),
    blobs: app.blobs,
    limits: { runBlobs: context.runBlobs },
    signatures: app.signatures,
    sourceOf: () => app.source,
    hashFiles: async (skill, during) =>
      await app.hasher.hash(app.source, skill.directory, during, { maxBytes: maxMountedBytes }),
    skills: {
      find(nameOrSlug, version) {
        const named = found.filter(({ skill }) => skill.slug === nameOrSlug || skill.name === nameOrSlug);
        const versions = named.map(({ skill }) => skill);
        const skill = version === undefined ? versions[0] : versions.find((one) => one.version === version);
        if (skill === undefined) throw new SkillsError("SKILL_NOT_FOUND", `The run has no skill ${nameOrSlug}.`);
        return { skill, versions };
      },
      all: () => found.map(({ skill }) => skill),
      isOwn: (skill) => submittedOf(skill).isOwn,
      rootOf: (skill) => submittedOf(skill).root,
      remoteOf(skill) {
        const { remote, digest } = submittedOf(skill);
        if (remote === undefined) return undefined;
        const { label, place, commit } = remote;
        return { label, url: place, provenanceOf: () => ({ digest, ...(commit !== undefined && { commit }) }) };
      },
      lookAlike: () => undefined,
      ownDirectories: () => [],
    },
  };
}

/** Reads the skill in a directory, under the slug that it had when the run was submitted. */
async function readSkill(directory: string, { slug }: SubmittedSkill, app: App): Promise<Skill> {
  let record = readDirectory(directory, slug, app.source);
  if (record === needsManifestReader) {
    await loadManifestReader();
    record = readDirectory(directory, slug, app.source);
  }
  const skill = record === needsManifestReader ? undefined : record?.skill;
  if (skill === undefined)
    throw new SkillsError(
      "SKILL_NOT_READY",
      `The stored files of ${slug} are no skill for this version of acp-skills.`,
    );
  return skill.slug === slug ? skill : { ...skill, slug, name: slug, namespace: slug };
}
