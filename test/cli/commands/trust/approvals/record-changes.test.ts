import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { recordChanges } from "../../../../../src/cli/commands/trust/approvals/record-changes.ts";
import { diskLedger } from "../../../../../src/runtime/ledger/disk-ledger.ts";
import type { LedgerEntry } from "../../../../../src/runtime/ledger.ts";
import { diskApprovals } from "../../../../../src/runtime/trust/approvals/disk-approvals.ts";
import type { ApprovalStore } from "../../../../../src/runtime/trust/approvals.ts";
import { dieAtEachChange } from "../../../../base/processes/die-at-each-change.ts";
import { approval } from "./approval.js";
import { changeApprovals, nothingApproved } from "../../../../../src/runtime/trust/approvals/scope-approvals.ts";

const log = (): void => undefined;

test.each(["grant", "revoke"] as const)("a %s that is killed is never in force without its line", async (what) => {
  const latest = await dieAtEachChange({
    program: fileURLToPath(new URL("./dying-approval.js", import.meta.url)),
    args: [what],
    prepare: async () => {
      const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-test-approval-"));
      const store = diskApprovals(path.join(directory, "trust"), { log });
      if (what === "revoke") await store.change("everywhere", (before) => ({ ...before, grants: [approval] }));
      return directory;
    },
    directoryOf: (directory) => directory,
    check: async (directory, _printed, moment) => {
      const { grants } = await diskApprovals(path.join(directory, "trust"), { log }).read("everywhere");
      const events: (string | undefined)[] = [];
      for await (const { event, grant } of diskLedger(path.join(directory, "ledger"), { log }).read()) {
        expect(grant).toBe(approval.id);
        events.push(event);
      }
      const isInForce = (grants.length === 1) === (what === "grant");
      if (isInForce) expect(events, moment).toEqual([what]);
      rmSync(directory, { recursive: true });
    },
  });
  expect(latest).toBeGreaterThan(5);
});

test("records each difference once, though another process was faster", async () => {
  const entries: LedgerEntry[] = [];
  const ledger = { record: (entry: LedgerEntry) => void entries.push(entry), read: noEntries, close: log };
  const stored = changeApprovals("everywhere", nothingApproved("everywhere"), (before) => ({
    ...before,
    blocks: [{ skill: "old", from: "own", who: "somebody", when: approval.when, via: "cli" }],
    trusted: { who: "somebody", when: approval.when, via: "cli" },
  }));
  const store: Pick<ApprovalStore, "change"> = {
    change: (scope, change) => {
      changeApprovals(scope, stored, change);
      return Promise.resolve(changeApprovals(scope, stored, change));
    },
  };
  const recorded = recordChanges(store as ApprovalStore, ledger);
  await recorded.change({ project: "/p" }, (before) => before);
  expect(entries).toEqual([]);
  await recorded.change({ project: "/p" }, ({ format, ...before }) => ({
    format,
    grants: [approval],
    blocks: [{ ...before.blocks[0], skill: "new" } as (typeof before.blocks)[number]],
  }));
  const { skill, version, digest, id } = approval;
  const by = { at: expect.any(Number) as number, tool: "approvals", project: "/p", door: "cli" };
  expect(entries).toEqual([
    {
      ...by,
      event: "grant",
      outcome: "allowed",
      skill,
      version,
      digest,
      grant: id,
      about: expect.any(String) as string,
    },
    { ...by, event: "block", outcome: "denied", skill: "new" },
    { ...by, event: "revoke", skill: "old", about: `the block, given by somebody, ${approval.when}, cli` },
    {
      ...by,
      event: "revoke",
      about: `models may read the skills that came with /p, given by somebody, ${approval.when}, cli`,
    },
  ]);
});

async function* noEntries(): AsyncGenerator<LedgerEntry> {
  // Nobody reads it.
}
