/** Whether a `Content-Type` is `application/json`, with or without parameters. */
export function isJsonContentType(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return contentType !== undefined && /^application\/json[ \t]*(?:;|$)/i.test(contentType);
}
