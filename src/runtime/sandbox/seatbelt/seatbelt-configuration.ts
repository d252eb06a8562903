/** The fields of sandbox-runtime's `SandboxRuntimeConfig` that matter on macOS. */
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

/** Directories that a run can access, as real paths. */
export interface SeatbeltPlaces {
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/** What programs need on macOS to start; contains no files of users. */
const system = [
  ...["/usr/lib", "/usr/bin", "/bin", "/usr/share", "/System", "/Library/Frameworks", "/Library/Developer"],
  ...["/private/etc/localtime", "/private/etc/ssl", "/private/var/db/timezone", "/dev"],
];

/** The runtime would treat a path with one of these as a pattern. */
const patternSigns = /[*?[\]{}]/;

/**
 * Allows reading the listed places, writing `writable`, and no network. `alwaysWritable`: what the runtime makes writable unless it is
 * denied. Throws a `TypeError` for a path that the runtime would treat as a pattern.
 */
export function seatbeltConfiguration(
  places: SeatbeltPlaces,
  alwaysWritable: readonly string[],
): SeatbeltConfiguration {
  for (const path of [...places.readable, ...places.writable]) {
    if (!path.startsWith("/") || patternSigns.test(path))
      throw new TypeError(`${path} contains characters that Seatbelt rules cannot express.`);
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

/** Quotes a word for a shell. */
export function quoteShellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
