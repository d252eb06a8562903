import { PGlite } from "@electric-sql/pglite";
import type { Database } from "../../src/cluster/database.ts";
import { toDatabaseError } from "../../src/cluster/database/database-error.ts";
import { openNotices } from "../../src/cluster/database/listener.ts";
import { migrate } from "../../src/cluster/database.ts";

/** PostgreSQL in this process, with one connection: for tests on machines that have no server. Migrated and empty. */
export async function openPglite(): Promise<Database> {
  const pglite = await PGlite.create();
  let closing: Promise<void> | undefined;
  const database: Database = {
    query: async (text, values = []) => (await pglite.query(text, [...values]).catch(rethrow)).rows as never,
    transaction: async (work) =>
      await pglite.transaction(
        async (transaction) =>
          await work({
            query: async (text, values) => {
              // As of the driver, only a message without values has several statements.
              if (values === undefined)
                return ((await transaction.exec(text).catch(rethrow)).at(-1)?.rows ?? []) as never;
              return (await transaction.query(text, [...values]).catch(rethrow)).rows as never;
            },
          }),
      ),
    readBytes: async (select, values, take) =>
      await pglite.transaction(async (transaction) => {
        await transaction.query(
          "select set_config('acp_skills.v' || number, value, true) from unnest($1::text[]) with ordinality as given (value, number)",
          [[...values]],
        );
        const { rows } = await transaction.query<Uint8Array[]>(select, [], { rowMode: "array" });
        for (const [bytes] of rows) take(Buffer.from(bytes ?? []));
      }),
    listen(channel, onMessage, onConnected) {
      let isOpen = true;
      const listening = pglite.listen(channel, (payload) => {
        if (isOpen) onMessage(payload);
      });
      void listening.then(() => isOpen && onConnected());
      return () => {
        isOpen = false;
        void listening.then((stop) => stop());
      };
    },
    notify: (channel, payload) => notify(channel, payload),
    close: () => (closing ??= pglite.close()),
  };
  const notify = openNotices(database);
  await migrate(database);
  return database;
}

function rethrow(error: unknown): never {
  throw toDatabaseError(error);
}
