import type { ClientConfig, Connection, PoolClient, Submittable } from "pg";
import { SkillsError } from "../../base/errors.ts";
import type { Database, DatabaseOptions } from "../database.ts";
import type { ClusterUrl } from "./cluster-url.ts";
import { packagesMissing, toDatabaseError } from "./database-error.ts";
import { openListener, openNotices } from "./listener.ts";

/** Longer than any statement takes on a busy server. A connection that the network dropped silently fails after this time. */
const queryTimeoutMs = 30_000;
const connectTimeoutMs = 10_000;

/** Opens connections when they are needed: an unreachable database is no error here. Rejects with INVALID_OPTIONS without the driver. */
export async function openDatabase(
  url: ClusterUrl,
  { log, clock, connections = 10 }: DatabaseOptions,
): Promise<Database> {
  const pg = await import("pg").catch(packagesMissing);
  const config: ClientConfig = {
    ...url,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    application_name: "acp-skills",
  };
  const pool = new pg.Pool({ ...config, max: connections });
  // Without a listener, an idle connection that breaks would end this process. The next statement gets a new one.
  pool.on("error", () => undefined);
  const notify = openNotices({ query });
  const listener = openListener(() => new pg.Client(config), { log, clock, notify });
  let closing: Promise<void> | undefined;

  function expectOpen(): void {
    if (closing !== undefined) throw new SkillsError("CLOSED", "The connection to the cluster was closed.");
  }

  async function query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    expectOpen();
    return rowsOf<Row>(await pool.query<Row>(text, [...values]).catch(fail));
  }

  /** Lends a connection to `work`, and rolls back after a failure. Closes the connection if it broke or could not be rolled back. */
  async function withClient<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    expectOpen();
    const client = await pool.connect().catch(fail);
    let broken: Error | undefined;
    const onError = (error: Error): void => void (broken = error);
    client.on("error", onError);
    try {
      return await work(client);
    } catch (error) {
      await client.query("rollback").catch(() => void (broken = new Error("It was not rolled back.")));
      return fail(error);
    } finally {
      client.off("error", onError);
      client.release(broken ?? false);
    }
  }

  return {
    query,
    readBytes: (select, values, take) =>
      withClient(
        (client) =>
          new Promise((resolve, reject) => {
            const callback = (error?: Error | null): void => (error ? reject(error) : resolve());
            client.query(copiedBytes(select, values, take, callback));
          }),
      ),
    transaction: (work, { isDurable = true } = {}) =>
      withClient(async (client) => {
        await client.query(isDurable ? "begin" : "begin; set local synchronous_commit to off");
        const result = await work({
          query: async (text, values = []) => (await client.query(text, [...values]).catch(fail)).rows as never,
        });
        await client.query("commit");
        return result;
      }),
    listen(channel, onMessage, onConnected) {
      expectOpen();
      return listener.listen(channel, onMessage, onConnected);
    },
    notify,
    close() {
      listener.close();
      return (closing ??= pool.end().catch(() => undefined));
    },
  };
}

function fail(error: unknown): never {
  throw toDatabaseError(error);
}

/** Returns the rows of an answer. Several statements, such as the queue's migrations, have rows for each, in their order. */
function rowsOf<Row>(answered: { readonly rows: Row[] }): readonly Row[] {
  const each: unknown = answered;
  return Array.isArray(each) ? (each as (typeof answered)[]).flatMap(({ rows }) => rows) : answered.rows;
}

/** The header of a binary copy: a signature, flags and the length of an extension. */
const headerBytes = 19;
const signature = Buffer.from("PGCOPY\n\xFF\r\n\0", "latin1");

/**
 * Makes a binary copy, in one round trip with the settings that its select has instead of values. The driver alone would read binary
 * results as text. At its timeout, the driver calls `callback`, too.
 */
function copiedBytes(
  select: string,
  values: readonly string[],
  take: (bytes: Buffer) => void,
  callback: (error?: Error | null) => void,
): Submittable {
  const query = {
    callback,
    /** Sends both statements as one transaction, until `sync`. */
    submit(connection: Connection): void {
      const settings =
        "select set_config('acp_skills.v' || number, value, true) from json_array_elements_text($1::json) with ordinality as given (value, number)";
      const statements = [
        { text: settings, values: [JSON.stringify(values)] },
        { text: `copy (${select}) to stdout (format binary)`, values: [] },
      ];
      for (const statement of statements) {
        connection.parse({ name: "", text: statement.text, types: [] }, true);
        connection.bind({ values: statement.values }, true);
        connection.execute({}, true);
      }
      connection.sync();
    },
    /** Copies each value, because the driver reuses the memory of a message. */
    handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
      let at = chunk.subarray(0, signature.length).equals(signature) ? headerBytes + chunk.readInt32BE(15) : 0;
      while (at + 6 <= chunk.length) {
        const length = chunk.readInt32BE(at + 2);
        const value = Buffer.allocUnsafeSlow(Math.max(0, length));
        chunk.copy(value, 0, at + 6);
        take(value);
        at += 6 + value.length;
      }
    },
    handleError: (error: Error): void => query.callback(error),
    handleReadyForQuery: (): void => query.callback(),
    /** Ignores the row of the settings, and the completion of both statements. */
    handleDataRow: (): void => undefined,
    handleCommandComplete: (): void => undefined,
  };
  return query;
}
