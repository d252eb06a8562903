/** An AbortSignal for SIGINT and SIGTERM; a second signal terminates the process. */
export function onInterruption(): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  const interrupt = (): void => {
    stop();
    controller.abort(new Error("interrupted"));
  };
  const stop = (): void => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, interrupt);
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, interrupt);
  return { signal: controller.signal, stop };
}
