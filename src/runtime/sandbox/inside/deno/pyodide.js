/** Loads Pyodide and our Python files. */
import { layFile } from "./files.js";

/** The host appends a digest to the compiled library. */
const DIGEST_BYTES = 32;
const ENVIRONMENT = { HOME: "/workspace", TMPDIR: "/tmp", LANG: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1" };

/**
 * `pyodide` and `inside` are directories, `library` is the compiled standard library if there is one; absolute paths. With `making`,
 * only compiles that library and returns it as `library`.
 */
export async function openPyodide({ pyodide: directory, inside, library, making = false }) {
  const readFile = (path) => Deno.readFileSync(path);
  // Pyodide's support for Deno needs permissions. As a JavaScript shell it only needs these functions.
  delete globalThis.process;
  globalThis.load = () => undefined;
  globalThis.read = (path) => new TextDecoder().decode(readFile(path));
  globalThis.readbuffer = (path) => (path === library ? readFile(path).slice(0, -DIGEST_BYTES) : readFile(path)).buffer;
  const script = (name) => import(toUrl(`${directory}/${name}`));
  const { loadPyodide, version } = await script("pyodide.mjs");
  const pyodide = await loadPyodide({
    createPyodideModule: (await script("pyodide.asm.mjs")).default,
    indexURL: `${directory}/`,
    stdLibURL: library ?? `${directory}/python_stdlib.zip`,
    lockFileContents: withoutPackages(read(`${directory}/pyodide-lock.json`)),
    packageBaseUrl: "none:",
    env: { ...ENVIRONMENT },
    stdout: () => undefined,
    stderr: () => undefined,
    _sysExecutable: "/bin/python3",
  });
  // All in one directory, as in the other tiers.
  for (const { name: room } of Deno.readDirSync(inside)) {
    for (const { name } of Deno.readDirSync(`${inside}/${room}`)) {
      if (name.endsWith(".py")) layFile(pyodide.FS, `/inside/${name}`, readFile(`${inside}/${room}/${name}`), 0o444);
    }
  }
  for (const name of ["load", "read", "readbuffer"]) delete globalThis[name];
  pyodide.runPython("import sys; sys.path.append('/inside')");
  if (making) return { library: compileLibrary(pyodide) };
  pyodide.pyimport("pyodide_entry");
  return { pyodide, version };
}

function compileLibrary(pyodide) {
  const archive = pyodide.runPython("next(path for path in sys.path if path.endswith('.zip'))");
  return pyodide.pyimport("pyodide_library").compile_library(archive).toJs();
}

/** Pyodide packages cannot be loaded. */
function withoutPackages(lock) {
  return JSON.stringify({ info: JSON.parse(lock).info, packages: {} });
}

function toUrl(path) {
  const url = new URL("file:///");
  url.pathname = path.replaceAll("\\", "/").replaceAll("%", "%25");
  return url.href;
}
