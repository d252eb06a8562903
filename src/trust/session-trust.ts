import { LimitedMap } from "../base/limited-map.ts";
import type { Grant } from "./grants/grant.ts";
import type { Reply } from "./asking/question.ts";

/** What was decided in one session. */
export interface SessionTrust {
  readonly grants: Grant[];
  /** Projects whose skills may be read. */
  readonly projects: Set<string>;
  /** Directories of skills that a person invoked. */
  readonly consents: Set<string>;
  /** Questions that were refused, with the replies, and projects that may be read, until the next prompt. */
  readonly refused: LimitedMap<string, Reply>;
  readonly readable: Set<string>;
}

const maxSessions = 1_000;
const maxRefused = 1_000;

/** What was decided in the sessions of this process, by their owners. Of too many the oldest is forgotten, and asked again. */
export class SessionTrusts extends LimitedMap<string, SessionTrust> {
  constructor() {
    super(maxSessions);
  }

  of(owner: string): SessionTrust {
    const known = this.get(owner);
    if (known !== undefined) return known;
    const session: SessionTrust = {
      grants: [],
      projects: new Set(),
      consents: new Set(),
      refused: new LimitedMap(maxRefused),
      readable: new Set(),
    };
    this.set(owner, session);
    return session;
  }
}
