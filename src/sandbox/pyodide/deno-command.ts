/** The command line of the pyodide tier's Deno process. */

export interface DenoChild {
  readonly deno: string;
  /** Directories of the package `pyodide` and of our files, and the compiled library: all that can be read. */
  readonly pyodide: string;
  readonly inside: string;
  readonly library?: string | undefined;
  /** Only compile the standard library. */
  readonly making?: boolean;
  /** The path of a regular file, used as Deno's cache and temporary directory, so that it cannot write anything. */
  readonly nowhere: string;
}

export interface DenoCommand {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const never = ["write", "net", "env", "run", "sys", "ffi", "import"];

/**
 * Its only permission is to read its own files, which it revokes before it runs any code. On POSIX, a resource limit prevents writing
 * files: Deno's SQLite would spill to the temporary directory without checking permissions.
 */
export function denoCommand(child: DenoChild, platform: NodeJS.Platform = process.platform): DenoCommand {
  const { deno, pyodide, inside, library, making } = child;
  const readable = [pyodide, inside, ...(library === undefined ? [] : [library])];
  const configuration = {
    pyodide,
    inside,
    ...(library === undefined ? {} : { library }),
    ...(making ? { making } : {}),
  };
  const given = [
    "run",
    "--quiet",
    "--no-prompt",
    "--no-config",
    "--no-lock",
    "--no-remote",
    "--no-npm",
    "--cached-only",
    "--no-code-cache",
    "--node-modules-dir=none",
    // A comma is escaped by doubling it.
    `--allow-read=${readable.map((path) => path.replaceAll(",", ",,")).join(",")}`,
    ...never.map((right) => `--deny-${right}`),
    platform === "win32" ? `${inside}\\deno\\main.js` : `${inside}/deno/main.js`,
    JSON.stringify(configuration),
  ];
  const environment = environmentOf(child.nowhere, platform);
  if (platform === "win32") return { file: deno, arguments: given, environment };
  return {
    file: "/bin/sh",
    arguments: ["-c", 'ulimit -f 0 && ulimit -c 0 && exec "$0" "$@"', deno, ...given],
    environment,
  };
}

/** Nothing of the host's. */
function environmentOf(nowhere: string, platform: NodeJS.Platform): Record<string, string> {
  return {
    DENO_DIR: nowhere,
    DENO_NO_UPDATE_CHECK: "1",
    DENO_NO_PROMPT: "1",
    // Otherwise code without permissions can use the graphics drivers.
    DENO_WEBGPU_BACKEND: "none",
    NO_COLOR: "1",
    TZ: "UTC",
    TMPDIR: nowhere,
    // Windows needs the first to start programs.
    ...(platform === "win32"
      ? { SystemRoot: process.env["SystemRoot"] ?? "C:\\Windows", TMP: nowhere, TEMP: nowhere }
      : {}),
  };
}
