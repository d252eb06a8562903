/**
 * Rejects when the promise takes longer than ten seconds, so that an example never hangs.
 * @template T
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
export async function soon(promise) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error("nothing happened within ten seconds"));
    }, 10_000);
  });
  try {
    await Promise.race([promise, late]);
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}
