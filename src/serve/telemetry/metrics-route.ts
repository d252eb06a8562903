import { type AccessPolicy, accessPolicies } from "../../wire/skill-sharing.ts";
import { unauthorized } from "../../wire/http/refusal.ts";
import { type HttpDoor, type MountRoutes, toRefusalResponse } from "../http-door.ts";
import type { Publication } from "../publish/publication.ts";
import { metricsContentType } from "./metrics-text.ts";

/** `GET /metrics`: for any caller with a token, and without one where only this machine sends requests. */
export const mountMetrics: MountRoutes = (routes, door) => {
  const skillsNow = openSkillCounts(door);
  routes.get("/metrics", (context) => {
    if (context.env.caller.isAnonymous && !door.isLocal)
      return toRefusalResponse(context, unauthorized("The metrics need a bearer token."));
    return context.body(door.metrics.render({ skills: skillsNow() }), 200, {
      "content-type": metricsContentType,
      "cache-control": "no-store",
    });
  });
};

/** Counts once for each publication. */
function openSkillCounts({ publication }: Pick<HttpDoor, "publication">): () => Record<AccessPolicy, number> {
  let counted: Publication | undefined;
  let counts = noSkills();
  return () => {
    const published = publication();
    if (published === counted) return counts;
    counts = noSkills();
    for (const { access } of published.skills) counts[access] += 1;
    counted = published;
    return counts;
  };
}

function noSkills(): Record<AccessPolicy, number> {
  return Object.fromEntries(accessPolicies.map((access) => [access, 0])) as Record<AccessPolicy, number>;
}
