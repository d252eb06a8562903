import { SkillsError } from "../../../../base/errors.ts";
import { isObject, parseIfJson } from "../../../../base/json/json-value.ts";
import type { AskService, KeylessSigning } from "../../../../skills/signature.ts";
import { openFetcher } from "../../../../sources/fetch.ts";
import { usageError } from "../../../command.ts";

interface Services {
  readonly fulcio?: string;
  readonly rekor?: string;
  readonly tsa?: string;
  readonly "allow-private"?: readonly string[];
}

const limits = { maxBytes: 1024 * 1024, timeoutMs: 30_000 } as const;

/** Gets an identity's token, and the way to the services that certify it. Throws INVALID_OPTIONS if there is nothing to sign with. */
export async function openKeylessSigning(
  { fulcio = "https://fulcio.sigstore.dev", rekor = "https://rekor.sigstore.dev", tsa, ...given }: Services,
  signal: AbortSignal,
): Promise<{ readonly signing: KeylessSigning; readonly close: () => Promise<void> }> {
  const { SIGSTORE_ID_TOKEN: token = "", ACTIONS_ID_TOKEN_REQUEST_URL: tokenUrl = "" } = process.env;
  if (token === "" && tokenUrl === "")
    throw usageError(
      "there is nothing to sign with: --key FILE names a private key; a token of an identity is read from SIGSTORE_ID_TOKEN, or from GitHub Actions in a job with id-token: write",
    );
  const services = { fulcio: toService("--fulcio", fulcio), rekor: toService("--rekor", rekor) };
  const stamped = tsa === undefined ? {} : { tsa: toService("--tsa", tsa) };
  const typed = [...Object.values({ ...services, ...stamped }), ...(tokenUrl === "" ? [] : [tokenUrl])];
  const fetcher = openFetcher({ allowPrivate: given["allow-private"] ?? [], typed });
  const ask: AskService = async (url, body) => {
    const headers = { "content-type": "application/json" };
    const { status, body: answer } = await fetcher.fetch({ url, method: "POST", headers, body, ...limits }, signal);
    return successOf(url, status, answer);
  };
  const identity = async (): Promise<string> => {
    if (token !== "") return token;
    const url = new URL(tokenUrl);
    url.searchParams.set("audience", "sigstore");
    const headers = { authorization: `Bearer ${process.env.ACTIONS_ID_TOKEN_REQUEST_TOKEN ?? ""}` };
    const { status, body } = await fetcher.fetch({ url: url.href, headers, ...limits }, signal);
    const answer = parseIfJson(Buffer.from(successOf(url.href, status, body)).toString());
    const { value } = isObject(answer) ? answer : {};
    if (typeof value !== "string") throw failure(url.href, "answered without a token");
    return value;
  };
  try {
    const signing = { token: await identity(), ...services, ...stamped, ask };
    return { signing, close: () => fetcher.close() };
  } catch (error) {
    await fetcher.close();
    throw error;
  }
}

function toService(option: string, url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw usageError(`${option} needs an https URL`);
  return url.replace(/\/+$/, "");
}

/** Returns the body of a successful response. Errors do not repeat the body, which may be long or binary. */
function successOf(url: string, status: number, body: Uint8Array): Uint8Array {
  if (status >= 200 && status < 300) return body;
  const why = status === 400 || status === 401 || status === 403 ? "; the token may have expired" : "";
  throw failure(url, `answered with status ${status}${why}`);
}

function failure(url: string, what: string): SkillsError {
  return new SkillsError("ENDPOINT_UNREACHABLE", `${new URL(url).host} ${what}.`);
}
