import { LimitedMap } from "../../base/limited-map.ts";
import { nothingHere, unauthorized } from "../../wire/http.ts";
import { type CachedResponse, sendCached, toCachedResponse } from "../cached-response.ts";
import type { RouteResult, CreateRoutes, HttpExchange } from "../serve-context.ts";
import { type Artifact, agentSkillsPath, mediaTypes, readArtifactName, toArtifactName } from "./artifacts.ts";
import { type Audience, routesForAudiences } from "./audience.ts";
import { type Publication, type PublishedSkill, shorten } from "./publication.ts";

/** The maximum number of cached indexes; each view has one. */
const maxIndexes = 32;

/** Headers: the path of a share is a secret, and files of others must not be shown as pages of this server. */
const extra = { "referrer-policy": "no-referrer", "x-content-type-options": "nosniff" };

interface CachedIndex {
  readonly of: ReadonlyMap<string, Artifact>;
  readonly answer: CachedResponse;
}

/**
 * Agent Skills discovery 0.2: `/.well-known/agent-skills/index.json` and its artifacts, for callers; and below `/s/<token>/` for whoever
 * knows the path of a share.
 */
export const agentSkillsRoutes: CreateRoutes = ({ artifacts, publication, shares, unread }) => {
  const indexes = new LimitedMap<string, CachedIndex>(maxIndexes);

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

  async function answerIndex(exchange: HttpExchange, audience: Audience): Promise<RouteResult> {
    return sendCached(exchange, await indexOf(audience), { isPublic: audience.isEverybody, extra });
  }

  async function answerArtifact(exchange: HttpExchange, audience: Audience, text: string): Promise<RouteResult> {
    const name = readArtifactName(text);
    const published = name && publication().bySlug.get(name.slug);
    // A skill that the audience may not know is answered as if it did not exist.
    if (name === undefined || published === undefined || !audience.mayKnow(published)) return nothingHere;
    if (!audience.mayHave(published)) return unauthorized(`The skill ${name.slug} is downloaded with a bearer token.`);
    const body = await artifacts.read(published, name);
    if (body === undefined) return nothingHere;
    const refusal = unread.hold(body, exchange.response, exchange.caller);
    if (refusal !== undefined) return refusal;
    const artifact = { body, etag: `"${name.digestStart}"`, type: mediaTypes[name.type] };
    return sendCached(exchange, artifact, { immutable: true, isPublic: audience.isEverybody, extra });
  }

  return [
    ...routesForAudiences(shares, "GET", `${agentSkillsPath}/index.json`, answerIndex),
    ...["", "/SKILL.md"].flatMap((end) =>
      routesForAudiences(shares, "GET", `${agentSkillsPath}/:artifact${end}`, (exchange, audience) =>
        answerArtifact(exchange, audience, `${exchange.param("artifact")}${end}`),
      ),
    ),
  ];
};

/** The schema of the index: clients compare it as a string, and ignore an index with another one. */
const schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
/** The maximum length of a description, in UTF-16 units: clients drop entries with longer ones. */
const maxDescription = 1_024;

/** Formats the index of Agent Skills discovery 0.2, of the skills that have an artifact. Pure. */
export function toIndexDocument(
  { skills }: Publication,
  artifacts: ReadonlyMap<string, Artifact>,
  mayHave: (published: PublishedSkill) => boolean,
): string {
  const entries = skills.flatMap((published) => {
    const { slug, description } = published.skill;
    const artifact = artifacts.get(slug);
    if (artifact === undefined || !mayHave(published)) return [];
    const { type, digest, name } = artifact;
    // Relative URLs also work below a share's prefix, and behind proxies.
    const url = toArtifactName(name);
    return [{ name: slug, type, description: shorten(description, maxDescription), url, digest }];
  });
  return JSON.stringify({ $schema: schema, skills: entries });
}
