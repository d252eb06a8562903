/** The result of work that cannot be cancelled, for as long as it is wanted. Rejects with the reason of `signal`. */
export function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    void work.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", leave);
    });
  });
}
