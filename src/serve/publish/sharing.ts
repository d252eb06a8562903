import { SkillsError } from "../../base/errors.ts";
import type { Artifact } from "./agent-skills/artifacts.ts";
import { type CachedResponse, respondWithCached, toCachedResponse } from "../cached-response.ts";
import { withSharingErrors } from "./sharing/sharing-error.ts";
import type { MountRoutes } from "../http-door.ts";
import type { PublishedSkill } from "./publication.ts";
import { findDiscovered } from "./sharing/find-discovered.ts";
import { indexPath } from "./sharing/answer-index.ts";
import { isInvoked, toDescriptor } from "./sharing/to-entry.ts";

export { answerIndex, indexPath } from "./sharing/answer-index.ts";
export { executionParameters, mountInvocation } from "./sharing/invocation.ts";
export { type Listings, createListings } from "./sharing/listing.ts";

/** Discovery of Skill Sharing (CONTRACT C-6.1 to C-6.3): the index, the same as a registry, and the descriptors. */
export const mountSharing: MountRoutes = (routes, door) => {
  const { app, config, listings } = door;
  const publisher = () => ({ provider: config.provider, baseUrl: door.baseUrl() });
  const descriptors = new WeakMap<
    PublishedSkill,
    { readonly of: Artifact | undefined; readonly answer: CachedResponse }
  >();

  async function describe(published: PublishedSkill): Promise<CachedResponse> {
    const artifact = isInvoked(published) ? undefined : await downloadOf(published);
    const known = descriptors.get(published);
    // Files of a skill may change while the rest stays as it was.
    if (known !== undefined && known.of === artifact) return known.answer;
    const answer = toCachedResponse(JSON.stringify(toDescriptor(published, publisher(), artifact)));
    descriptors.set(published, { of: artifact, answer });
    return answer;
  }

  async function downloadOf(published: PublishedSkill): Promise<Artifact> {
    const artifact = await door.artifacts.of(published);
    if (artifact !== undefined) return artifact;
    throw new SkillsError(
      "SKILL_NOT_READY",
      "The files of this skill cannot be downloaded; the server's log says why.",
    );
  }

  const list = (form: "index" | "registry") =>
    withSharingErrors(app.log, (context) => {
      const { req, env } = context;
      const query = { type: req.query("type"), cursor: req.query("cursor"), limit: req.query("limit") };
      return respondWithCached(context, listings.page(form, query, env.caller));
    });
  routes.get(indexPath, list("index"));
  routes.get("/skills", list("registry"));
  routes.get(
    "/skills/:slug/descriptor.json",
    withSharingErrors(app.log, async (context) =>
      respondWithCached(context, await describe(findDiscovered(door, context))),
    ),
  );
};
