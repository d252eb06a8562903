import { BlockList, isIPv4, isIPv6 } from "node:net";

/** Special-purpose IPv4 addresses (IANA registry), and those of cloud metadata services. */
const specialIPv4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/**
 * Only global unicast addresses are public, except protocol assignments such as Teredo, documentation and 6to4. So loopback,
 * IPv4-mapped, IPv4-compatible, NAT64, unique local, link-local and multicast addresses are not.
 */
const globalIPv6 = "2000::/3";
const specialIPv6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const unreachable = ["0.0.0.0/32", "224.0.0.0/4", "255.255.255.255/32", "::/128", "ff00::/8"];

const special = toBlockList([...specialIPv4, ...specialIPv6]);
const globalUnicast = toBlockList([globalIPv6]);
const nobody = toBlockList(unreachable);
const loopback = toBlockList(["127.0.0.0/8", "::1/128"]);

/** Whether an address is public; false for an invalid one. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%")) return false;
  return globalUnicast.check(address, "ipv6") && !special.check(address, "ipv6");
}

/** Whether an address can be of one host: not unspecified (which the system treats as loopback), broadcast or multicast. */
export function isReachableAddress(address: string): boolean {
  return !nobody.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/** Whether an address is of this machine by definition. IPv4-mapped addresses are not taken for it. */
export function isLoopbackAddress(address: string): boolean {
  return loopback.check(address, isIPv4(address) ? "ipv4" : "ipv6") && !address.toLowerCase().startsWith("::ffff:");
}

function toBlockList(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = "", prefix] = subnet.split("/");
    list.addSubnet(network, Number(prefix), isIPv4(network) ? "ipv4" : "ipv6");
  }
  return list;
}

/** The network that an address belongs to: the site's for IPv6, the address itself for IPv4. */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.startsWith("::ffff:")) return address;
  return (address.split("::")[0]?.split(":") ?? []).slice(0, 4).join(":");
}
