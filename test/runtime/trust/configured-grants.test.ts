import fc from "fast-check";
import { expect, test } from "vitest";
import { noCapabilities } from "../../../src/skills/permissions.ts";
import { ConfiguredGrants } from "../../../src/runtime/trust/configured-grants.ts";
import { parseGrant } from "../../../src/wire/grant-text.ts";

const hex = fc.string({ unit: fc.constantFrom(...Array.from("0123456789abcdef")), minLength: 64, maxLength: 64 });
const wants = { ...noCapabilities, network: ["https://api.example"], project: "write" as const };
const seen = { name: "deploy", slug: "deploy", isOwn: true, directory: "/own/deploy" };
const versionOf = (digest: string, isOwn = true) => ({
  ...seen,
  version: "1.0.0",
  digest,
  isOwn,
  source: "/own",
});
const digest = `sha256:${"a".repeat(64)}`;

test("a grant by name and digest is for that digest only, of own skills and others", () => {
  fc.assert(
    fc.property(hex, hex, fc.boolean(), (granted, present, isOwn) => {
      const configured = new ConfiguredGrants([`deploy@${granted}`]);
      const found = configured.capabilitiesOf(versionOf(`sha256:${present}`, isOwn), wants);
      expect(found).toEqual(granted === present ? { capabilities: wants, texts: `deploy@${granted}` } : undefined);
    }),
  );
});

test("a shorter digest is no grant", () => {
  fc.assert(
    fc.property(hex, fc.integer({ min: 0, max: 63 }), (digits, length) => {
      expect(parseGrant(`deploy@${digits.slice(0, length)}`)).toBeUndefined();
    }),
  );
});

test("a grant by name is for the bytes that were pinned, and not for a skill of a project", () => {
  const configured = new ConfiguredGrants(["deploy"]);
  expect(configured.concerns({ ...seen, isOwn: false })).toBe(false);
  configured.pin({ ...seen, isOwn: false, directory: "/work/deploy" }, digest, wants);
  expect(configured.capabilitiesOf(versionOf(digest), wants)).toBeUndefined();
  configured.pin(seen, digest, wants);
  expect(configured.capabilitiesOf(versionOf(digest), wants)?.capabilities).toEqual(wants);
  expect(configured.capabilitiesOf(versionOf(`sha256:${"b".repeat(64)}`), wants)).toBeUndefined();
});

test("another directory that has the name later gets nothing from a grant by name", () => {
  const configured = new ConfiguredGrants(["deploy"]);
  configured.pin(seen, digest, wants);
  configured.resolve();
  const replaced = { ...seen, directory: "/tmp/evil" };
  const evil = `sha256:${"e".repeat(64)}`;
  expect(configured.concerns(replaced)).toBe(false);
  configured.pin(replaced, evil, wants);
  expect(configured.capabilitiesOf(versionOf(evil), wants)).toBeUndefined();
  expect(configured.capabilitiesOf(versionOf(digest), wants)?.capabilities).toEqual(wants);
});

test("a grant by name still waits for a skill that was not there yet", () => {
  const configured = new ConfiguredGrants(["deploy"]);
  configured.resolve();
  expect(configured.concerns(seen)).toBe(true);
});

test.each([
  ["deploy:secrets", { secrets: ["KEY"] }],
  ["deploy:secret-uses", { uses: ["TOKEN@api.github.com"] }],
])("%s gives reading secrets, or having them sent, not both", (text, given) => {
  const configured = new ConfiguredGrants([text]);
  const both = { ...noCapabilities, secrets: ["KEY"], uses: ["TOKEN@api.github.com"] };
  configured.pin(seen, digest, both);
  expect(configured.capabilitiesOf(versionOf(digest), both)?.capabilities).toEqual({ ...noCapabilities, ...given });
});

test("kinds of permissions are no more than these", () => {
  const configured = new ConfiguredGrants(["deploy:project-read"]);
  configured.pin(seen, digest, { ...wants, isolation: "none" });
  expect(configured.capabilitiesOf(versionOf(digest), wants)?.capabilities).toEqual({
    ...noCapabilities,
    project: "read",
  });
});
