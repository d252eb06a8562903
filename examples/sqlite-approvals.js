// Approvals in a database of one's own: here a table of SQLite, in Node ≥ 22.13. `?file=…` after this file's URL names the database.
import { join } from "node:path";
import { changeApprovals, nothingApproved, parseApprovals, toApprovedCopy } from "acp-skills/ports";

/** @typedef {import("acp-skills/ports").ApprovalScope} ApprovalScope */
/** @typedef {Record<string, unknown>} Row */
/** @typedef {{ run(...values: string[]): unknown, get(...values: string[]): Row | undefined, all(): Row[] }} Statement */
/** @typedef {{ exec(text: string): void, prepare(text: string): Statement }} Database */

/** @typedef {{ DatabaseSync: new (file: string) => Database } | undefined} Sqlite */
const sqlite = /** @type {Sqlite} */ (process.getBuiltinModule("node:sqlite"));

/** @type {import("acp-skills/ports").OpenPort<"approvals">} */
export default function openApprovals({ dataDirectory, log }) {
  const file = new URL(import.meta.url).searchParams.get("file") ?? join(dataDirectory, "approvals.sqlite");
  if (sqlite === undefined) throw new Error(`node:sqlite needs Node 22.13 or newer, not ${process.version}`);
  const database = new sqlite.DatabaseSync(file);
  database.exec(`
    PRAGMA busy_timeout = 5000;
    CREATE TABLE IF NOT EXISTS approvals (scope TEXT PRIMARY KEY, approvals TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS copies (digest TEXT PRIMARY KEY, files TEXT NOT NULL);`);
  const one = database.prepare("SELECT approvals FROM approvals WHERE scope = ?");
  const all = database.prepare("SELECT scope, approvals FROM approvals ORDER BY scope");
  const write = database.prepare("INSERT OR REPLACE INTO approvals VALUES (?, ?)");
  const copy = database.prepare("SELECT files FROM copies WHERE digest = ?");
  const keep = database.prepare("INSERT OR REPLACE INTO copies VALUES (?, ?)");
  const copies = database.prepare("SELECT digest FROM copies");
  const remove = database.prepare("DELETE FROM copies WHERE digest = ?");
  const keyOf = (/** @type {ApprovalScope} */ scope) => (scope === "everywhere" ? "" : scope.project);
  const parse = (/** @type {unknown} */ text) => parseApprovals(JSON.parse(String(text)));

  /** @param {ApprovalScope} scope */
  function read(scope) {
    const row = one.get(keyOf(scope));
    return row === undefined ? nothingApproved(scope) : parse(row["approvals"]);
  }

  return {
    // What cannot be read allows nothing.
    async read(scope) {
      try {
        return await Promise.resolve(read(scope));
      } catch (error) {
        log("error", `The approvals in ${file} cannot be read: ${String(error)}`);
        return nothingApproved(scope);
      }
    },
    async change(scope, change) {
      await Promise.resolve();
      database.exec("BEGIN IMMEDIATE");
      try {
        const before = read(scope);
        const after = changeApprovals(scope, before, change);
        if (after !== before) {
          write.run(keyOf(scope), JSON.stringify(after));
          const named = new Set(all.all().flatMap((row) => parse(row["approvals"]).grants.map(({ digest }) => digest)));
          for (const { digest } of copies.all()) if (!named.has(String(digest))) remove.run(String(digest));
        }
        database.exec("COMMIT");
        return after;
      } catch (error) {
        database.exec("ROLLBACK");
        throw error;
      }
    },
    scopes: async () =>
      await Promise.resolve(all.all().map(({ scope }) => (scope === "" ? "everywhere" : { project: String(scope) }))),
    async readCopy(digest) {
      const row = await Promise.resolve(copy.get(digest));
      const files = /** @type {unknown} */ (row && JSON.parse(String(row["files"])));
      return /** @type {import("acp-skills/ports").CopiedFile[] | undefined} */ (files);
    },
    async keepCopy(digest, files) {
      const stored = toApprovedCopy(digest, files);
      if (stored !== undefined) await Promise.resolve(keep.run(digest, JSON.stringify(stored)));
    },
  };
}
