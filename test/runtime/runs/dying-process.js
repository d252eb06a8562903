/**
 * Records runs and dies at its n-th change of the file system. Prints the id of each run whose record is said to be stored.
 * Arguments: the store directory, n.
 */
import { dieAtChange, print } from "../../base/processes/die-at-change.js";

const [directory = "", last = ""] = process.argv.slice(2);
await dieAtChange(Number(last));

const { diskRunStore } = await import("../../../.build/runtime/runs/run-store.js");
const { defaultRunLimits } = await import("../../../.build/runtime/runs/run-limits.js");
const store = diskRunStore(directory, { log: () => undefined });
/** @type {readonly ("queued" | "running" | "cancelled")[]} */
const statuses = ["queued", "running", "cancelled"];

await Promise.all(
  ["me", "me", "other"].map(async (owner, number) => {
    for (const status of statuses) {
      store.keep(runOf(owner, number, status));
      if (await store.stored(idOf(number))) print(idOf(number));
    }
  }),
);
await store.close();

/** @param {number} number */
function idOf(number) {
  return `run_000000000${number}`;
}

/** @type {(owner: string, number: number, status: "queued" | "running" | "cancelled") => import("../../../.build/runtime/runs/run-store.js").StoredRun} */
function runOf(owner, number, status) {
  return {
    spec: {
      runId: idOf(number),
      program: { type: "code", code: "", entrypoint: "main", args: {} },
      mounts: [],
      brokered: [],
      blobs: [],
      limits: { ...defaultRunLimits },
      clamped: false,
      needs: { network: [], secrets: [], project: "none" },
      owner,
      door: "http",
    },
    createdAt: Date.now(),
    status,
    events: [],
  };
}
