/**
 * `JSON.parse` that returns `unknown`.
 * @param {string} text
 * @returns {unknown}
 */
export function parseJson(text) {
  return JSON.parse(text);
}
