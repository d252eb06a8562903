import type { Settings } from "../runtime/options.ts";
import type { GivenPorts } from "../runtime/ports.ts";
import { createPolicies } from "../runtime/trust.ts";
import { followCatalog } from "./catalog/follow-catalog.ts";
import { mergeSkillset } from "./catalog/merge-skillset.ts";
import { PublishedSkills } from "./catalog/published-skills.ts";
import { type Database, parseClusterUrl } from "./database.ts";
import type { Follower } from "./database/follow.ts";
import type { SkillPacks } from "./skills.ts";

export { type VersionToPublish, publishVersion, withdrawVersions } from "./catalog/publish-version.ts";

/** The published skills of a cluster, as this member has read them. */
export type ClusterCatalog = Required<Pick<GivenPorts, "addSkills">> & Pick<Follower, "age" | "close">;

type CatalogSettings = Pick<Settings, "cluster" | "clock" | "log" | "policy" | "home">;

/** Follows the published skills from now on. An outage of the database is no error: skills that were read before stay. */
export function openClusterCatalog(
  database: Database,
  packs: SkillPacks,
  { cluster, clock, log, policy, home }: CatalogSettings,
  { sharedPolicy }: Pick<GivenPorts, "sharedPolicy"> = {},
): ClusterCatalog {
  const { policyFor } = createPolicies({ given: policy, home, log, shared: sharedPolicy });
  const { host, port, database: name = "" } = parseClusterUrl(cluster ?? "");
  const url = `https://${host.startsWith("/") ? "localhost" : host}:${port}/${name}`;
  const minimumDays = (): number => policyFor(undefined).minimumAge;
  const published = new PublishedSkills(URL.canParse(url) ? url : undefined, minimumDays, clock);
  const { first, age, close } = followCatalog({ database, packs, published, clock, log });
  return { addSkills: (skillset) => mergeSkillset(skillset, published, first), age, close };
}
