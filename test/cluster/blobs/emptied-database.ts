import type { Database } from "../../../src/cluster/database.ts";

const tables = ["blobs", "blob_contents", "blob_holds", "blob_holders", "blob_uploads", "blob_chunks", "blob_usage"];

/** The same database without blobs: it is emptied before the first statement. */
export function emptied(database: Database): Database {
  let emptying: Promise<unknown> | undefined;
  const whenEmpty = (): Promise<unknown> =>
    (emptying ??= database.query(
      `truncate ${[...tables, "blob_searches"].map((name) => `acp_skills.${name}`).join()}`,
    ));
  return {
    ...database,
    query: async (text, values) => {
      await whenEmpty();
      return await database.query(text, values);
    },
    readBytes: async (select, values, take) => {
      await whenEmpty();
      await database.readBytes(select, values, take);
    },
    transaction: async (work) => {
      await whenEmpty();
      return await database.transaction(work);
    },
    listen: (...subscription) => database.listen(...subscription),
    close: () => Promise.resolve(),
  };
}
