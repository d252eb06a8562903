import type { ApprovalScope, ApprovalStore, Approvals } from "../../runtime/trust.ts";
import type { CopiedFile } from "../../skills/files.ts";
import type { Database, Queries } from "../database.ts";
import type { Log } from "../../base/log.ts";
import { changeApprovals, nothingApproved, toApprovedCopy } from "../../runtime/ports.ts";
import { LimitedMap } from "../../base/limited-map.ts";
import { SkillsError } from "../../base/errors.ts";
import { DatabaseError } from "../database/database-error.ts";
import { toShortReason, readScope, toApprovals, unknownRows, writeScope } from "./approval-rows.ts";
import { scopeKey } from "./approval-keys.ts";

const maxScopes = 10_000;
const maxScopeCharacters = 4 * 1024 * 1024;
/** The maximum number of copies per user. Without a copy, the changes of a later version cannot be shown. */
const maxCopies = 1_000;
const maxRemembered = 256;

/** Opens the store of the user's approvals in the database of a cluster. The user is the role of the connection. */
export function openClusterApprovals(database: Database, options: { readonly log: Log }): ApprovalStore {
  return new ClusterApprovals(database, options);
}

interface Known {
  readonly revision: string;
  readonly approvals: Approvals;
}

interface ReadRow {
  readonly revision: string;
  readonly head: string;
  /** Null if the revision is the known one. */
  readonly grants: readonly string[] | null;
  readonly blocks: readonly string[] | null;
}

class ClusterApprovals implements ApprovalStore {
  readonly #database: Database;
  readonly #log: Log;
  readonly #known = new LimitedMap<string, Known>(maxRemembered);
  #isOut = false;
  readonly #damaged = new LimitedMap<string, string>(maxRemembered);

  constructor(database: Database, { log }: { readonly log: Log }) {
    this.#database = database;
    this.#log = log;
  }

  /** Grants nothing in an outage; known blocks stay. */
  async read(scope: ApprovalScope): Promise<Approvals> {
    const key = scopeKey(scope);
    const known = this.#known.get(key.toString("hex"));
    try {
      const [row] = await this.#database.query<ReadRow>(
        `select s.revision::text, s.head,
           case when s.revision::text is distinct from $2 then array(
             select g.value from acp_skills.grants g
             where g.person = s.person and g.scope_key = s.scope_key order by g.position) end as grants,
           case when s.revision::text is distinct from $2 then array(
             select b.value from acp_skills.blocks b
             where b.person = s.person and b.scope_key = s.scope_key order by b.position) end as blocks
         from acp_skills.approval_scopes s where s.person = session_user::text and s.scope_key = $1`,
        [key, known?.revision ?? null],
      );
      if (this.#isOut) this.#log("info", "Approvals of the cluster can be read again.");
      this.#isOut = false;
      return this.#toApprovals(scope, row, known);
    } catch (error) {
      if (!this.#isOut)
        this.#log(
          "warning",
          `The approvals of the cluster cannot be read, so that nothing is granted: ${toShortReason(error)}`,
        );
      this.#isOut = true;
      return { ...nothingApproved(scope), blocks: known?.approvals.blocks ?? [] };
    }
  }

  #toApprovals(scope: ApprovalScope, row: ReadRow | undefined, known: Known | undefined): Approvals {
    const key = scopeKey(scope).toString("hex");
    if (row === undefined) {
      this.#known.delete(key);
      return nothingApproved(scope);
    }
    const { head, grants, blocks, revision } = row;
    if (known !== undefined && grants === null) return known.approvals;
    try {
      const approvals = toApprovals(scope, { head, grants: grants ?? [], blocks: blocks ?? [] });
      this.#known.delete(key);
      this.#known.set(key, { revision, approvals });
      return approvals;
    } catch (error) {
      if (this.#damaged.get(key) !== revision) this.#log("warning", unknownRows(scope, error));
      this.#damaged.set(key, revision);
      return { ...nothingApproved(scope), blocks: known?.approvals.blocks ?? [] };
    }
  }

  async change(scope: ApprovalScope, change: (before: Approvals) => Approvals): Promise<Approvals> {
    return await this.#orUnreadable("stored in", () =>
      this.#database.transaction(async (queries) => {
        // The lock works before there is a row, too.
        await queries.query("select pg_advisory_xact_lock(hashtextextended(session_user::text || $1::text, 39))", [
          scopeKey(scope).toString("hex"),
        ]);
        const before = await readScope(queries, scope);
        const after = changeApprovals(scope, before.approvals, change);
        if (after === before.approvals) return after;
        await expectRoom(queries, scope, after);
        // Code that acts on approvals holds this lock shared; see the migration.
        await queries.query("select pg_advisory_xact_lock(hashtextextended(session_user::text, 38))");
        await writeScope(queries, scope, { before, after });
        const remaining = new Set(after.grants.map(({ digest }) => digest));
        if (before.approvals.grants.some(({ digest }) => !remaining.has(digest))) await removeCopies(queries);
        return after;
      }),
    );
  }

  async scopes(): Promise<readonly ApprovalScope[]> {
    const rows = await this.#orUnreadable("read from", () =>
      this.#database.query<{ scope: string }>(
        "select scope from acp_skills.approval_scopes where person = session_user::text limit $1",
        [maxScopes],
      ),
    );
    const all = rows.map(({ scope }) => JSON.parse(scope) as ApprovalScope);
    const projects = all.flatMap((scope) => (scope === "everywhere" ? [] : [scope.project])).sort();
    return [
      ...(projects.length < all.length ? (["everywhere"] as const) : []),
      ...projects.map((project) => ({ project })),
    ];
  }

  async readCopy(digest: string): Promise<readonly CopiedFile[] | undefined> {
    if (toApprovedCopy(digest, []) === undefined) return undefined;
    try {
      const [row] = await this.#database.query<{ files: string }>(
        "select files from acp_skills.approved_copies where person = session_user::text and digest = decode($1, 'hex')",
        [digest.replace("sha256:", "")],
      );
      // Texts that do not match the digests of their files are left out.
      return row && toApprovedCopy(digest, JSON.parse(row.files) as readonly CopiedFile[]);
    } catch (error) {
      this.#log("warning", `What changed in an approved version of a skill cannot be shown: ${toShortReason(error)}`);
      return undefined;
    }
  }

  async keepCopy(digest: string, files: readonly CopiedFile[]): Promise<void> {
    const copy = toApprovedCopy(digest, files);
    if (copy === undefined) return;
    try {
      await this.#database.transaction(async (queries) => {
        // With the lock, nobody removes the grant meanwhile.
        await queries.query("select pg_advisory_xact_lock_shared(hashtextextended(session_user::text, 38))");
        await queries.query(
          `insert into acp_skills.approved_copies (person, digest, files)
           select session_user::text, decode($1, 'hex'), $2
           where exists (select from acp_skills.grants
               where person = session_user::text and digest = decode($1, 'hex'))
             and (select count(*) from acp_skills.approved_copies where person = session_user::text) < $3
           on conflict do nothing`,
          [digest.replace("sha256:", ""), JSON.stringify(copy), maxCopies],
        );
      });
    } catch (error) {
      this.#log(
        "warning",
        `What changes in this approved version of a skill cannot be shown later: ${toShortReason(error)}`,
      );
    }
  }

  async #orUnreadable<Result>(verb: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      const message = `Approvals cannot be ${verb} the database of the cluster: ${error.message}.`;
      const hint = "Try again once the database can be reached.";
      throw new SkillsError("UNREADABLE", message, { cause: error, facts: { hint } });
    }
  }
}

/** Throws QUOTA_EXCEEDED if the approvals would exceed a limit. */
async function expectRoom(queries: Queries, scope: ApprovalScope, after: Approvals): Promise<void> {
  const refuse = (message: string): SkillsError => {
    const hint = "acp-skills approvals list shows them, acp-skills approvals revoke ID removes one.";
    return new SkillsError("QUOTA_EXCEEDED", message, { facts: { hint } });
  };
  if (JSON.stringify(after).length > maxScopeCharacters)
    throw refuse(`The approvals of one scope would exceed ${maxScopeCharacters / 1024 / 1024} Mi characters.`);
  const [row] = await queries.query<{ full: boolean }>(
    `select count(*) >= $1 and not coalesce(bool_or(scope_key = $2), false) as full
     from acp_skills.approval_scopes where person = session_user::text`,
    [maxScopes, scopeKey(scope)],
  );
  if (row?.full === true)
    throw refuse(`There are approvals for ${maxScopes.toLocaleString("en")} projects, the limit.`);
}

/** Removes the copies whose version no grant names any more. */
async function removeCopies(queries: Queries): Promise<void> {
  await queries.query(
    `delete from acp_skills.approved_copies c where person = session_user::text and not exists (
       select from acp_skills.grants g where g.person = c.person and g.digest = c.digest)`,
  );
}
