/**
 * Grants or revokes one approval, and dies at its n-th change of the file system.
 * Arguments: a data directory, n, `grant` or `revoke`.
 */
import { dieAtChange } from "../../../../base/processes/die-at-change.js";

const [directory = "", last = "", what = ""] = process.argv.slice(2);
await dieAtChange(Number(last));

const { diskLedger } = await import("../../../../../.build/runtime/ledger/disk-ledger.js");
const { diskApprovals } = await import("../../../../../.build/runtime/trust/approvals/disk-approvals.js");
const { recordChanges } = await import("../../../../../.build/cli/commands/trust/approvals/record-changes.js");
const { approval } = await import("./approval.js");

const log = () => undefined;
const store = recordChanges(diskApprovals(`${directory}/trust`, { log }), diskLedger(`${directory}/ledger`, { log }));
await store.change("everywhere", (before) => ({ ...before, grants: what === "grant" ? [approval] : [] }));
