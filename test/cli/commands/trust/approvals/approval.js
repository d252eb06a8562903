/** @type {import("../../../../../src/runtime/trust/grants.ts").Grant} */
export const approval = {
  id: "grant_0123456789abcdef",
  skill: "deploy",
  version: "1.0.0",
  digest: `sha256:${"a".repeat(64)}`,
  capabilities: { network: [], secrets: [], project: "none" },
  who: "somebody",
  when: "2026-01-01T00:00:00.000Z",
  via: "cli",
};
