import { LimitedMap } from "../../base/limited-map.ts";
import type { Grant } from "./grants.ts";
import type { Reply } from "../question.ts";

/** What was decided in one session. */
export interface SessionTrust {
  readonly grants: Grant[];
  /** Projects whose skills may be read. */
  readonly projects: Set<string>;
  /** Directories of skills that a person invoked. */
  readonly consents: Set<string>;
  /** By what was asked about, whatever its bytes are: a "not now" for the whole session, a missing answer until the next prompt. */
  readonly refused: LimitedMap<string, Reply>;
  /** How many answers were not a yes since the last prompt. */
  refusals: number;
  /** Projects that may be read until the next prompt. */
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
      refusals: 0,
      readable: new Set(),
    };
    this.set(owner, session);
    return session;
  }

  /** A person wrote a prompt. */
  newTurn(owner: string): void {
    const session = this.get(owner);
    if (session === undefined) return;
    session.refusals = 0;
    session.readable.clear();
    for (const [place, { answer }] of session.refused) if (answer === undefined) session.refused.delete(place);
  }

  /** A person invoked the skill in a directory: it may be read, and asked about again. */
  consent(owner: string, directory: string): void {
    const { consents, refused } = this.of(owner);
    consents.add(directory);
    for (const place of refused.keys()) if (placedIn(place) === directory) refused.delete(place);
  }
}

/** What a question is about: one answer that is no yes counts for it, whatever its bytes become. `directory`: of a skill, or a project. */
export function questionKey(about: string, directory: string, calledBy?: string): string {
  return JSON.stringify([about, directory, calledBy]);
}

function placedIn(place: string): unknown {
  return (JSON.parse(place) as unknown[])[1];
}
