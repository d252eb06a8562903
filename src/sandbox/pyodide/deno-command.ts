/** How the child of the portable tier is started: what Deno is told, as pure data. */

export interface DenoChild {
  readonly deno: string;
  /** Directory of the package `pyodide`, of our files that run inside, and the compiled library: all that may be read. */
  readonly pyodide: string;
  readonly inside: string;
  readonly library?: string | undefined;
  /** Starts Python only to compile its library. */
  readonly making?: boolean;
  /** A path that can be neither a directory nor become one: Deno must not keep anything. */
  readonly nowhere: string;
}

export interface DenoCommand {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const never = ["write", "net", "env", "run", "sys", "ffi", "import"];

/**
 * With no right but to read its own files, which it gives back before it runs anything. On POSIX, limits of the kernel make
 * sure that no file is ever written, by no road: Deno's SQLite spills into the directory for temporary files without asking.
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
    // A comma separates; twice it is one.
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
    // Otherwise code without any right is given the machine's graphics drivers.
    DENO_WEBGPU_BACKEND: "none",
    NO_COLOR: "1",
    TZ: "UTC",
    TMPDIR: nowhere,
    // Windows starts no program without the first.
    ...(platform === "win32"
      ? { SystemRoot: process.env["SystemRoot"] ?? "C:\\Windows", TMP: nowhere, TEMP: nowhere }
      : {}),
  };
}
