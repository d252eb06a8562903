import type * as driver from "pg";
import type { Client, ClientConfig, Connection, Pool, PoolClient, Submittable } from "pg";
import { SkillsError } from "../../base/errors.ts";
import type { ClusterChannel, Database, DatabaseOptions, Queries } from "../database.ts";
import type { ClusterUrl } from "./cluster-url.ts";
import { toDatabaseError } from "./database-error.ts";
import { openListener, openNotices } from "./listener.ts";

/** Longer than any statement of ours takes on a busy server; a connection that a network has forgotten fails after it. */
const queryTimeoutMs = 30_000;
const connectTimeoutMs = 10_000;

/** Opens connections as they are needed, so that an unreachable database is no error here. Rejects with INVALID_OPTIONS without the driver. */
export async function openDatabase(url: ClusterUrl, options: DatabaseOptions): Promise<Database> {
  const pg = await loadDriver();
  const config: ClientConfig = {
    host: url.host,
    port: url.port,
    user: url.user,
    password: url.password,
    database: url.database,
    ssl: url.ssl,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    application_name: "acp-skills",
  };
  return new PooledDatabase(
    new pg.Pool({ ...config, max: options.connections ?? 10 }),
    () => new pg.Client(config),
    options,
  );
}

async function loadDriver(): Promise<typeof driver> {
  try {
    return await import("pg");
  } catch (error) {
    throw new SkillsError("INVALID_OPTIONS", "--cluster needs the packages pg and pg-boss: npm install pg pg-boss", {
      cause: error,
      facts: { option: "cluster" },
    });
  }
}

/** Several statements at a time, as those of the queue's migrations are, have the rows of each, in their order. */
function rowsOf<Row>(answered: { readonly rows: Row[] }): readonly Row[] {
  const each: unknown = answered;
  return Array.isArray(each) ? (each as (typeof answered)[]).flatMap(({ rows }) => rows) : answered.rows;
}

class PooledDatabase implements Database {
  readonly #pool: Pool;
  readonly #listener: ReturnType<typeof openListener>;
  readonly notify = openNotices(this);
  #closing: Promise<void> | undefined;

  constructor(pool: Pool, connect: () => Client, { log, clock }: DatabaseOptions) {
    this.#pool = pool;
    // Without a listener, an idle connection that breaks would end this process. The next statement gets another one.
    pool.on("error", () => undefined);
    this.#listener = openListener(connect, { log, clock });
  }

  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    this.#expectOpen();
    try {
      return rowsOf<Row>(await this.#pool.query<Row>(text, [...values]));
    } catch (error) {
      throw toDatabaseError(error);
    }
  }

  async readBytes(select: string, values: readonly string[], take: (bytes: Buffer) => void): Promise<void> {
    await this.#withClient(
      (client) =>
        new Promise<void>((resolve, reject) => {
          const callback = (error?: Error | null): void => (error ? reject(error) : resolve());
          client.query(new CopiedBytes({ select, values, take }, callback));
        }),
    );
  }

  async transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    return await this.#withClient(async (client) => {
      await client.query("begin");
      const result = await work({
        query: async (text, values = []) => {
          try {
            return (await client.query(text, [...values])).rows as never;
          } catch (error) {
            throw toDatabaseError(error);
          }
        },
      });
      await client.query("commit");
      return result;
    });
  }

  /** A connection for a while. After a failure, it is closed where it cannot even be rolled back. */
  async #withClient<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    this.#expectOpen();
    let client: PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw toDatabaseError(error);
    }
    let broken: Error | undefined;
    const onError = (error: Error): void => void (broken = error);
    client.on("error", onError);
    try {
      return await work(client);
    } catch (error) {
      await client.query("rollback").catch(() => void (broken = new Error("It was not rolled back.")));
      throw toDatabaseError(error);
    } finally {
      client.off("error", onError);
      client.release(broken ?? false);
    }
  }

  listen(channel: ClusterChannel, onMessage: (payload: string) => void, onConnected: () => void): () => void {
    this.#expectOpen();
    return this.#listener.listen(channel, onMessage, onConnected);
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#listener.close();
    await this.#pool.end().catch(() => undefined);
  }

  #expectOpen(): void {
    if (this.#closing !== undefined) throw new SkillsError("CLOSED", "The connection to the cluster was closed.");
  }
}

/** A binary copy begins with a signature, flags and the length of an extension. */
const headerBytes = 19;
const signature = Buffer.from("PGCOPY\n\xFF\r\n\0", "latin1");

/** What `readBytes` takes. */
interface BytesQuery {
  readonly select: string;
  readonly values: readonly string[];
  readonly take: (bytes: Buffer) => void;
}

/** A binary copy, in one round trip with the settings that its select has in place of values. The driver itself reads binary results as text. */
class CopiedBytes implements Submittable {
  /** The driver calls it, too, at its timeout. */
  callback: (error?: Error | null) => void;
  readonly #query: BytesQuery;

  constructor(query: BytesQuery, callback: (error?: Error | null) => void) {
    this.#query = query;
    this.callback = callback;
  }

  /** Both statements are one transaction, until `sync`. */
  submit(connection: Connection): void {
    const { select, values } = this.#query;
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
  }

  /** Copies each value: the driver uses the memory of a message again. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    let at = chunk.subarray(0, signature.length).equals(signature) ? headerBytes + chunk.readInt32BE(15) : 0;
    while (at + 6 <= chunk.length) {
      const length = chunk.readInt32BE(at + 2);
      const value = Buffer.allocUnsafeSlow(Math.max(0, length));
      chunk.copy(value, 0, at + 6);
      this.#query.take(value);
      at += 6 + value.length;
    }
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback();
  }

  /** What else a query can be answered with: a copy is not. */
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}
