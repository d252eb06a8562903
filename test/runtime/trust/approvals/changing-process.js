/**
 * Grants the numbers from FIRST to LAST, revokes each odd one after the next grant, and prints `+<number>` or `-<number>` after each
 * confirmed change. Arguments: the directory of approvals, FIRST, LAST.
 */
import { diskApprovals } from "../../../../.build/runtime/trust/approvals/disk-approvals.js";
import { grantOf } from "./grants.js";

const [directory = "", first = "", last = ""] = process.argv.slice(2);
const store = diskApprovals(directory, { log: (_level, message) => void process.stderr.write(`${message}\n`) });
const project = { project: "/project" };

for (let number = Number(first); number <= Number(last); number++) {
  await store.change(project, (before) => ({ ...before, grants: [...before.grants, grantOf(number)] }));
  process.stdout.write(`+${number}\n`);
  if (number % 2 === 1) continue;
  process.stdout.write(`?${number - 1}\n`);
  const { id } = grantOf(number - 1);
  await store.change(project, (before) => ({ ...before, grants: before.grants.filter((grant) => grant.id !== id) }));
  process.stdout.write(`-${number - 1}\n`);
}
