/** @param {number} number the same grant as `grantOf` of `test/runtime/trust/grant-of.ts`, for child processes */
export function grantOf(number) {
  const hex = number.toString(16);
  return {
    id: `grant_${hex.padStart(16, "0")}`,
    skill: `acme.skill${number}`,
    version: "1.0.0",
    digest: `sha256:${hex.padStart(64, "0")}`,
    capabilities: /** @type {const} */ ({
      network: ["https://api.example.org"],
      secrets: ["API_KEY"],
      project: "read",
    }),
    who: "ada",
    when: "2026-01-02T03:04:05.678Z",
    via: "editor",
  };
}
