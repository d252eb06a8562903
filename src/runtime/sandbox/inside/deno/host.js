/**
 * The second thread of the pyodide tier: runs Pyodide and all user code. Before that, it revokes its last permission. Everything this
 * thread sends is untrusted.
 */
import { collect, freeze, layFile, mountLimited } from "./files.js";
import { readFrame, readSome, writeEncoded, writeFrame } from "./frames.js";
import { openPyodide } from "./pyodide.js";

/** Memory of the engine itself, such as for compiling WebAssembly. */
const ENGINE_MEGABYTES = 64;
const PAGE = 65_536;
const MEGABYTE = 2 ** 20;
const STARTED = 1;
const OVER = 2;
const TIME_IS_UP = 3;

// Unhandled errors of user JavaScript must not end the thread.
for (const type of ["error", "unhandledrejection"]) self.addEventListener(type, (event) => event.preventDefault());

self.onmessage = async ({ data: signals }) => {
  try {
    const opened = await openPyodide(JSON.parse(Deno.args[0]));
    for (const name of ["read", "write", "net", "env", "run", "sys", "ffi", "import"]) {
      Deno.permissions.revokeSync({ name });
    }
    if (opened.library !== undefined) writeFrame({ type: "library" }, opened.library);
    else await serve(opened, signals);
  } catch (error) {
    writeFrame({ type: "failed", message: String(error?.stack ?? error).slice(0, 2000) });
  } finally {
    say(signals, OVER);
  }
};

/** One run: writes the files that the host sends, runs the program, sends the output files. */
async function serve({ pyodide, version }, signals) {
  writeFrame({ type: "ready", python: version });
  const { FS } = pyodide;
  for (let frame = readFrame(); frame !== undefined; frame = readFrame()) {
    const { header, payload, raw } = frame;
    if (header.type === "start") {
      for (const path of ["/workspace", "/output", "/tmp"]) mountLimited(FS, path, header.limits.disk_bytes);
      for (const path of ["/skills", "/blobs"]) mountLimited(FS, path, Infinity);
    } else if (header.type === "file") {
      layFile(FS, header.path, payload, 0o444);
      if (header.alias !== undefined) FS.symlink(header.path.slice(header.path.lastIndexOf("/") + 1), header.alias);
    } else if (header.type === "run") {
      if (FS.analyzePath("/dev/shm/tmp").exists) FS.rmdir("/dev/shm/tmp");
      for (const path of ["/", "/skills", "/blobs"]) freeze(FS, path);
      await run(pyodide, header, raw, signals);
      return;
    }
  }
}

async function run(pyodide, { program, limits, deadline_ms }, raw, signals) {
  // A crashed Python no longer gives access to its files.
  const { FS } = pyodide;
  let handedOver = false;
  const handOver = (end) => {
    if (handedOver) return;
    handedOver = true;
    let files = 0;
    const skipped = [];
    const take = (path, content) => {
      files += 1;
      if (files <= limits.output_files) writeFrame({ type: "file", path }, content);
      return files <= limits.output_files;
    };
    collect(FS, "/output", take, (path, why) => skipped.push({ path, why }));
    writeFrame({ type: "end", ...end, skipped, ...(files > limits.output_files ? { killed: "output" } : {}) });
    say(signals, OVER);
  };
  connect(pyodide, program);
  reportEnd(signals);
  limitMemory(pyodide, limits.memory_bytes);
  endInTime(pyodide, signals, deadline_ms, () => handOver({ stopped: "timeout" }));
  signals[1] = Math.ceil(limits.memory_bytes / MEGABYTE) + ENGINE_MEGABYTES;
  signals[2] = deadline_ms;
  say(signals, STARTED);
  try {
    const status = await pyodide
      .pyimport("pyodide_entry")
      .run.callPromising(reader(raw), (encoded, payload) => writeEncoded(encoded, payload ?? undefined));
    handOver({ exit_code: status });
  } catch (error) {
    handOver({ trouble: String(error).slice(0, 2000) });
  }
}

/** Reads the frame that started the run again, then what follows it. */
function reader(raw) {
  const waiting = [...raw];
  return (size) => {
    const [first] = waiting;
    if (first === undefined) return readSome(size);
    if (first.length > size) waiting[0] = first.subarray(size);
    else waiting.shift();
    return first.subarray(0, size);
  };
}

/**
 * At the timeout, sends the output files: immediately if Python is waiting, otherwise when it checks for signals, which Python code
 * cannot prevent. The first thread ends the process soon after.
 */
function endInTime(pyodide, signals, ms, handOver) {
  setTimeout(handOver, ms);
  pyodide.setInterruptBuffer({
    get 0() {
      if (Atomics.load(signals, TIME_IS_UP) === 1) {
        handOver();
        Atomics.wait(signals, 0, OVER);
      }
      return 0;
    },
    set 0(_signal) {},
  });
}

function say(signals, state) {
  Atomics.store(signals, 0, state);
  Atomics.notify(signals, 0);
}

/** Sends printed output as frames, on one stream except for scripts; stdin is that of the run. */
function connect(pyodide, program) {
  const input = new TextEncoder().encode(program.stdin ?? "");
  const printer = (stream) => ({
    write(bytes) {
      writeFrame({ type: "print", stream }, bytes);
      return bytes.length;
    },
  });
  const [out, err] = [printer("stdout"), printer(program.type === "script" ? "stderr" : "stdout")];
  pyodide.setStdout(out);
  pyodide.setStderr(err);
  const speak =
    (printing) =>
    (...words) =>
      printing.write(new TextEncoder().encode(`${words.map(String).join(" ")}\n`));
  globalThis.console = {
    ...console,
    log: speak(out),
    info: speak(out),
    debug: speak(out),
    warn: speak(err),
    error: speak(err),
  };
  let at = 0;
  pyodide.setStdin({
    read(buffer) {
      const part = input.subarray(at, at + buffer.length);
      buffer.set(part);
      at += part.length;
      return part.length;
    },
  });
}

/** If user code ends this thread, the run ends: the first thread would otherwise wait for the timeout. */
function reportEnd(signals) {
  for (const [holder, name] of [
    [Deno, "exit"],
    [globalThis, "close"],
  ]) {
    const end = holder[name];
    const value = (...given) => {
      say(signals, OVER);
      return end.apply(holder, given);
    };
    Object.defineProperty(holder, name, { value, writable: false, configurable: false });
  }
}

/** Makes Python raise MemoryError. A program can remove this limit, but not that of the first thread. */
function limitMemory(pyodide, bytes) {
  const { prototype } = WebAssembly.Memory;
  const { grow } = prototype;
  const maxBytes = pyodide._module.HEAPU8.length + bytes;
  prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * PAGE > maxBytes) throw new RangeError("The run's memory is used up.");
    return grow.call(this, pages);
  };
}
