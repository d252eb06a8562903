/**
 * The first thread of the pyodide tier. It never runs user code: it starts the thread that does, and then watches it in a loop that
 * user code cannot disturb.
 */

/** Exit codes, for the host. */
const MEMORY_EXCEEDED = 86;
const TIME_EXCEEDED = 87;
const HOST_GONE = 88;

const LOOK_EVERY_MS = 15;
const SIGN_OF_LIFE_EVERY_MS = 1000;
/** Time for the other thread to send output files after the timeout. */
const HAND_OVER_MS = 1000;

/** [state, limit in megabytes, limit in milliseconds] set by the other thread before user code runs; [3] is set here: time is up. */
const signals = new Int32Array(new SharedArrayBuffer(16));
const WAITING = 0;
const STARTED = 1;
const TIME_IS_UP = 3;

const worker = new Worker(new URL("./host.js", import.meta.url), { type: "module" });
worker.postMessage(signals);

watch();

function watch() {
  while (Atomics.wait(signals, 0, WAITING, SIGN_OF_LIFE_EVERY_MS) === "timed-out") leaveIfTheHostIsGone();
  // Read once, before user code can change it.
  const bytes = Deno.memoryUsage().rss + signals[1] * 2 ** 20;
  const until = performance.now() + signals[2];
  let aliveAt = 0;
  while (Atomics.wait(signals, 0, STARTED, LOOK_EVERY_MS) !== "not-equal") {
    const now = performance.now();
    if (Deno.memoryUsage().rss > bytes) Deno.exit(MEMORY_EXCEEDED);
    if (now > until) Atomics.store(signals, TIME_IS_UP, 1);
    if (now > until + HAND_OVER_MS) Deno.exit(TIME_EXCEEDED);
    if (now > aliveAt + SIGN_OF_LIFE_EVERY_MS) {
      aliveAt = now;
      leaveIfTheHostIsGone();
    }
  }
  Deno.exit(0);
}

/** The host discards it. If the host is dead, writing fails and this process exits. */
function leaveIfTheHostIsGone() {
  try {
    Deno.stderr.writeSync(new Uint8Array([10]));
  } catch {
    Deno.exit(HOST_GONE);
  }
}
