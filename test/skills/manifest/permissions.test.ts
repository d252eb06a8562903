import { expect, test } from "vitest";
import type { ValueFault } from "../../../src/skills/rules/check-frontmatter.ts";
import { readMetadataPermissions } from "../../../src/skills/manifest/permissions.ts";

test("reports an invalid port and ignores the entry", () => {
  const faults: ValueFault[] = [];
  const metadata = { "acp-skills-network": "https://a.example:0 https://b.example:65536 https://c.example:443" };
  expect(readMetadataPermissions(metadata, (fault) => faults.push(fault)).network).toEqual(["https://c.example:443"]);
  expect(faults).toMatchObject(
    ["https://a.example:0", "https://b.example:65536"].map((entry) => ({
      code: "metadata-permission-invalid",
      child: "acp-skills-network",
      message: `metadata.acp-skills-network: "${entry}" has a port outside 1-65535; it is ignored`,
      fix: "Use a port from 1 to 65535, or none. Separate entries with spaces.",
    })),
  );
});
