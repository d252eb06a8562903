import { expect, test } from "vitest";
import type { ValueFault } from "../../src/skills/manifest/check-document.ts";
import { readMetadataPermissions } from "../../src/skills/permissions.ts";

test("reports an invalid port and ignores the entry", () => {
  const faults: ValueFault[] = [];
  const metadata = { "acp-skills-network": "https://a.example:0 https://b.example:65536 https://c.example:443" };
  expect(readMetadataPermissions(metadata, (fault) => faults.push(fault)).network).toEqual(["https://c.example:443"]);
  expect(faults).toMatchObject(
    ["https://a.example:0", "https://b.example:65536"].map((entry) => ({
      code: "metadata-permission-invalid",
      child: "acp-skills-network",
      message: `metadata.acp-skills-network: "${entry}" is not a valid host; it is ignored`,
      fix: "Use the form https://host or https://*.host, with a port from 1 to 65535 or none. Separate entries with spaces.",
    })),
  );
});

test.each([
  [" none ", "none", "isolation-none", "the skill asks to run without a sandbox, with all rights of its user"],
  [
    "auto",
    undefined,
    "metadata-permission-invalid",
    'metadata.acp-skills-isolation: "auto" is not none; it is ignored',
  ],
])("reads the isolation %j", (written, isolation, code, message) => {
  const faults: ValueFault[] = [];
  const found = readMetadataPermissions({ "acp-skills-isolation": written }, (fault) => faults.push(fault));
  expect(found.isolation).toBe(isolation);
  expect(faults).toMatchObject([{ code, child: "acp-skills-isolation", message }]);
});
