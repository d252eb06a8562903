import { LimitedMap } from "../../base/limited-map.ts";
import { nothingHere, unauthorized } from "../../wire/http/refusal.ts";
import { type CachedResponse, respondWithCached, toCachedResponse } from "../cached-response.ts";
import { type HttpContext, type MountRoutes, toRefusalResponse } from "../http-door.ts";
import type { Audience } from "./audience.ts";
import { mountForAudiences } from "./mount-for-audiences.ts";
import { agentSkillsPath, readArtifactName } from "./agent-skills/artifact-path.ts";
import { type Artifact, mediaTypes } from "./agent-skills/artifacts.ts";
import { toIndexDocument } from "./agent-skills/index-document.ts";

export { isArtifactPath } from "./agent-skills/artifact-path.ts";
export { type Artifacts, createArtifacts } from "./agent-skills/artifacts.ts";

/** Indexes that are kept: one for each view. */
const maxKept = 32;

/** The path of a share is a secret; and what others wrote is not to be taken for a page of this server. */
const extra = { "referrer-policy": "no-referrer", "x-content-type-options": "nosniff" };

interface KeptIndex {
  readonly of: ReadonlyMap<string, Artifact>;
  readonly answer: CachedResponse;
}

/**
 * Agent Skills discovery 0.2: `/.well-known/agent-skills/index.json` and what it names, for callers, and below `/s/<token>/` for those who
 * know the path of a share.
 */
export const mountAgentSkills: MountRoutes = (routes, { artifacts, publication, shares, unread }) => {
  const indexes = new LimitedMap<string, KeptIndex>(maxKept);

  async function indexOf(audience: Audience): Promise<CachedResponse> {
    const { view, mayHave } = audience;
    const published = publication();
    const all = await artifacts.ofAll(published, audience);
    const known = indexes.get(view);
    if (known?.of === all) return known.answer;
    const answer = toCachedResponse(toIndexDocument(published, all, mayHave));
    indexes.delete(view);
    indexes.set(view, { of: all, answer });
    return answer;
  }

  async function answerIndex(context: HttpContext, audience: Audience): Promise<Response> {
    const { isEverybody: isEverybodys } = audience;
    return respondWithCached(context, await indexOf(audience), { isEverybodys, extra });
  }

  async function answerArtifact(context: HttpContext, audience: Audience, text: string): Promise<Response> {
    const name = readArtifactName(text);
    const published = name && publication().bySlug.get(name.slug);
    // What somebody may not know of is as if it did not exist.
    if (name === undefined || published === undefined || !audience.mayKnow(published))
      return toRefusalResponse(context, nothingHere);
    if (!audience.mayHave(published))
      return toRefusalResponse(context, unauthorized(`The skill ${name.slug} is downloaded with a bearer token.`));
    const body = await artifacts.read(published, name);
    if (body === undefined) return toRefusalResponse(context, nothingHere);
    const full = unread.hold(body, context.env.outgoing, context.env.caller);
    if (full !== undefined) return toRefusalResponse(context, full);
    const kept = { body, etag: `"${name.digestStart}"`, type: mediaTypes[name.type] };
    return respondWithCached(context, kept, { caching: "immutable", isEverybodys: audience.isEverybody, extra });
  }

  const mount = mountForAudiences(routes, shares);
  mount("GET", `${agentSkillsPath}/index.json`, answerIndex);
  const textOf = { "/:artifact": "", "/:artifact/SKILL.md": "/SKILL.md" };
  for (const [path, end] of Object.entries(textOf))
    mount("GET", `${agentSkillsPath}${path}`, (context, audience) =>
      answerArtifact(context, audience, `${context.req.param("artifact") ?? ""}${end}`),
    );
};
