/** Loads Pyodide from files, with our Python inside, from a snapshot of its memory where there is one. */
import { layFile } from "./deno_files.js";

/** The host puts them at the end of the file, and checks them. */
const SNAPSHOT_DIGEST_BYTES = 32;
const ENVIRONMENT = { HOME: "/workspace", TMPDIR: "/tmp", LANG: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1" };

/**
 * `pyodide` and `inside` are directories, `snapshot` is a file, all absolute. With `making`, answers a function that
 * makes the bytes of a snapshot; it must be called before anything else happens.
 */
export async function openPyodide({ pyodide: directory, inside, snapshot, making = false }) {
  const readFile = (path) => Deno.readFileSync(path);
  // Pyodide knows Deno only with the rights of a program of Node's. As a bare shell it asks for nothing but these two.
  delete globalThis.process;
  globalThis.load = () => undefined;
  globalThis.read = (path) => new TextDecoder().decode(readFile(path));
  globalThis.readbuffer = (path) => readFile(path).buffer;
  const script = (name) => import(toUrl(`${directory}/${name}`));
  const { loadPyodide, version } = await script("pyodide.mjs");
  const pyodide = await loadPyodide({
    createPyodideModule: (await script("pyodide.asm.mjs")).default,
    indexURL: `${directory}/`,
    lockFileContents: withoutPackages(read(`${directory}/pyodide-lock.json`)),
    packageBaseUrl: "none:",
    env: { ...ENVIRONMENT },
    stdout: () => undefined,
    stderr: () => undefined,
    _makeSnapshot: making,
    ...(snapshot === undefined ? {} : { _loadSnapshot: readFile(snapshot).subarray(0, -SNAPSHOT_DIGEST_BYTES) }),
  });
  for (const { name, isFile } of Deno.readDirSync(inside)) {
    if (isFile && name.endsWith(".py")) layFile(pyodide.FS, `/inside/${name}`, readFile(`${inside}/${name}`), 0o444);
  }
  for (const name of ["load", "read", "readbuffer"]) delete globalThis[name];
  if (snapshot === undefined) pyodide.runPython("import sys; sys.path.append('/inside'); import pyodide_entry");
  return {
    pyodide,
    version,
    makeSnapshot: making ? () => pyodide.makeMemorySnapshot() : undefined,
  };
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
