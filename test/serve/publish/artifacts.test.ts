import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createArtifacts } from "../../../src/serve/publish/artifacts.ts";
import type { PublishedSkill } from "../../../src/serve/publish/publication.ts";
import { memorySkillBytes, memorySkillFiles } from "../../skills/files/memory-skill-files.ts";
import { manualClock } from "../../manual-clock.ts";

const big = 40 * 1024 * 1024;

test("what no longer fits into memory is made again, with the same bytes, once while anybody holds it", async () => {
  const names = ["a", "b", "c", "d"];
  const files = memorySkillFiles();
  // Of one file each, so that nothing is compressed.
  for (const name of names) files.write(`/${name}/SKILL.md`, new Uint8Array(big).fill(name.charCodeAt(0)));
  const artifacts = createArtifacts({
    source: { files, bytes: memorySkillBytes(files) },
    clock: manualClock(),
    log: (_level, message) => expect.unreachable(message),
  });
  const skills = names.map(
    (slug) => ({ skill: { slug, directory: `/${slug}`, file: `/${slug}/SKILL.md` } }) as PublishedSkill,
  );
  const made = await Promise.all(skills.map((published) => artifacts.of(published)));
  const held: Uint8Array[] = [];
  for (const [at, published] of skills.entries()) {
    const { name, digest } = made[at]!;
    const [one, other] = await Promise.all([artifacts.read(published, name), artifacts.read(published, name)]);
    expect(`sha256:${createHash("sha256").update(one!).digest("hex")}`).toBe(digest);
    expect(other?.length).toBe(big);
    held.push(one!);
  }
  for (const [at, published] of skills.entries())
    expect(await artifacts.read(published, made[at]!.name)).toBe(held[at]);
});
