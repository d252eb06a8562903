import { randomUUID } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Database } from "../database.ts";
import { SkillsError } from "../../base/errors.ts";
import {
  type Ledger,
  type LedgerEntry,
  fromLedgerLine,
  ledgerDays,
  openAudit,
  toLedgerLine,
} from "../../runtime/ledger.ts";
import { LedgerQueue } from "./ledger-queue.ts";

export interface ClusterLedgerOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** The caller of entries that name none: the user of this process. */
  readonly user?: string | undefined;
  /** A file to which each row is also appended, see `Settings.audit`. */
  readonly audit?: string | undefined;
  /** Ended months are dropped after so many days, if this role may do it. Default: `$ACP_SKILLS_LEDGER_DAYS`, or 400. */
  readonly days?: number;
}

const defaultDays = 400;
const pageSize = 1_000;

/** Opens a ledger in the database of a cluster, whose rows nobody can change. It has `flush`, because `record` only queues. */
export function openClusterLedger(
  database: Database,
  options: ClusterLedgerOptions,
): Ledger & Required<Pick<Ledger, "flush">> {
  const { log, clock, user, audit, days = ledgerDays(log) ?? defaultDays } = options;
  const writer = randomUUID();
  const writeAudit = openAudit(audit, log);
  let isOpen = true;
  let isRefusalLogged = false;
  let month: string | undefined;

  const queue = new LedgerQueue({
    clock,
    async write(lines, number) {
      const [row] = await database.query<{ month: string }>(
        "select acp_skills.write_ledger($1::text[], $2, $3) as month",
        [lines, writer, number],
      );
      if (row?.month === month) return;
      month = row?.month;
      await dropOld();
    },
    onFault: (fault) => {
      if (fault === undefined) log("info", "The ledger of the cluster can be written again.");
      else log("warning", `The ledger of the cluster cannot be written, so that its rows wait here: ${fault}`);
    },
  });

  /** Drops old months, once a month. If this role may not do it, another member does. */
  async function dropOld(): Promise<void> {
    try {
      const [row] = await database.query<{ rows: number }>(
        "select acp_skills.drop_ledger(now() - make_interval(days => $1), now()) as rows",
        [days],
      );
      if (row !== undefined && row.rows > 0)
        log("warning", `Rows of the ledger that are older than ${days} days were removed: ${row.rows}.`);
    } catch (error) {
      log("info", `Old months of the ledger were not dropped: ${String(error)}`);
    }
  }

  return {
    record(entry) {
      if (!isOpen) return "it was closed";
      try {
        const line = toLedgerLine({ ...(user !== undefined && { caller: user }), ...entry });
        const fault = queue.add(line);
        writeAudit(entry, line);
        if (fault !== undefined && !isRefusalLogged) log("error", `Uses of skills are not recorded: ${fault}`);
        isRefusalLogged = fault !== undefined;
        return fault;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
    flush: () => queue.flush(),
    async *read() {
      const refuse = (why: string, cause?: unknown): SkillsError =>
        new SkillsError("UNREADABLE", `The ledger of the cluster cannot be read: ${why}`, { cause });
      const fault = await queue.flush();
      if (fault !== undefined) throw refuse(fault);
      try {
        const [end] = await database.query<{ last: number | null }>(
          "select max(number)::float8 as last from acp_skills.ledger",
        );
        for (let after = -1; after < (end?.last ?? -1);) {
          const rows = await database.query<{ number: number; entry: string }>(
            `select number::float8, entry from acp_skills.ledger
             where number > $1 and number <= $2 order by number limit $3`,
            [after, end?.last, pageSize],
          );
          yield* rows.flatMap(({ entry }): LedgerEntry | readonly [] => fromLedgerLine(entry).entry ?? []);
          after = rows.at(-1)?.number ?? Infinity;
        }
      } catch (error) {
        throw refuse(error instanceof Error ? error.message : String(error), error);
      }
    },
    close() {
      isOpen = false;
      queue.stop();
    },
  };
}
