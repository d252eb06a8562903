/** Hosts that only this machine reaches. */
export const loopbackHosts: readonly string[] = ["127.0.0.1", "::1", "localhost"];

export function isLoopbackHost(host: string): boolean {
  return loopbackHosts.includes(host);
}
