import fc from "fast-check";
import { expect, test } from "vitest";
import {
  beyond,
  covers,
  inOnePhrase,
  inShort,
  inWords,
  noCapabilities,
  permissionWords,
  permissionsOf,
  readMetadataPermissions,
  together,
} from "../../../src/skills/permissions.ts";
import { headerOfSecret, secretHostFault, targetOfSecretHost } from "../../../src/skills/permissions/secret-use.ts";
import { readManifest } from "../../../src/skills/manifest/read-manifest.ts";

const use = { ...noCapabilities, uses: ["GH_TOKEN@api.github.com"] };
const read = { ...noCapabilities, secrets: ["GH_TOKEN"] };

function permissionsIn(secrets: string): unknown {
  const toml = `name = "a.b"\nversion = "1.0.0"\ndescription = "Does it."\nkind = "instruction"\n[permissions]\nsecrets = ${secrets}\n`;
  const { manifest } = readManifest(toml, "skill.toml");
  return manifest && permissionsOf({ manifest, metadata: {} });
}

test("a plain name is read by code; a table with hosts is only sent there, unless it says expose = true", () => {
  expect(permissionsIn('["API_KEY"]')).toEqual({ ...noCapabilities, secrets: ["API_KEY"] });
  expect(permissionsIn('[{ name = "GH_TOKEN", hosts = ["api.github.com"] }]')).toEqual(use);
  expect(permissionsIn('[{ name = "GH_TOKEN", hosts = ["api.github.com"], expose = true }]')).toEqual({
    ...use,
    secrets: ["GH_TOKEN"],
  });
  expect(permissionsIn('[{ name = "GH_TOKEN", expose = true }]')).toEqual(read);
});

test("the question says who has the value", () => {
  expect(inWords(read)).toEqual(["can read the value of GH_TOKEN"]);
  expect(inWords(use)).toEqual(["can use GH_TOKEN with api.github.com"]);
  const two = { ...use, uses: [...use.uses, "GH_TOKEN@uploads.github.com", "A_KEY@a.example:8443"] };
  expect(inWords(two)).toEqual([
    "can use GH_TOKEN with api.github.com and uploads.github.com",
    "can use A_KEY with a.example:8443",
  ]);
  expect(inShort(use)).toBe("use of GH_TOKEN with api.github.com");
  expect(inShort(two)).toBe(
    "use of 2 secrets (GH_TOKEN with api.github.com and uploads.github.com and A_KEY with a.example:8443)",
  );
  expect(inOnePhrase({ ...use, network: ["https://a.example"] })).toBe(
    "use GH_TOKEN with api.github.com and connect to a.example",
  );
  expect(permissionWords(two)).toEqual([
    "secret GH_TOKEN only for api.github.com and uploads.github.com",
    "secret A_KEY only for a.example:8443",
  ]);
});

test("reading a secret and using it are two permissions, and so is each host", () => {
  expect(covers(use, read)).toBe(false);
  expect(covers(read, use)).toBe(false);
  const wider = { ...use, uses: [...use.uses, "GH_TOKEN@evil.example"] };
  expect(beyond(use, wider)).toEqual({ ...noCapabilities, uses: ["GH_TOKEN@evil.example"] });
  expect(covers(together([use, read]), together([read, use]))).toBe(true);
});

test("metadata names a secret with its host, and reports a host that is none", () => {
  const messages: string[] = [];
  const metadata = { "acp-skills-secrets": "API_KEY GH_TOKEN@api.github.com GH_TOKEN@*.github.com A-B@c.example" };
  expect(readMetadataPermissions(metadata, ({ message }) => messages.push(message))).toEqual({
    ...use,
    secrets: ["API_KEY"],
  });
  expect(messages).toEqual([
    'metadata.acp-skills-secrets: "*.github.com" has a `*`, but a secret is sent only to hosts that are named; it is ignored',
    'metadata.acp-skills-secrets: "A-B" is not a valid secret name; it is ignored',
  ]);
});

test("a secret is sent as a bearer token in Authorization, or alone in another header", () => {
  expect(headerOfSecret([{ name: "A", hosts: [] }], "A")).toEqual({ header: "authorization", scheme: "Bearer" });
  expect(headerOfSecret([{ name: "A", header: "X-Api-Key" }], "A")).toEqual({ header: "x-api-key" });
  expect(headerOfSecret([{ name: "A", scheme: "token" }], "A")).toEqual({ header: "authorization", scheme: "token" });
});

test.each([
  ["api.github.com", "https", "api.github.com", 443],
  ["api.github.com:8443", "https", "api.github.com", 8443],
  ["xn--exmple-cua.com", "https", "xn--exmple-cua.com", 443],
  ["93.184.216.34", "https", "93.184.216.34", 443],
  ["http://127.0.0.1:8080", "http", "127.0.0.1", 8080],
  ["127.0.0.1:8443", "https", "127.0.0.1", 8443],
  ["[::1]:8443", "https", "[::1]", 8443],
])("%s is a host of a secret", (host, scheme, text, port) => {
  expect(targetOfSecretHost(host)).toMatchObject({ scheme, host: { text }, port });
  expect(secretHostFault(host)).toBeUndefined();
});

test.each([
  ["*", "has a `*`"],
  ["*.github.com", "has a `*`"],
  ["gïthub.com", "is not in ASCII", "Write its ASCII form, xn--gthub-cta.com."],
  ["api。github.com", "is not in ASCII", "Write its ASCII form, api.github.com."],
  ["ａpi.github.com", "is not in ASCII", "Write its ASCII form, api.github.com."],
  ["xn--a.com", "is not a valid name in ASCII form"],
  ["API.github.com", "is not in its shortest form", "Write api.github.com."],
  ["api.github.com.", "is not in its shortest form", "Write api.github.com."],
  ["api.github.com:443", "is not in its shortest form", "Write api.github.com."],
  ["https://api.github.com", "is not in its shortest form", "Write api.github.com."],
  ["api.github.com/", "has a path"],
  ["api.github.com\\@evil.example", "has a user name"],
  ["api.github.com#evil", "has a path"],
  ["me@api.github.com", "has a user name"],
  ["2130706433", "is neither"],
  ["0x7f.0.0.1", "is neither"],
  ["127.1", "is neither"],
  ["017700000001", "is neither"],
  ["[::ffff:127.0.0.1]", "is an address of a private network"],
  ["10.0.0.5", "is an address of a private network"],
  ["169.254.169.254", "is an address of a private network"],
  ["localhost", "is a name for this machine"],
  ["a.localhost:8080", "is a name for this machine"],
  ["http://api.github.com", "is asked over http"],
  ["http://93.184.216.34", "is asked over http"],
  ["ftp://api.github.com", "is asked over ftp"],
  ["api.github.com:0", "is neither"],
  ["api.github.com:99999", "is neither"],
  ["api..github.com", "is neither"],
  ["api.github.com\r\nX: y", "is not in ASCII"],
  ["", "is not a host"],
])("%j is refused as a host of a secret", (host, what, fix?: string) => {
  expect(targetOfSecretHost(host)).toBeUndefined();
  const fault = secretHostFault(host);
  expect(fault?.what).toContain(what);
  expect(fault?.fix).toMatch(/\.$/);
  if (fix !== undefined) expect(fault?.fix).toBe(fix);
});

test("a text is either one exact target or has a fault, and is spelled as URLs are", () => {
  const part = fc.constantFrom(
    "api",
    "a-b",
    "xn--p1ai",
    "127.0.0.1",
    ".",
    ":",
    "8443",
    "*",
    "@",
    "/",
    "é",
    "[::1]",
    "//",
    "http",
    " ",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(part, { maxLength: 6 }).map((parts) => parts.join("")),
        fc.string(),
      ),
      (host) => {
        const target = targetOfSecretHost(host);
        expect(secretHostFault(host) === undefined).toBe(target !== undefined);
        if (target === undefined) return;
        const url = new URL(host.includes("://") ? host : `https://${host}`);
        expect(`${url.protocol}//${url.host}`).toBe(host.includes("://") ? host : `https://${host}`);
        expect(url.hostname).toBe(target.host.text);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("any value in secrets is either accepted or has a finding at its place", () => {
  const value = fc.oneof(fc.string(), fc.boolean(), fc.constantFrom("API_KEY", "api.example.com", "Authorization"));
  const table = fc.dictionary(
    fc.constantFrom("name", "hosts", "header", "scheme", "expose", "x"),
    fc.oneof(value, fc.array(value, { maxLength: 2 })),
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(value, table), { maxLength: 3 }), (secrets) => {
      const written = secrets.map((one) => (typeof one === "object" ? inline(one) : JSON.stringify(one))).join(", ");
      const toml = `name = "a.b"\nversion = "1.0.0"\ndescription = "Does it."\nkind = "instruction"\n[permissions]\nsecrets = [${written}]\n`;
      const { manifest, findings } = readManifest(toml, "skill.toml");
      const errors = findings.filter(({ code }) => !["manifest-key-unknown", "invisible-characters"].includes(code));
      expect(manifest === undefined).toBe(errors.length > 0);
    }),
    { numRuns: 500 },
  );
});

/** As an inline table of TOML. */
function inline(table: Readonly<Record<string, unknown>>): string {
  return `{ ${Object.entries(table)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join(", ")} }`;
}
