import { tokenFinder } from "../../wire/http/token.ts";
import type { ServeConfig, ShareConfig } from "../config.ts";
import { type PublishedSkill, isNamedIn } from "./publication.ts";
import type { HttpCaller } from "../http-door.ts";

/** Who may have the files of which skills: a caller, or whoever knows the path of a share. */
export interface Audience {
  /** Audiences with the same view may have the same skills: a key for what is kept ready for them. */
  readonly view: string;
  /** The name of its share. */
  readonly share?: string;
  /** Where its paths start: empty, or `/s/<token>`. Secret. */
  readonly prefix: string;
  /** Everybody belongs to it, so that anything on the way may keep answers. */
  readonly isEverybody: boolean;
  readonly mayHave: (published: PublishedSkill) => boolean;
  /** Whether it is shown a skill, even one whose files take credentials. */
  readonly mayKnow: (published: PublishedSkill) => boolean;
}

/** Without credentials, only public skills: a restricted one is visible, but using it takes credentials (seed, 5.5). */
export function toAudience({ view, isAnonymous, invokes, discovers }: HttpCaller): Audience {
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
