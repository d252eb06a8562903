import { expect, test } from "vitest";
import { compareManifest } from "../../../../../src/browser/page/detail/tabs/manifest-tab.tsx";
import { inventDetail } from "../../invented-detail.ts";
import { inventRow } from "../../invented-rows.ts";

function undeclaredHosts(network: readonly string[], hosts: readonly string[]): readonly string[] | undefined {
  const detail = inventDetail(inventRow(1));
  const compared = compareManifest({
    ...detail,
    wants: { ...detail.wants, network },
    detected: { hosts, environment: [] },
  });
  return compared.find(({ what }) => what === "Network")?.undeclared;
}

test.each([
  ["api.example.com", "api.example.com"],
  ["API.example.com:8443", "api.example.com"],
  ["https://api.example.com", "api.example.com"],
  ["http://127.0.0.1:8787", "127.0.0.1"],
  ["*.example.com", "api.example.com"],
  ["https://*.example.com:8443", "api.example.com"],
])("a skill that declares %s has declared %s", (declared, detected) => {
  expect(undeclaredHosts([declared], [detected])).toEqual([]);
});

test.each([
  ["example.com", "api.example.com"],
  ["*.example.com", "example.com"],
  ["*.example.com", "badexample.com"],
  ["https://example.com", "example.com.evil.test"],
])("a skill that declares %s has not declared %s", (declared, detected) => {
  expect(undeclaredHosts([declared], [detected])).toEqual([detected]);
});

test("names environment variables that are detected and not declared, and leaves out what nobody says", () => {
  const detail = inventDetail(inventRow(1));
  const compared = compareManifest({
    ...detail,
    wants: { ...detail.wants, secrets: ["API_KEY"] },
    detected: { hosts: [], environment: ["API_KEY", "OTHER_KEY"] },
  });
  expect(compared.find(({ what }) => what === "Environment variables")?.undeclared).toEqual(["OTHER_KEY"]);
  expect(compared.map(({ what }) => what)).not.toContain("Network");
});
