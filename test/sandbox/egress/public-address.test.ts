import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPublicAddress, isReachableAddress } from "../../../src/sandbox/egress/public-address.ts";

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
