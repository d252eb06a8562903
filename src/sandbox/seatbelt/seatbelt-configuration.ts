/** What `@anthropic-ai/sandbox-runtime` is told, as pure data: the fields of its `SandboxRuntimeConfig` that matter on macOS. */
export interface SeatbeltConfiguration {
  readonly network: {
    readonly allowedDomains: readonly string[];
    readonly deniedDomains: readonly string[];
    readonly strictAllowlist: boolean;
    readonly allowUnixSockets: readonly string[];
    readonly allowAllUnixSockets: boolean;
    readonly allowLocalBinding: boolean;
  };
  readonly filesystem: {
    readonly denyRead: readonly string[];
    readonly allowRead: readonly string[];
    readonly allowWrite: readonly string[];
    readonly denyWrite: readonly string[];
    readonly allowGitConfig: boolean;
  };
  readonly allowPty: boolean;
  readonly allowAppleEvents: boolean;
  readonly enableWeakerNetworkIsolation: boolean;
}

/** Which directories a run sees, all of them real paths. */
export interface SeatbeltPlaces {
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/** What programs of macOS need to start at all; nothing of a person's is in them. */
const system = [
  ...["/usr/lib", "/usr/bin", "/bin", "/usr/share", "/System", "/Library/Frameworks", "/Library/Developer"],
  ...["/private/etc/localtime", "/private/etc/ssl", "/private/var/db/timezone", "/dev"],
];

/** These are signs of a pattern to the runtime, which then would match other paths, or none. */
const patternSigns = /[*?[\]{}]/;

/**
 * Nothing may be read but what is listed, nothing written but `writable`, and there is no network. `alwaysWritable` is what the
 * runtime lets every program write unless it is denied. Throws a `TypeError` for a path that the runtime would take for a pattern.
 */
export function seatbeltConfiguration(
  places: SeatbeltPlaces,
  alwaysWritable: readonly string[],
): SeatbeltConfiguration {
  for (const path of [...places.readable, ...places.writable]) {
    if (!path.startsWith("/") || patternSigns.test(path)) throw new TypeError(`${path} cannot be named to Seatbelt.`);
  }
  return {
    network: {
      allowedDomains: [],
      deniedDomains: ["*"],
      strictAllowlist: true,
      allowUnixSockets: [],
      allowAllUnixSockets: false,
      allowLocalBinding: false,
    },
    filesystem: {
      denyRead: ["/"],
      allowRead: [...system, ...places.readable, ...places.writable],
      allowWrite: [...places.writable],
      denyWrite: [...alwaysWritable.filter((path) => !path.startsWith("/dev/")), ...places.readable],
      allowGitConfig: true,
    },
    allowPty: false,
    allowAppleEvents: false,
    enableWeakerNetworkIsolation: false,
  };
}

/** One word of a shell's command, whatever is in it. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
