import type { Publication, PublishedSkill } from "../publication.ts";
import { shorten } from "../shorten.ts";
import { toArtifactName } from "./artifact-path.ts";
import type { Artifact } from "./artifacts.ts";

/** Clients compare it as a string, and ignore an index with another one. */
const schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
/** In UTF-16 units: clients drop an entry whose description is longer. */
const maxDescription = 1_024;

/** The index of Agent Skills discovery 0.2, of those skills that have an artifact. Pure. */
export function toIndexDocument(
  { skills }: Publication,
  artifacts: ReadonlyMap<string, Artifact>,
  mayHave: (published: PublishedSkill) => boolean,
): string {
  const entries = skills.flatMap((published) => {
    const { slug, description } = published.skill;
    const artifact = artifacts.get(slug);
    if (artifact === undefined || !mayHave(published)) return [];
    const { type, digest } = artifact;
    // Relative: it holds below a share's prefix, and behind proxies.
    return [
      {
        name: slug,
        type,
        description: shorten(description, maxDescription),
        url: toArtifactName(artifact.name),
        digest,
      },
    ];
  });
  return JSON.stringify({ $schema: schema, skills: entries });
}
