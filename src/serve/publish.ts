import type { App } from "../runtime/app.ts";
import type { SessionSkills } from "../skills/skillset.ts";
import type { ServeConfig } from "./config.ts";
import type { CreateRoutes } from "./serve-context.ts";
import { agentSkillsRoutes } from "./publish/agent-skills.ts";
import { type Artifacts, createArtifacts } from "./publish/artifacts.ts";
import { type Shares, createShares } from "./publish/audience.ts";
import { pluginRoutes } from "./publish/plugins.ts";
import { type Publication, createPublications } from "./publish/publication.ts";
import { type Listings, createListings, invocationRoutes, sharingRoutes } from "./publish/sharing.ts";

export { executionParameters } from "./publish/sharing.ts";

/** The published skills, and their audiences. */
export interface Published {
  /** The present publication. */
  readonly publication: () => Publication;
  /** The downloads of the published skills. */
  readonly artifacts: Artifacts;
  readonly shares: Shares;
  /** The indexes of Skill Sharing. */
  readonly listings: Listings;
}

/** Creates the publication of a server, and its artifacts, shares and listings. `baseUrl`: the URL with which links begin. */
export function createPublished(
  app: App,
  session: SessionSkills,
  { config, baseUrl }: { readonly config: ServeConfig; readonly baseUrl: () => string },
): Published {
  const publication = createPublications(app, session, config);
  return {
    publication,
    artifacts: createArtifacts(app),
    shares: createShares(config),
    listings: createListings(publication, () => ({ provider: config.provider, baseUrl: baseUrl() })),
  };
}

/** The routes of all published documents and files. */
export const publishedRoutes: readonly CreateRoutes[] = [
  sharingRoutes,
  invocationRoutes,
  agentSkillsRoutes,
  pluginRoutes,
];
