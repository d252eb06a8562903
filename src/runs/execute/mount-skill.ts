import { SkillsError } from "../../errors.ts";
import type { MountedFile, MountedSkill } from "../../sandbox/sandbox.ts";
import { runInSlices } from "../../base/slices.ts";
import type { Skill } from "../../skills/skill.ts";
import type { SkillSource } from "../../skills/files/skill-bytes.ts";
import { walkSkill } from "../../skills/hash/walk-skill.ts";

/**
 * A skill as a sandbox sees it: the files that read_skill_file serves, and no others. Throws SKILL_NOT_READY where it is too large, or is no
 * longer what was read.
 */
export async function mountSkill(
  { files, bytes }: SkillSource,
  skill: Skill,
  roomBytes: number,
): Promise<MountedSkill> {
  const { name, directory, manifest } = skill;
  const walk = await runInSlices(walkSkill(files, directory), { now: () => performance.now(), slice: 3 });
  const mounted: MountedFile[] = [];
  let left = roomBytes;
  for (const { path, real } of walk.files) {
    const stamp = bytes.stamp(real);
    if (stamp === undefined) continue;
    left -= stamp.size;
    mounted.push({
      path,
      size: stamp.size,
      read: () => readWhole(path, stamp.size, () => bytes.head(real, stamp.size)),
    });
  }
  if (!walk.complete || left < 0) throw tooLarge(name, roomBytes);
  const runtime = manifest?.runtime;
  const entry = runtime && { file: runtime.entrypoint, export: runtime.export };
  if (entry !== undefined && !mounted.some((file) => file.path === entry.file)) throw entryMissing(name, entry.file);
  return { name, files: mounted, ...(entry !== undefined && { entry }) };
}

// eslint-disable-next-line @typescript-eslint/require-await
async function* readWhole(
  path: string,
  size: number,
  read: () => { readonly bytes: Uint8Array } | undefined,
): AsyncGenerator<Uint8Array> {
  const part = read();
  if (part?.bytes.length !== size) throw changed(path);
  yield part.bytes;
}

function changed(path: string): SkillsError {
  return new SkillsError("SKILL_NOT_READY", `The skill's file ${JSON.stringify(path)} has just changed.`, {
    facts: { hint: "Try again.", retryable: true },
  });
}

function tooLarge(name: string, roomBytes: number): SkillsError {
  const hint = `All skills of one run together may have ${roomBytes / 1024 / 1024} MiB.`;
  return new SkillsError("SKILL_NOT_READY", `The skill ${name} is too large to be run.`, {
    facts: { hint, retryable: false },
  });
}

function entryMissing(name: string, file: string): SkillsError {
  const message = `The skill ${name} names ${file} as its entrypoint, and has no such file.`;
  return new SkillsError("SKILL_NOT_READY", message, { facts: { hint: "Tell its author.", retryable: false } });
}
