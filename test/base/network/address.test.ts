import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { describe, expect, test } from "vitest";
import {
  isLoopbackAddress,
  isPublicAddress,
  isReachableAddress,
  canonicalHost,
  parseAbsoluteForm,
  parseAuthority,
  parseConnectTarget,
  toAuthority,
  toNetworkPermission,
} from "../../../src/base/network/address.ts";

/** Ranges of ipaddr.js that are global all the same: anycast services of the DNS and of multicast. */
const globalServices = new Set(["as112", "as112v6", "amt"]);

const ipv4 = fc.oneof(
  fc.ipV4(),
  // Near the edges of what is special.
  fc
    .tuple(
      fc.constantFrom("0", "10", "100", "127", "169", "172", "192", "198", "203", "224", "240", "255"),
      fc.constantFrom(0, 15, 16, 31, 32, 51, 63, 64, 88, 127, 128, 168, 254, 255),
      fc.constantFrom(0, 2, 99, 100, 113, 169, 254, 255),
      fc.nat(255),
    )
    .map((parts) => parts.join(".")),
);
const ipv6 = fc.oneof(
  fc.ipV6(),
  fc
    .tuple(
      fc.constantFrom(
        "",
        "64:ff9b",
        "64:ff9b:1",
        "100",
        "2001",
        "2001:db8",
        "2002",
        "3fff",
        "5f00",
        "fc00",
        "fd00",
        "fe80",
        "fec0",
        "ff02",
        "::ffff",
      ),
      fc.nat(0xffff),
      fc.nat(0xffff),
    )
    .map(([start, a, b]) => `${start.startsWith("::") ? start : `${start}:`}:${a.toString(16)}:${b.toString(16)}`),
);

describe("isPublicAddress", () => {
  test("says so of nothing that ipaddr.js calls special", () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6), (address) => {
        if (!isPublicAddress(address)) return;
        const range = ipaddr.parse(address).range();
        expect(range === "unicast" || globalServices.has(range)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  test("says so of every IPv4 address that ipaddr.js calls unicast, but for a service of one cloud", () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        if (ipaddr.parse(address).range() !== "unicast" || address === "168.63.129.16") return;
        expect(isPublicAddress(address)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  test.each(["168.63.129.16", "::7f00:1", "1::1", "4000::1", "100:0:0:1::1"])(
    "is stricter than ipaddr.js about %s",
    (address) => {
      expect(ipaddr.parse(address).range()).toBe("unicast");
      expect(isPublicAddress(address)).toBe(false);
    },
  );

  test.each(["0177.0.0.1", "127.1", "2130706433", "0x7f.1", "1.2.3.04", "fe80::1%eth0", "example.com", ""])(
    "is false for %j, which is no address",
    (text) => {
      expect(isPublicAddress(text)).toBe(false);
    },
  );
});

test.each([
  ["127.0.0.1", true],
  ["127.255.255.254", true],
  ["::1", true],
  ["128.0.0.1", false],
  ["::2", false],
  ["::ffff:127.0.0.1", false],
  ["::ffff:7f00:1", false],
  ["0.0.0.0", false],
])("isLoopbackAddress(%s) is %s", (address, is) => {
  expect(isLoopbackAddress(address)).toBe(is);
});

test.each([
  ["0.0.0.0", false],
  ["::", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["ff02::1", false],
  ["10.0.0.1", true],
  ["::1", true],
])("isReachableAddress(%s) is %s", (address, is) => {
  expect(isReachableAddress(address)).toBe(is);
});

describe("canonicalHost", () => {
  test.each([
    ["example.org", "example.org"],
    ["API.Example.ORG", "api.example.org"],
    ["example.org.", "example.org"],
    ["xn--mnchen-3ya.example", "xn--mnchen-3ya.example"],
    ["my_bucket.example.org", "my_bucket.example.org"],
    ["1password.example", "1password.example"],
    ["127.0.0.1.nip.example", "127.0.0.1.nip.example"],
    ["localhost", "localhost"],
    ["127.0.0.1", "127.0.0.1"],
    ["[::1]", "[::1]"],
    ["[0:0:0:0:0:0:0:1]", "[::1]"],
    ["[2001:DB8::A]", "[2001:db8::a]"],
    ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
  ])("reads %s as %s", (text, canonical) => {
    expect(canonicalHost(text)?.text).toBe(canonical);
  });

  test.each([
    ["decimal", "2130706433"],
    ["octal", "0177.0.0.1"],
    ["octal as one number", "017700000001"],
    ["hexadecimal", "0x7f000001"],
    ["hexadecimal parts", "0x7f.0x0.0x0.0x1"],
    ["a bare 0x", "127.0.0.0x"],
    ["a short form", "127.1"],
    ["a padded form", "127.0.0.001"],
    ["too many parts", "127.0.0.1.1"],
    ["a part above 255", "256.0.0.1"],
    ["a trailing dot after an address", "127.0.0.1."],
    ["two trailing dots", "example.org.."],
    ["a leading dot", ".example.org"],
    ["the empty string", ""],
    ["a dot", "."],
    ["percent-encoding", "%31%32%37.0.0.1"],
    ["a percent-encoded letter", "ex%61mple.org"],
    ["full-width digits", "１２７.０.０.１"],
    ["an ideographic full stop", "127。0。0。1"],
    ["circled letters", "ⓔⓧample.org"],
    ["non-ASCII letters", "münchen.example"],
    ["a letter whose lower case is ASCII", "\u212Aelvin.example"],
    ["a soft hyphen", "exam\u00adple.org"],
    ["user information", "user@example.org"],
    ["user information that looks like a host", "example.org:80@127.0.0.1"],
    ["a zone id", "[fe80::1%eth0]"],
    ["an encoded zone id", "[fe80::1%25eth0]"],
    ["IPv6 without brackets", "::1"],
    ["IPv4 in brackets", "[127.0.0.1]"],
    ["an IPvFuture address", "[v1.a:b]"],
    ["an unclosed bracket", "[::1"],
    ["a space", "exa mple.org"],
    ["a line break", "example.org\n"],
    ["a NUL", "example.org\0.evil"],
    ["a slash", "example.org/x"],
    ["a backslash", "example.org\\x"],
    ["a wildcard", "*.example.org"],
    ["a leading hyphen", "-example.org"],
    ["a trailing hyphen", "example-.org"],
    ["a label longer than 63 characters", `${"a".repeat(64)}.org`],
    ["a name longer than 253 characters", `${"a.".repeat(127)}abc`],
  ])("rejects %s: %s", (_what, text) => {
    expect(canonicalHost(text)).toBeUndefined();
  });

  test("returns only canonical hosts, which agree with the URL standard", () => {
    const part = fc.oneof(
      fc.constantFrom(
        "0x7f",
        "127",
        "1",
        "0",
        "00",
        "[",
        "]",
        "::1",
        "::ffff:",
        ".",
        "%",
        "%31",
        "@",
        ":",
        "a",
        "xn--",
        "１",
      ),
      fc.string({ maxLength: 3 }),
      fc.ipV4Extended(),
      fc.ipV6(),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const host = canonicalHost(parts.join(""));
        if (host === undefined) return;
        expect(host.text).toMatch(/^[a-z0-9._-]+$|^\[[0-9a-f:]+\]$/);
        expect(canonicalHost(host.text)).toEqual(host);
        // The URL standard rejects some labels that begin with xn--; these are resolved unchanged.
        const url = `http://${host.text}/`;
        if (!host.text.includes("xn--")) expect(new URL(url).hostname).toBe(host.text);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("targets", () => {
  test("the port defaults to that of the scheme", () => {
    expect(parseAuthority("https", "example.org")?.port).toBe(443);
    expect(parseAuthority("http", "example.org")?.port).toBe(80);
    expect(parseAuthority("http", "[::1]:8080")).toMatchObject({ host: { address: "::1" }, port: 8080 });
  });

  test.each([
    "a.b:",
    "a.b:0",
    "a.b:080",
    "a.b:65536",
    "a.b:+80",
    "a.b:8 0",
    "a.b:80:90",
    "a.b:８０",
    "::1:80",
    "u:p@a.b:80",
  ])("rejects the authority %s", (text) => {
    expect(parseAuthority("http", text)).toBeUndefined();
  });

  test("a CONNECT target requires a port", () => {
    expect(parseConnectTarget("example.org")).toBeUndefined();
    expect(parseConnectTarget("[::1]")).toBeUndefined();
    expect(parseConnectTarget("example.org:443")?.port).toBe(443);
  });

  test.each([
    ["http://example.org/a?b#", undefined],
    ["http://example.org", "/"],
    ["http://example.org?q=1", "/?q=1"],
    ["HTTP://EXAMPLE.org/A/../b", "/A/../b"],
    ["http://example.org//evil.example/", "//evil.example/"],
    ["https://example.org/", undefined],
    ["ftp://example.org/", undefined],
    ["http:/example.org/", undefined],
    ["http:example.org/", undefined],
    ["http://example.org\\@evil.example/", undefined],
    ["http://evil.example@example.org/", undefined],
    ["/path", undefined],
    ["*", undefined],
  ])("parses the absolute form %s to the path %s", (url, path) => {
    expect(parseAbsoluteForm(url)?.path).toBe(path);
  });

  test("an entry omits the default port", () => {
    const target = parseAuthority("https", "Example.org:443");
    expect(target && toNetworkPermission(target)).toBe("https://example.org");
    const other = parseAuthority("http", "[::1]:8080");
    expect(other && toNetworkPermission(other)).toBe("http://[::1]:8080");
    expect(other && toAuthority(other)).toBe("[::1]:8080");
  });
});
