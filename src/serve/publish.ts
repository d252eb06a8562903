import type { App } from "../runtime/app.ts";
import type { SessionSkills } from "../skills/skillset.ts";
import type { ServeConfig } from "./config.ts";
import type { MountRoutes } from "./http-door.ts";
import { type Artifacts, createArtifacts, mountAgentSkills } from "./publish/agent-skills.ts";
import { type Shares, createShares } from "./publish/audience.ts";
import { mountPlugins } from "./publish/plugins.ts";
import type { Publication } from "./publish/publication.ts";
import { createPublications } from "./publish/publications.ts";
import { type Listings, createListings, mountInvocation, mountSharing } from "./publish/sharing.ts";

export { isArtifactPath } from "./publish/agent-skills.ts";
export { answerIndex, executionParameters, indexPath } from "./publish/sharing.ts";

/** Which skills are published, and to whom. */
export interface Published {
  /** What is published now. */
  readonly publication: () => Publication;
  /** What can be downloaded of the published skills. */
  readonly artifacts: Artifacts;
  readonly shares: Shares;
  /** The indexes of Skill Sharing. */
  readonly listings: Listings;
}

/** `baseUrl`: where links point. */
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

/** The routes of everything that is published. */
export const publishedRoutes: readonly MountRoutes[] = [mountSharing, mountInvocation, mountAgentSkills, mountPlugins];
