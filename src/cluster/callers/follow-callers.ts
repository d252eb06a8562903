import type { CallerConfig } from "../../serve/config.ts";
import { readCallerSettings } from "../../serve/read-config.ts";
import type { Database } from "../database.ts";
import { type FollowerOptions, follow } from "../database/follow.ts";

export interface CallerFollower {
  /** The valid callers: one for each token. */
  readonly callers: () => readonly CallerConfig[];
  close(): void;
}

interface TokenRow {
  readonly name: string;
  readonly settings: string;
  readonly digest: Uint8Array;
  /** Milliseconds until the token expires, by the clock of the database; null: never. */
  readonly left: number | null;
}

const maxTokenRows = 10_000;
/** The maximum delay of a timer, which cannot wait for weeks. */
const maxTimerMs = 24 * 60 * 60 * 1_000;

/**
 * Follows the callers of a cluster and their tokens. Calls `changed`, which must not throw, with all valid callers when they change, and
 * when a token expires, also in an outage. Rows that cannot be read allow nothing, and are logged.
 */
export async function followCallers(
  database: Database,
  changed: (callers: readonly CallerConfig[]) => void,
  options: FollowerOptions,
): Promise<CallerFollower> {
  const { log, clock } = options;
  let known: readonly (CallerConfig & { readonly until: number })[] = [];
  let shown = "";
  let reported = "";
  let stopTimer = (): void => undefined;

  const valid = (): readonly CallerConfig[] => {
    const now = clock.now();
    return known.flatMap(({ until, ...caller }) => (now < until ? [caller] : []));
  };
  function show(): void {
    stopTimer();
    const callers = valid();
    const next = known.reduce((min, { until }) => (until > clock.now() ? Math.min(min, until) : min), Infinity);
    if (next < Infinity) stopTimer = clock.after(Math.min(maxTimerMs, next - clock.now()), show);
    const text = JSON.stringify(callers);
    if (text === shown) return;
    shown = text;
    changed(callers);
  }
  async function read(): Promise<void> {
    const asked = clock.now();
    const rows = await database.query<TokenRow>(
      `select c.name, c.settings, t.digest, (extract(epoch from t.expires_at - now()) * 1000)::float8 as left
       from acp_skills.callers c join acp_skills.tokens t on t.caller = c.name
       where t.expires_at is null or t.expires_at > now() order by c.name, t.created_at, t.digest limit $1`,
      [maxTokenRows],
    );
    const faults: string[] = [];
    known = rows.flatMap(({ name, settings, digest, left }) => {
      try {
        const caller = { ...readCallerSettings(name, JSON.parse(settings)), tokenDigest: Buffer.from(digest) };
        return [{ ...caller, until: left === null ? Infinity : asked + left }];
      } catch (error) {
        faults.push(`${name} (${String(error).slice(0, 200)})`);
        return [];
      }
    });
    if (faults.join() !== reported && faults.length > 0)
      log("error", `Callers of the cluster that this version cannot read are refused: ${faults.join(", ")}`);
    reported = faults.join();
    show();
  }

  const following = follow(database, { channel: "acp_skills_callers", what: "callers", read }, options);
  await following.first;
  return {
    callers: valid,
    close() {
      following.close();
      stopTimer();
    },
  };
}
