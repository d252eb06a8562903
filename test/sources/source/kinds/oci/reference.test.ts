import fc from "fast-check";
import { expect, test } from "vitest";
import { isSkillsError } from "../../../../../src/base/errors.ts";
import { parseSource, sourceKindOf } from "../../../../../src/sources/source.ts";

const digest = `sha256:${"0a".repeat(32)}`;

test.each([
  ["oci://ghcr.io/acme/skills/pdf:1.0.0", "oci://ghcr.io/acme/skills/pdf:1.0.0", "https://ghcr.io/acme/skills/pdf"],
  ["OCI://GHCR.io/acme/pdf", "oci://ghcr.io/acme/pdf", "https://ghcr.io/acme/pdf"],
  [`oci://ghcr.io/acme/pdf@${digest}`, `oci://ghcr.io/acme/pdf@${digest}`, "https://ghcr.io/acme/pdf"],
  [`oci://ghcr.io/acme/pdf:1@${digest}`, `oci://ghcr.io/acme/pdf:1@${digest}`, "https://ghcr.io/acme/pdf"],
  ["oci://example.com:5000/pdf:v1", "oci://example.com:5000/pdf:v1", "https://example.com:5000/pdf"],
  ["oci://example.com:443/pdf", "oci://example.com/pdf", "https://example.com/pdf"],
  ["oci://127.0.0.1:5000/a/b__c", "oci://127.0.0.1:5000/a/b__c", "http://127.0.0.1:5000/a/b__c"],
  ["oci://localhost/pdf", "oci://localhost/pdf", "http://localhost/pdf"],
  ["oci://[::1]:5000/pdf", "oci://[::1]:5000/pdf", "http://[::1]:5000/pdf"],
  ["oci://registry-1.docker.io/acme/pdf", "oci://docker.io/acme/pdf", "https://docker.io/acme/pdf"],
  ["oci://docker.io/pdf", "oci://docker.io/library/pdf", "https://docker.io/library/pdf"],
])("%s names %s", (text, label, url) => {
  expect(parseSource(text)).toEqual({ label, kind: "scheme", url });
  expect(parseSource(label)).toEqual({ label, kind: "scheme", url });
});

test.each([
  ["oci:ghcr.io/acme/pdf", "oci: is followed by // and the host of a registry"],
  ["oci://", "it names no valid host"],
  ["oci:///pdf", "it names no valid host"],
  ["oci://acme/pdf", "its host has neither a dot nor a port; write docker.io for Docker Hub"],
  ["oci://0x7f.1/pdf", "it names no valid host"],
  ["oci://ghcr.io", "the repository is missing"],
  ["oci://ghcr.io/", "the repository is missing"],
  ["oci://ghcr.io/Acme/pdf", "lower-case letters"],
  ["oci://ghcr.io/acme//pdf", "lower-case letters"],
  ["oci://ghcr.io/../pdf", "lower-case letters"],
  [`oci://ghcr.io/${"a".repeat(256)}`, "lower-case letters"],
  ["oci://ghcr.io/acme/pdf:", "what follows : is not a tag"],
  ["oci://ghcr.io/acme/pdf:a/b", "what follows : is not a tag"],
  ["oci://ghcr.io/acme/pdf@sha256:12", "what follows @ is not a digest"],
  ["oci://ghcr.io/acme/pdf@latest", "what follows @ is not a digest"],
  [`oci://ghcr.io/acme/pdf@${digest}@${digest}`, "what follows @ is not a digest"],
  ["oci://me:hunter2@ghcr.io/acme/pdf", "user information"],
  ["oci://ghcr.io/acme/pdf?token=hunter2", "no blank, query, fragment or encoding"],
  ["oci://ghcr.io/acme/p df", "no blank, query, fragment or encoding"],
])("%s is refused: %s", (text, why) => {
  expect(() => parseSource(text)).toThrow(why);
  expect(() => parseSource(text)).not.toThrow(/hunter2/);
});

test("the source at a pin is that of the digest", () => {
  const source = parseSource("oci://ghcr.io/acme/pdf:1.0.0");
  expect(sourceKindOf(source.label)?.at(source, digest)).toEqual(parseSource(`oci://ghcr.io/acme/pdf@${digest}`));
  expect(() => sourceKindOf(source.label)?.at(source, "main")).toThrow("what follows @ is not a digest");
});

test("any text after oci: is a reference with a label that names it again, or refused in a plain sentence", () => {
  const parts = fc.array(fc.oneof(fc.constantFrom("/", ":", "@", ".", "//", "ghcr.io", "pdf", digest, "A", "%", "…"), fc.string({ maxLength: 5, unit: "binary" })), { maxLength: 8 }); // prettier-ignore
  fc.assert(
    fc.property(parts, (some) => {
      try {
        const source = parseSource(`oci://${some.join("")}`);
        expect(parseSource(source.label)).toEqual(source);
        expect(new URL(source.url).protocol).toMatch(/^https?:$/);
        expect(source.label).toMatch(/^oci:\/\/[a-z0-9.:[\]-]+\/[a-z0-9._/-]+(?::[\w.-]+)?(?:@sha\d{3}:[0-9a-f]+)?$/);
      } catch (error) {
        expect(isSkillsError(error, "INVALID_OPTIONS")).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
});
