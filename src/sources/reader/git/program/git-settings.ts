import type { GitUrl } from "../../git.ts";

/** The git of this machine. */
export interface GitProgram {
  /** Absolute. */
  readonly file: string;
  /** PATH for it, absolute directories only: relative ones would be searched in other directories than the user meant. */
  readonly searchPath: string;
}

/** A remote that one call may talk to, at addresses that were checked. */
export interface GitRemote {
  readonly url: GitUrl;
  readonly addresses: readonly string[];
}

const none = process.platform === "win32" ? "NUL" : "/dev/null";

/**
 * All that git inherits. Built from nothing: no configuration of the system or the user, hence no hooks, filters, helpers, proxies or
 * replaced URLs; no questions; no protocol but that of the remote.
 */
export function gitEnvironment(program: GitProgram, home: string, remote?: GitRemote): NodeJS.ProcessEnv {
  const { SystemRoot, SSH_AUTH_SOCK, GIT_SSL_CAINFO } = process.env;
  const ofSsh = remote?.url.scheme === "ssh";
  return {
    PATH: program.searchPath,
    HOME: home,
    XDG_CONFIG_HOME: home,
    TMPDIR: home,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: none,
    GIT_CONFIG_GLOBAL: none,
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    SSH_ASKPASS: "/bin/false",
    GIT_PROTOCOL_FROM_USER: "0",
    // Empty: no protocol at all.
    GIT_ALLOW_PROTOCOL: remote?.url.scheme ?? "",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_LFS_SKIP_SMUDGE: "1",
    GIT_CEILING_DIRECTORIES: home,
    // A few bytes can describe an object of gigabytes. Every single allocation is limited.
    GIT_ALLOC_LIMIT: "128m",
    ...(SystemRoot !== undefined && { SystemRoot }),
    // Certificate authorities of one's own organisation.
    ...(GIT_SSL_CAINFO !== undefined && { GIT_SSL_CAINFO }),
    ...(ofSsh && { GIT_SSH_COMMAND: sshCommand(remote) }),
    ...(ofSsh && SSH_AUTH_SOCK !== undefined && { SSH_AUTH_SOCK }),
  };
}

/** git passes this to a shell; it holds nothing but a host and an address that were parsed. */
function sshCommand({ url, addresses }: GitRemote): string {
  const options = ["BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no", "PermitLocalCommand=no"];
  const [address] = addresses;
  const pinned = address === undefined ? [] : [`HostName=${address}`, `HostKeyAlias=${url.host.text}`];
  return `ssh ${[...options, ...pinned].map((option) => `-o ${option}`).join(" ")}`;
}

/** Settings of every call. None runs a program, asks the network for more than the call says, or repacks afterwards. */
const fixed = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.askPass=",
  "credential.helper=",
  "init.defaultBranch=main",
  "http.followRedirects=false",
  "http.proxy=",
  "protocol.version=2",
  "transfer.bundleURI=false",
  "fetch.bundleURI=",
  "transfer.fsckObjects=true",
  "fetch.fsckObjects=true",
  "fetch.recurseSubmodules=false",
  "submodule.recurse=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "fetch.writeCommitGraph=false",
  // Always one pack: never many small files.
  "fetch.unpackLimit=1",
  "pack.threads=1",
  // Larger contents are not held in memory while they are checked.
  "core.bigFileThreshold=4m",
  "http.lowSpeedLimit=1024",
  "http.lowSpeedTime=30",
];

/** Arguments before the command: the settings, and where the host is, so that git looks up nothing itself. */
export function gitSettings(remote?: GitRemote): readonly string[] {
  const settings = [...fixed, ...(remote === undefined ? [] : pins(remote))];
  return settings.flatMap((setting) => ["-c", setting]);
}

function pins({ url: { scheme, host, port }, addresses }: GitRemote): readonly string[] {
  if (scheme === "ssh" || host.address !== undefined) return [];
  const shown = addresses.map((address) => (address.includes(":") ? `[${address}]` : address));
  return [`http.curloptResolve=${host.text}:${port}:${shown.join(",")}`];
}
