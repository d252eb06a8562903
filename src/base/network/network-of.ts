/** Of IPv6, the network of a site. */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.startsWith("::ffff:")) return address;
  const groups = address.split("::")[0]?.split(":") ?? [];
  return groups.slice(0, 4).join(":");
}
