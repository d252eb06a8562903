import { localOwner } from "../../runtime/caller.ts";
import type { McpCaller } from "../../mcp/mcp-caller.ts";
import type { Skill } from "../../skills/skill.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import { ConfiguredGrants } from "../../runtime/trust.ts";
import { bearerToken, tokenFinder } from "../../wire/http.ts";
import { type CallerConfig, type ServeConfig, localCaller } from "../config.ts";
import { type Publication, isNamedIn } from "../publish/publication.ts";
import { type Limiter, createLimiter } from "./limiter.ts";
import type { HttpCaller } from "../serve-context.ts";

/** A caller with credentials, and the limiter of its use. */
interface KnownCaller {
  readonly caller: HttpCaller;
  readonly limiter: Limiter;
}

interface ConfiguredCaller extends KnownCaller, Pick<CallerConfig, "tokenDigest"> {
  /** The whole entry of the configuration, as JSON. */
  readonly key: string;
}

/** The callers that may call, found by bearer token. */
export interface Callers {
  /**
   * Returns the caller of an `Authorization` header; undefined if it has no token of a caller. Remembers the header and its caller for
   * each connection: hashing the header for each request would cost more than the rest of admission.
   */
  recognise(authorization: string, connection: object): KnownCaller | undefined;
  readonly anonymous: HttpCaller;
  /** Replaces the callers. Those that are gone or changed are recognised no more, and returned; the others stay the same objects. */
  replace(callers: readonly CallerConfig[]): readonly HttpCaller[];
}

/** The maximum body of an anonymous caller's request, in bytes: parsing JSON blocks this process, for seconds if the body is large. */
const maxAnonymousBytes = 512 * 1024;

/** Creates the callers of a configuration. `onRunEvent` gets the events of each caller's runs. */
export function createCallers(
  config: Pick<ServeConfig, "callers" | "anonymous" | "limits">,
  session: Pick<SessionSkills, "catalog" | "directory" | "identity">,
  publication: () => Publication,
  onRunEvent: (caller: string) => McpCaller["onEvent"],
): Callers {
  let known: readonly ConfiguredCaller[] = [];
  const { catalog: skills, directory, identity } = session;
  // The user of this machine has a project; remote callers have none.
  const project = directory === undefined ? {} : { project: directory, projectIdentity: identity };
  const { requestBytes } = config.limits;

  function toolsOf(
    name: string,
    facts: Pick<McpCaller, "visible" | "tools" | "grants" | "secrets" | "project" | "projectIdentity">,
  ): McpCaller {
    const onEvent = onRunEvent(name);
    return {
      transport: "http",
      owner: name === localCaller ? localOwner : `http:${name}`,
      label: name,
      ...(name !== localCaller && { callerName: name }),
      skills,
      ...(onEvent && { onEvent }),
      ...facts,
    };
  }

  function toKnown(configured: CallerConfig, limiter: Limiter): ConfiguredCaller {
    const { name, tokenDigest, skills: patterns, tools, grants, secrets } = configured;
    const isForAll = patterns.includes("*");
    const sees = (skill: Skill): boolean => isForAll || isNamedIn(patterns, skill);
    const isLocal = name === localCaller;
    const caller: HttpCaller = Object.freeze<HttpCaller>({
      name,
      isAnonymous: false,
      requestBytes,
      tools: toolsOf(name, {
        ...(!isForAll && { visible: sees }),
        ...(tools && { tools }),
        ...(isLocal ? project : { grants: new ConfiguredGrants(grants), secrets }),
      }),
      discovers: ({ skill }) => sees(skill),
      invokes: ({ skill }) => sees(skill),
      view: isForAll ? "all" : JSON.stringify([...patterns].sort()),
    });
    return {
      caller,
      tokenDigest,
      limiter,
      key: JSON.stringify(configured),
    };
  }

  let find = tokenFinder(known);
  let recognised = new WeakMap<object, { readonly authorization: string; readonly found: KnownCaller }>();
  const replace: Callers["replace"] = (callers) => {
    const before = known;
    const byKey = new Map(before.map((one) => [one.key, one]));
    // A caller with several tokens has one limiter.
    const limiters = new Map<string, Limiter>();
    known = callers.map((configured) => {
      const { name, limits } = configured;
      const same = byKey.get(JSON.stringify(configured));
      const group = JSON.stringify([name, limits]);
      const limiter = same?.limiter ?? limiters.get(group) ?? createLimiter(limits, () => performance.now());
      limiters.set(group, limiter);
      return same ?? toKnown(configured, limiter);
    });
    find = tokenFinder(known);
    recognised = new WeakMap();
    return before.filter((one) => !known.includes(one)).map(({ caller }) => caller);
  };
  replace(config.callers);

  const isPublic = (skill: Skill): boolean => publication().bySlug.get(skill.slug)?.access === "public";
  const anonymous: HttpCaller = Object.freeze<HttpCaller>({
    name: "anonymous",
    isAnonymous: true,
    requestBytes: Math.min(requestBytes, maxAnonymousBytes),
    tools: toolsOf("anonymous", {
      visible: isPublic,
      tools: config.anonymous.tools,
      grants: new ConfiguredGrants([]),
      secrets: [],
    }),
    discovers: ({ access }) => access !== "private",
    invokes: ({ access }) => access === "public",
    view: "anonymous",
  });

  return {
    recognise(authorization, connection) {
      const before = recognised.get(connection);
      if (before?.authorization === authorization) return before.found;
      const token = bearerToken(authorization);
      const found = token === undefined ? undefined : find(token);
      if (found !== undefined) recognised.set(connection, { authorization, found });
      return found;
    },
    anonymous,
    replace,
  };
}
