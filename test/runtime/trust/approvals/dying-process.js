/**
 * Grants, copies, revokes and replaces a damaged file, and dies at its n-th change of the file system. Prints each request and each
 * confirmed change as a JSON line. Arguments: the directory of approvals, n.
 */
import { dieAtChange, print } from "../../../base/processes/die-at-change.js";

const [directory = "", last = ""] = process.argv.slice(2);
await dieAtChange(Number(last));

const { diskApprovals } = await import("../../../../.build/runtime/trust/approvals/disk-approvals.js");
const { grantOf } = await import("./grants.js");
const store = diskApprovals(directory, { log: () => undefined });
const project = { project: "/project" };

/** @param {unknown} event */
const say = (event) => print(JSON.stringify(event));

await store.change(project, (before) => ({ ...before, grants: [...before.grants, grantOf(1), grantOf(2)] }));
say({ granted: 1 });
say({ granted: 2 });
await store.keepCopy(grantOf(2).digest, [{ path: "SKILL.md", sha256: "0".repeat(64) }]);
say({ revoking: 2 });
await store.change(project, (before) => ({
  ...before,
  grants: before.grants.filter(({ id }) => id !== grantOf(2).id),
}));
say({ revoked: 2 });
// The test damaged this file.
await store.change("everywhere", (before) => ({ ...before, grants: [...before.grants, grantOf(4)] }));
say({ granted: 4 });
