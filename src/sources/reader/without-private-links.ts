import type { Fetcher } from "../fetch/fetcher.ts";
import type { RemoteContent, RemoteSkill } from "../remote-skill.ts";

const why = "it is on a private host, to which a public source must not lead";

/** The skill, of no use if what it is downloaded from is a private host that a person allowed for others than `from`. */
export function withoutPrivateLinks(
  skill: RemoteSkill,
  from: string,
  { leadsInside }: Pick<Fetcher, "leadsInside">,
): RemoteSkill {
  const found = urlsOf(skill.content).find((url) => leadsInside(from, url));
  if (found === undefined) return skill;
  return { ...skill, content: { type: "unusable", why: `${new URL(found).host} is not asked: ${why}` } };
}

/** An `api` skill is asked only after its endpoint was approved; of git, the same is checked where repositories are read. */
function urlsOf(content: RemoteContent): readonly string[] {
  if (content.type === "files") return content.files.map(({ url }) => url);
  return "url" in content ? [content.url] : [];
}
