import { SkillsError } from "../../base/errors.ts";
import { type CachedResponse, sendCached, toCachedResponse } from "../cached-response.ts";
import type { RouteResult, CreateRoutes, HttpExchange } from "../serve-context.ts";
import type { Artifact } from "./artifacts.ts";
import type { PublishedSkill } from "./publication.ts";
import { isInvoked, toDescriptor } from "./sharing/descriptor.ts";
import { findDiscovered } from "./sharing/listing.ts";
import { withSharingErrors } from "./sharing/sharing-error.ts";

export { executionParameters } from "./sharing/executions.ts";
export { invocationRoutes } from "./sharing/invocation.ts";
export { type Listings, createListings } from "./sharing/listing.ts";

const noDownload = "The files of this skill cannot be downloaded; the server's log says why.";

/** Discovery of Skill Sharing: the index, also in the form of a registry, and the descriptors. */
export const sharingRoutes: CreateRoutes = (context) => {
  const { app, config, listings } = context;
  const publisher = () => ({ provider: config.provider, baseUrl: context.baseUrl() });
  const descriptors = new WeakMap<
    PublishedSkill,
    { readonly of: Artifact | undefined; readonly answer: CachedResponse }
  >();

  async function describe(published: PublishedSkill): Promise<CachedResponse> {
    const isDownloaded = !isInvoked(published);
    const artifact = isDownloaded ? await context.artifacts.of(published) : undefined;
    if (isDownloaded && artifact === undefined) throw new SkillsError("SKILL_NOT_READY", noDownload);
    const known = descriptors.get(published);
    // The files of a skill may change while the rest is unchanged.
    if (known !== undefined && known.of === artifact) return known.answer;
    const answer = toCachedResponse(JSON.stringify(toDescriptor(published, publisher(), artifact)));
    descriptors.set(published, { of: artifact, answer });
    return answer;
  }

  const list = (form: "index" | "registry") =>
    withSharingErrors(app.log, (exchange: HttpExchange) => {
      const { query, caller } = exchange;
      const [type, cursor, limit] = ["type", "cursor", "limit"].map((name) => query.get(name) ?? undefined);
      return sendCached(exchange, listings.page(form, { type, cursor, limit }, caller));
    });
  const answerDescriptor = async (exchange: HttpExchange): Promise<RouteResult> =>
    sendCached(exchange, await describe(findDiscovered(context, exchange)));

  return [
    { method: "GET", path: "/.well-known/skill-sharing", answer: list("index") },
    { method: "GET", path: "/skills", answer: list("registry") },
    { method: "GET", path: "/skills/:slug/descriptor.json", answer: withSharingErrors(app.log, answerDescriptor) },
  ];
};
