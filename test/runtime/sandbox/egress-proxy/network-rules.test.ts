import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isPublicAddress,
  isReachableAddress,
  type Scheme,
  parseAuthority,
} from "../../../../src/base/network/address.ts";
import { judge, parseNetworkRule, parseNetworkRules } from "../../../../src/runtime/sandbox/egress-proxy.ts";
import { networkEntry } from "../../../../src/skills/permissions.ts";

function allows(entries: readonly string[], scheme: Scheme, authority: string): boolean {
  const target = parseAuthority(scheme, authority);
  if (target === undefined) throw new Error(`not an authority: ${authority}`);
  return judge(parseNetworkRules(entries), target).allowed;
}

describe("entries", () => {
  test("every valid manifest entry with a reachable address is parsed", () => {
    const port = fc.oneof(fc.integer({ min: 0, max: 70_000 }), fc.constant("00"), fc.constant("08"));
    const host = fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc.stringMatching(/^[a-z0-9.x-]{1,12}$/),
      fc.constant("a".repeat(64)),
    );
    const entry = fc
      .tuple(fc.constantFrom("https://", "https://*.", "http://"), host, fc.option(port))
      .map(([start, name, number]) => `${start}${name.toLowerCase()}${number === null ? "" : `:${number}`}`);
    fc.assert(
      fc.property(entry, (text) => {
        fc.pre(networkEntry.test(text) && !/\/\/(0\.0\.0\.0|2(2[4-9]|3\d)\.|255\.)/.test(text));
        expect(parseNetworkRule(text)).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    "https://example.org",
    "https://*.example.org",
    "https://example.org:8443",
    "https://*.example.org:8443",
    "http://example.org",
    "HTTPS://Example.Org",
    "http://127.0.0.1:8080",
    "http://[::1]:8080",
    "https://1.1.1.1",
  ])("accepts %s", (entry) => {
    expect(parseNetworkRule(entry)).toBeDefined();
  });

  test.each([
    "",
    "*",
    "example.org",
    "https://",
    "https://*",
    "https://*.",
    "https://*example.org",
    "https://a.*.example.org",
    "https://**.example.org",
    "https://example.org/",
    "https://example.org/path",
    "https://example.org?x",
    "https://user@example.org",
    "https://example.org:",
    "https://example.org:*",
    "https://example.org:0",
    "ftp://example.org",
    "https://*.1.2.3.4",
    "https://*.[::1]",
    "http://0x7f000001",
    "http://127.1:8080",
    "http://0.0.0.0:8080",
    "http://[::]:8080",
    "http://255.255.255.255",
    "http://224.0.0.1",
    "https://münchen.example",
    " https://example.org",
    "https://example.org\n",
  ])("rejects %j", (entry) => {
    expect(parseNetworkRule(entry)).toBeUndefined();
  });

  test("reports all invalid entries", () => {
    expect(() => parseNetworkRules(["https://a.example", "https://*", "b"])).toThrow(
      expect.objectContaining({ code: "INVALID_OPTIONS", facts: { entries: ["https://*", "b"] } }) as Error,
    );
  });
});

describe("what an entry allows", () => {
  test("scheme, host and port must match the entry", () => {
    const entries = ["https://api.example.org", "http://plain.example.org:8080"];
    expect(allows(entries, "https", "api.example.org:443")).toBe(true);
    expect(allows(entries, "https", "API.example.ORG.")).toBe(true);
    expect(allows(entries, "https", "api.example.org:8443")).toBe(false);
    expect(allows(entries, "http", "api.example.org:443")).toBe(false);
    expect(allows(entries, "http", "api.example.org")).toBe(false);
    expect(allows(entries, "http", "plain.example.org:8080")).toBe(true);
    expect(allows(entries, "http", "plain.example.org")).toBe(false);
    expect(allows(entries, "https", "plain.example.org:8080")).toBe(false);
  });

  test("a wildcard matches subdomains at any depth, but neither the domain itself nor others with the same suffix", () => {
    const entries = ["https://*.example.org"];
    expect(allows(entries, "https", "a.example.org")).toBe(true);
    expect(allows(entries, "https", "b.a.example.org")).toBe(true);
    expect(allows(entries, "https", "example.org")).toBe(false);
    expect(allows(entries, "https", "evilexample.org")).toBe(false);
    expect(allows(entries, "https", "example.org.evil.example")).toBe(false);
  });

  test("an address matches only the same address", () => {
    expect(allows(["http://127.0.0.1:8080"], "http", "127.0.0.1:8080")).toBe(true);
    expect(allows(["http://127.0.0.1:8080"], "http", "127.0.0.1:8081")).toBe(false);
    expect(allows(["http://127.0.0.1:8080"], "http", "127.0.0.2:8080")).toBe(false);
    expect(allows(["http://127.0.0.1:8080"], "http", "localhost:8080")).toBe(false);
    expect(allows(["http://127.0.0.1:8080"], "http", "[::ffff:127.0.0.1]:8080")).toBe(false);
    expect(allows(["http://[::1]:8080"], "http", "[0:0::1]:8080")).toBe(true);
  });

  test("allows nothing without entries", () => {
    fc.assert(
      fc.property(fc.domain(), (host) => {
        expect(allows([], "https", host)).toBe(false);
      }),
    );
  });

  test("the entry that a refusal suggests allows exactly that target", () => {
    const authority = fc.tuple(
      fc.oneof(
        fc.domain(),
        fc.ipV4().filter((address) => !/^(0\.0\.0\.0|2(2[4-9]|3\d)\..*|255\..*)$/.test(address)),
      ),
      fc.integer({ min: 1, max: 65_535 }),
    );
    fc.assert(
      fc.property(fc.constantFrom<Scheme>("http", "https"), authority, authority, (scheme, [host, port], [other]) => {
        const target = parseAuthority(scheme, `${host}:${port}`);
        fc.pre(target !== undefined && host !== other);
        const judgement = judge([], target);
        const entry = judgement.allowed ? "" : /needs the entry (\S+)/.exec(judgement.why)?.[1];
        expect(allows([entry ?? ""], scheme, `${host}:${port}`)).toBe(true);
        expect(allows([entry ?? ""], scheme, `${other}:${port}`)).toBe(false);
      }),
    );
  });
});

describe("isPublicAddress", () => {
  test.each([
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
  ])("%s is not public", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each([
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "198.17.255.255",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "2001:4860:4860::8888",
  ])("%s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test("text that is not an address is not public", () => {
    for (const text of ["", "localhost", "1.1.1", "0x08080808", "2606:4700::1%eth0", "[2606:4700::1]", "1.1.1.1\0"]) {
      expect(isPublicAddress(text)).toBe(false);
    }
  });

  test("an IPv4 address embedded in an IPv6 address is never public", () => {
    fc.assert(
      fc.property(
        fc.ipV4(),
        fc.constantFrom("::ffff:", "::", "::ffff:0:", "64:ff9b::", "64:ff9b:1::"),
        (v4, prefix) => {
          expect(isPublicAddress(prefix + v4)).toBe(false);
        },
      ),
    );
  });
});

test("the unspecified address, broadcast and multicast are not reachable", () => {
  for (const address of ["0.0.0.0", "255.255.255.255", "224.0.0.1", "::", "ff02::1", "::ffff:0.0.0.0"]) {
    expect(isReachableAddress(address)).toBe(false);
  }
  for (const address of ["127.0.0.1", "169.254.169.254", "::1", "fe80::1", "8.8.8.8"]) {
    expect(isReachableAddress(address)).toBe(true);
  }
});
