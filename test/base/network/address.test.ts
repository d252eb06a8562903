import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { describe, expect, test } from "vitest";
import { isLoopbackAddress, isPublicAddress, isReachableAddress } from "../../../src/base/network/address.ts";

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
