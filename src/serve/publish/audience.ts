import { nothingHere, tokenFinder } from "../../wire/http.ts";
import type { ServeConfig, ShareConfig } from "../config.ts";
import { type PublishedSkill, isNamedIn } from "./publication.ts";
import type { RouteResult, HttpExchange, HttpCaller, HttpRoute } from "../serve-context.ts";

/** Who may have the files of which skills: a caller, or whoever knows the path of a share. */
export interface Audience {
  /** Audiences with the same view may have the same skills: a cache key. */
  readonly view: string;
  /** The name of its share. */
  readonly share?: string;
  /** Where its paths start: empty, or `/s/<token>`. Secret. */
  readonly prefix: string;
  /** Everybody belongs to it, so that anything on the way may cache answers. */
  readonly isEverybody: boolean;
  readonly mayHave: (published: PublishedSkill) => boolean;
  /** Whether a skill is visible to it, even one whose files take credentials. */
  readonly mayKnow: (published: PublishedSkill) => boolean;
}

/** Without credentials, only public skills: a restricted one is visible, but using it takes credentials. */
function toAudience({ view, isAnonymous, invokes, discovers }: HttpCaller): Audience {
  return { view: `caller ${view}`, prefix: "", isEverybody: isAnonymous, mayHave: invokes, mayKnow: discovers };
}

/** Sets of skills behind secret paths. */
export interface Shares {
  /** Undefined for a token that no share has. */
  find(token: string): Audience | undefined;
  /** Others are shared from now on. */
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

/** A route for callers, and the same below `/s/<token>/` for those who know the path of a share. */
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
