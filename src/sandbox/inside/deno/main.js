/**
 * First thread of the portable tier's process. No code of the user ever runs in it: it starts the thread where it does,
 * and from then on only watches, in a loop that nothing from there can disturb.
 */

/** Told to the host by the exit code. */
const MEMORY_EXCEEDED = 86;
const TIME_EXCEEDED = 87;
const HOST_GONE = 88;

const LOOK_EVERY_MS = 15;
const SIGN_OF_LIFE_EVERY_MS = 1000;
/** What the other thread gets to hand over the files that are there, once the time of the program is over. */
const HAND_OVER_MS = 1000;

/** [state, allowed megabytes, allowed milliseconds], of the other thread, before code of the user runs; then [3] is ours: time is up. */
const told = new Int32Array(new SharedArrayBuffer(16));
const WAITING = 0;
const STARTED = 1;
const TIME_IS_UP = 3;

const worker = new Worker(new URL("./host.js", import.meta.url), { type: "module" });
worker.postMessage(told);

watch();

function watch() {
  while (Atomics.wait(told, 0, WAITING, SIGN_OF_LIFE_EVERY_MS) === "timed-out") leaveIfTheHostIsGone();
  // Read once: what is written there later is no limit of ours.
  const bytes = Deno.memoryUsage().rss + told[1] * 2 ** 20;
  const until = performance.now() + told[2];
  let aliveAt = 0;
  while (Atomics.wait(told, 0, STARTED, LOOK_EVERY_MS) !== "not-equal") {
    const now = performance.now();
    if (Deno.memoryUsage().rss > bytes) Deno.exit(MEMORY_EXCEEDED);
    if (now > until) Atomics.store(told, TIME_IS_UP, 1);
    if (now > until + HAND_OVER_MS) Deno.exit(TIME_EXCEEDED);
    if (now > aliveAt + SIGN_OF_LIFE_EVERY_MS) {
      aliveAt = now;
      leaveIfTheHostIsGone();
    }
  }
  Deno.exit(0);
}

/** The host reads and forgets it. When it is dead, writing fails: then nobody else would end this process. */
function leaveIfTheHostIsGone() {
  try {
    Deno.stderr.writeSync(new Uint8Array([10]));
  } catch {
    Deno.exit(HOST_GONE);
  }
}
