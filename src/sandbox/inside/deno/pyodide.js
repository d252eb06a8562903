/** Loads Pyodide from files, with our Python inside. */
import { layFile } from "./files.js";

/** The host puts a digest at the end of a file that it made. */
const DIGEST_BYTES = 32;
const ENVIRONMENT = { HOME: "/workspace", TMPDIR: "/tmp", LANG: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1" };

/**
 * `pyodide` and `inside` are directories, `library` is the compiled standard library where there is one, all absolute. With
 * `making` it is only opened to compile that library, and `library` in the answer is the bytes.
 */
export async function openPyodide({ pyodide: directory, inside, library, making = false }) {
  const readFile = (path) => Deno.readFileSync(path);
  // Pyodide knows Deno only with the rights of a program of Node's. As a bare shell it asks for nothing but these.
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
  // All in one directory, as the host copies them for the other tiers.
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

/** No package can be loaded: there is no network, and no list of them either. */
function withoutPackages(lock) {
  return JSON.stringify({ info: JSON.parse(lock).info, packages: {} });
}

function toUrl(path) {
  const url = new URL("file:///");
  url.pathname = path.replaceAll("\\", "/").replaceAll("%", "%25");
  return url.href;
}
