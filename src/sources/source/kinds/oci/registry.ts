import { isSkillsError } from "../../../../base/errors.ts";
import { isObject, parseIfJson } from "../../../../base/json/json-value.ts";
import type { Fetcher, RemoteAnswer, RemoteRequest } from "../../../fetch.ts";
import { noSuccess } from "../../../fetch/read-answer.ts";
import { type RegistryAuthorization, type RegistryOptions, openAuthorization } from "./authorization.ts";
import {
  type BlobDescriptor,
  type ImageIndex,
  type ImageManifest,
  manifestLimits,
  ociDigest,
  verifyDigest,
  ociMediaTypes,
  parseOciManifest,
} from "./manifest.ts";
import { type OciReference, contentDigest, originOfRegistry } from "./reference.ts";
import { badSource } from "../../source-label.ts";

/** A manifest or an index as it was received, with its parsed content. */
export interface ReceivedManifest {
  readonly digest: string;
  readonly size: number;
  readonly content: ImageManifest | ImageIndex;
}

const timeouts = { document: 20_000, blob: 120_000 } as const;
const tagLimits = { pages: 10, bytes: 1024 * 1024, count: 10_000 } as const;
const accept = [
  ociMediaTypes.index,
  ociMediaTypes.manifest,
  ociMediaTypes.dockerIndex,
  ociMediaTypes.dockerManifest,
].join(", ");

/** A repository of a registry, by the distribution protocol. Content is verified against its digest before it is returned. */
export class OciRegistry {
  readonly label: string;
  readonly origin: string;
  readonly #fetcher: Fetcher;
  readonly #authorization: RegistryAuthorization;
  readonly #base: string;

  constructor(reference: OciReference, options: RegistryOptions) {
    const { registry, repository } = reference;
    this.label = `${registry}/${repository}`;
    this.origin = originOfRegistry(registry);
    this.#base = `${this.origin}/v2/${repository}`;
    this.#fetcher = options.fetcher;
    this.#authorization = openAuthorization(reference, options);
  }

  /** Returns the answer with any status; repeats a request that needs credentials with them. `path`: below the repository, or a URL. */
  async ask(
    {
      path,
      ...given
    }: Omit<RemoteRequest, "url" | "timeoutMs"> & { readonly path: string; readonly timeoutMs?: number },
    signal: AbortSignal,
  ): Promise<RemoteAnswer> {
    const request = {
      timeoutMs: timeouts.document,
      ...given,
      url: URL.canParse(path) ? path : `${this.#base}/${path}`,
    };
    // An upload may continue on another host, which gets no credentials.
    const isOwn = new URL(request.url).origin === this.origin;
    const send = async (own: Readonly<Record<string, string>>): Promise<RemoteAnswer> =>
      await this.#fetcher.fetch({ ...request, headers: { ...request.headers, ...own } }, signal);
    if (!isOwn) return await send({});
    const used = this.#authorization.headers();
    const answer = await send(used);
    // A host to which a redirect led cannot request credentials.
    const isAsked = answer.status === 401 && new URL(answer.url).origin === this.origin;
    const isWorthIt = isAsked && (await this.#authorization.renew(answer, used["authorization"], signal));
    return isWorthIt ? await send(this.#authorization.headers()) : answer;
  }

  /** Reads the manifest of a tag or digest; undefined if missing; "unchanged" if it is `known`. Throws SOURCE_INVALID for other bytes. */
  async manifest(name: string, signal: AbortSignal): Promise<ReceivedManifest | undefined>;
  async manifest(
    name: string,
    signal: AbortSignal,
    known: string | undefined,
  ): Promise<ReceivedManifest | "unchanged" | undefined>;
  async manifest(
    name: string,
    signal: AbortSignal,
    known?: string,
  ): Promise<ReceivedManifest | "unchanged" | undefined> {
    const headers = { accept, ...(known !== undefined && { "if-none-match": `"${known}"` }) };
    const answer = await this.ask({ path: `manifests/${name}`, headers, maxBytes: manifestLimits.bytes }, signal);
    if (answer.status === 304 && known !== undefined) return "unchanged";
    if (answer.status === 404) return undefined;
    const what = `The manifest ${this.#shown(name)}`;
    const bytes = this.requireSuccess(answer, `the manifest ${this.#shown(name)}`).body;
    const announced = answer.headers["docker-content-digest"];
    const named = contentDigest.test(name) ? name : undefined;
    if (named !== undefined) await verifyDigest(bytes, named, what);
    else if (announced !== undefined && contentDigest.test(announced)) await verifyDigest(bytes, announced, what);
    const digest = named ?? (await ociDigest(bytes));
    if (digest === known) return "unchanged";
    return { digest, size: bytes.length, content: parseOciManifest(bytes, what, answer.headers["content-type"]) };
  }

  /** Reads a blob of exactly the size and digest of its descriptor. Throws SOURCE_INVALID. `what` starts a sentence. */
  async blob(
    { digest, size }: Pick<BlobDescriptor, "digest" | "size">,
    what: string,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const request = { path: `blobs/${digest}`, maxBytes: size, timeoutMs: timeouts.blob, asSent: true };
    const answer = await this.ask(request, signal).catch((error: unknown) => {
      if (!isSkillsError(error, "FILE_TOO_LARGE")) throw error;
      throw badSource(`${what} has more than the ${size} bytes that its manifest says`, error);
    });
    const { body } = this.requireSuccess(answer, what.replace(/^The/, "the"));
    if (body.length !== size)
      throw badSource(`${what} has ${body.length} bytes instead of the ${size} that its manifest says`);
    await verifyDigest(body, digest, what);
    return body;
  }

  /** Lists the tags of the repository, up to `tagLimits`. */
  async tags(signal: AbortSignal): Promise<readonly string[]> {
    const found: string[] = [];
    let path: string | undefined = "tags/list?n=1000";
    for (let page = 0; path !== undefined && page < tagLimits.pages && found.length < tagLimits.count; page++) {
      const answer = await this.ask({ path, maxBytes: tagLimits.bytes }, signal);
      if (answer.status === 404) break;
      const json = parseIfJson(Buffer.from(this.requireSuccess(answer, "its tags").body).toString("utf8"));
      const tags: unknown = isObject(json) ? json["tags"] : undefined;
      if (Array.isArray(tags)) for (const tag of tags as unknown[]) if (typeof tag === "string") found.push(tag);
      const [, next] = /<([^>]+)>\s*;\s*rel="?next"?/i.exec(answer.headers["link"] ?? "") ?? [];
      const url: URL | undefined =
        next !== undefined && URL.canParse(next, answer.url) ? new URL(next, answer.url) : undefined;
      path = url?.origin === this.origin ? url.href : undefined;
    }
    return found.slice(0, tagLimits.count);
  }

  /** Returns the answer if it is a success. Otherwise throws, with advice for the user. `what` is a noun. */
  requireSuccess(answer: RemoteAnswer, what: string): RemoteAnswer {
    const { status } = answer;
    if (status >= 200 && status < 300) return answer;
    const needs = `which needs credentials: docker login ${this.label.replace(/\/.*$/s, "")}, or --token env:NAME`;
    const code = status >= 500 || status === 408 ? "ENDPOINT_UNREACHABLE" : "SOURCE_INVALID";
    throw noSuccess(answer, what, { needs, code, said: saidIn(answer) });
  }

  #shown(name: string): string {
    return `${this.label}${name.includes(":") ? "@" : ":"}${name}`;
  }
}

/** Returns the code of the first error that a registry names, such as ` (MANIFEST_INVALID)`. */
function saidIn({ body }: RemoteAnswer): string {
  const json = body.length > 64 * 1024 ? undefined : parseIfJson(Buffer.from(body).toString("utf8"));
  const errors: unknown = isObject(json) ? json["errors"] : undefined;
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const code = isObject(first) ? first["code"] : undefined;
  return typeof code === "string" && /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : "";
}
