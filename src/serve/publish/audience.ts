import { nothingHere, tokenFinder } from "../../wire/http.ts";
import type { ServeConfig, ShareConfig } from "../config.ts";
import { type PublishedSkill, isNamedIn } from "./publication.ts";
import type { RouteResult, HttpExchange, HttpCaller, HttpRoute } from "../serve-context.ts";

/** An audience of skills and their files: a caller, or whoever knows the path of a share. */
export interface Audience {
  /** The key of a cache: audiences with the same view may have the same skills. */
  readonly view: string;
  /** The name of the share, if the audience is one. */
  readonly share?: string;
  /** The secret prefix of the audience's paths: empty, or `/s/<token>`. */
  readonly prefix: string;
  /** Whether everybody belongs to the audience, so that shared caches may store answers. */
  readonly isEverybody: boolean;
  readonly mayHave: (published: PublishedSkill) => boolean;
  /** Whether a skill is visible to the audience, even if its files need credentials. */
  readonly mayKnow: (published: PublishedSkill) => boolean;
}

/** Converts a caller into an audience. Without credentials the caller has only public skills, but sees restricted ones, too. */
function toAudience({ view, isAnonymous, invokes, discovers }: HttpCaller): Audience {
  return { view: `caller ${view}`, prefix: "", isEverybody: isAnonymous, mayHave: invokes, mayKnow: discovers };
}

/** Sets of skills behind secret paths. */
export interface Shares {
  /** Finds a share by its token; undefined if there is none. */
  find(token: string): Audience | undefined;
  /** Replaces all shares. */
  replace(shares: readonly ShareConfig[]): void;
}

export function createShares({ shares }: Pick<ServeConfig, "shares">): Shares {
  let findShare = tokenFinder(shares);
  return {
    replace(others) {
      findShare = tokenFinder(others);
    },
    find(token) {
      const share = findShare(token);
      return share && toShared(share, token);
    },
  };
}

function toShared({ name, skills }: ShareConfig, token: string): Audience {
  const isShared = ({ skill }: PublishedSkill): boolean => skills.includes("*") || isNamedIn(skills, skill);
  return {
    view: JSON.stringify(["share", name, skills]),
    share: name,
    prefix: `/s/${token}`,
    isEverybody: false,
    mayHave: isShared,
    mayKnow: isShared,
  };
}

/** Creates a route for callers, and the same below `/s/<token>/` for whoever knows the path of a share. */
export function routesForAudiences(
  shares: Shares,
  method: "GET" | "POST",
  path: string,
  answer: (exchange: HttpExchange, audience: Audience) => Promise<RouteResult>,
): readonly HttpRoute[] {
  return [
    { method, path, answer: (exchange) => answer(exchange, toAudience(exchange.caller)) },
    {
      method,
      path: `/s/:token${path}`,
      async answer(exchange) {
        const audience = shares.find(exchange.param("token"));
        return audience === undefined ? nothingHere : await answer(exchange, audience);
      },
    },
  ];
}
