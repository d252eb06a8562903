import { expect, test } from "vitest";
import { isSkillsError } from "../../../../src/base/errors.ts";
import { parseDescriptor } from "../../../../src/sources/reader/indexes/skill-sharing.ts";
import { digest } from "./read-document.ts";

const address = "https://example.com/skills/translate/descriptor.json";
const descriptor = {
  protocol: { version: "1.0.0" },
  id: "com.example.translate-v1",
  name: "Universal Translator",
  version: "2.1.0",
  capability_type: "api",
  description: "Translates.",
  provider: { name: "Example Corp" },
  endpoint: { url: "/skills/translate", method: "POST" },
  inputs: { text: { type: "string", required: true } },
  output: { text: { type: "string" } },
  auth: { type: "none" },
  access: "public",
};
const download = (endpoint: object): object => ({ ...descriptor, capability_type: "knowledge", endpoint: { url: "x", method: "GET", ...endpoint } }); // prettier-ignore

test("a skill of type api is invoked at its endpoint, which is made absolute", () => {
  const skill = parseDescriptor({ ...descriptor, future: 1 }, address);
  expect(skill).toMatchObject({ name: "translate", id: descriptor.id, capabilityType: "api", access: "public" });
  expect(skill.content).toEqual({
    type: "api",
    descriptor: { ...descriptor, endpoint: { url: "https://example.com/skills/translate", method: "POST" } },
  });
});

test.each([
  [
    { url: "t.tar.gz", digest },
    { type: "archive", url: "https://example.com/skills/translate/t.tar.gz", digest },
  ],
  [{ media_type: "application/gzip" }, { type: "archive", url: "https://example.com/skills/translate/x" }],
  [{ media_type: "Application/Zip; x=1" }, { type: "archive", url: "https://example.com/skills/translate/x" }],
  [{ media_type: "text/markdown" }, { type: "skill-md", url: "https://example.com/skills/translate/x" }],
  [{ url: "SKILL.md" }, { type: "skill-md", url: "https://example.com/skills/translate/SKILL.md" }],
  [
    { media_type: "text/html" },
    { type: "unusable", why: "its endpoint delivers neither SKILL.md nor an archive of a skill" },
  ],
  [{}, { type: "unusable", why: "its endpoint delivers neither SKILL.md nor an archive of a skill" }],
  [{ method: "POST" }, { type: "unusable", why: "its endpoint takes POST, and files are downloaded with GET" }],
  [{ digest: "sha1:x" }, { type: "unusable", why: "its digest is not sha256: and 64 hexadecimal digits" }],
])("the files of another skill are had from its endpoint %j", (endpoint, content) => {
  expect(parseDescriptor(download(endpoint), address).content).toEqual(content);
});

let deep: unknown = 1;
for (let depth = 0; depth < 10_000; depth++) deep = [deep];

test.each([
  [{ ...descriptor, protocol: { version: "2.0.0" } }, "VERSION_INCOMPATIBLE", "it says 2.0.0 of Skill Sharing; this program reads version 1.0.0"], // prettier-ignore
  [{ ...descriptor, protocol: undefined }, "SOURCE_INVALID", "protocol: expected object"],
  [{ ...descriptor, auth: { type: "magic" } }, "SOURCE_INVALID", "auth.type: expected one of"],
  [{ ...descriptor, endpoint: { url: "file:///etc/passwd", method: "POST" } }, "SOURCE_INVALID", "endpoint.url: a URL is neither"], // prettier-ignore
  [{ ...descriptor, endpoint: { url: "https://localhost/x", method: "POST" } }, "SOURCE_INVALID", "leads to this machine"], // prettier-ignore
  [{ ...descriptor, inputs: { a: { type: "string", default: deep } } }, "SOURCE_INVALID", "more than 32 levels"],
  [null, "SOURCE_INVALID", "expected object, received null"],
  [[], "SOURCE_INVALID", "expected object, received array"],
])("a descriptor that cannot be used says why", (value, code, why) => {
  let refusal: unknown;
  try {
    parseDescriptor(value, address);
  } catch (error) {
    refusal = error;
  }
  expect(isSkillsError(refusal)).toBe(true);
  expect(refusal).toMatchObject({ code, message: expect.stringContaining(why) as string });
});
