import { createHash } from "node:crypto";
import { toTarGz } from "../../../../../src/sources/archive.ts";
import type { SkillFile } from "../../../../../src/sources/reader.ts";

const manifestType = "application/vnd.oci.image.manifest.v1+json";
const indexType = "application/vnd.oci.image.index.v1+json";
const layerType = "application/vnd.oci.image.layer.v1.tar+gzip";
const configType = "application/vnd.oci.image.config.v1+json";

/** Bytes that a registry stores, with how manifests name them. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly descriptor: Readonly<Record<string, unknown>> & { readonly digest: string; readonly size: number };
}

/** What is pushed: blobs, the manifests of an index, and what the tag names. */
export interface Artifact {
  readonly blobs: readonly Piece[];
  readonly manifests: readonly Piece[];
  readonly top: Piece;
}

export function sha256(bytes: Uint8Array | string): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

export function piece(content: Uint8Array | object, mediaType: string, more: object = {}): Piece {
  const bytes = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
  return { bytes, descriptor: { mediaType, digest: sha256(bytes), size: bytes.length, ...more } };
}

export function skillMd(name: string, body = ""): string {
  return `---\nname: ${name}\ndescription: Does ${name}.\n---\n${body}`;
}

/** The files of a skill, in a directory or at the root. */
export function skillFiles(name: string, directory = "", body = ""): readonly SkillFile[] {
  const at = (path: string): string => (directory === "" ? path : `${directory}/${path}`);
  return [
    { path: at("SKILL.md"), bytes: Buffer.from(skillMd(name, body)), executable: false },
    { path: at("scripts/run.sh"), bytes: Buffer.from("#!/bin/sh\n"), executable: true },
  ];
}

export async function layerOf(files: readonly SkillFile[], mediaType = layerType, more: object = {}): Promise<Piece> {
  return piece(await toTarGz(files), mediaType, more);
}

export function manifestOf(
  layers: readonly Piece[],
  { config = piece({}, configType), ...more }: { readonly config?: Piece } & Readonly<Record<string, unknown>> = {},
): Artifact {
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    config: config.descriptor,
    layers: layers.map(({ descriptor }) => descriptor),
    ...more,
  };
  return { blobs: [config, ...layers], manifests: [], top: piece(manifest, manifestType) };
}

/** An index of artifacts; `entries` adds to each descriptor. */
export function indexOf(parts: readonly (readonly [artifact: Artifact, entry: object])[], more: object = {}): Artifact {
  const manifests = parts.map(([{ top }, entry]) => ({ ...top.descriptor, ...entry }));
  return {
    blobs: parts.flatMap(([{ blobs }]) => blobs),
    manifests: parts.map(([{ top }]) => top),
    top: piece({ schemaVersion: 2, mediaType: indexType, manifests, ...more }, indexType),
  };
}

/** As ToolHive packs a skill: one layer, an index of two platforms, its name in annotations and in labels. */
export async function toolHive(name: string, version = "1.0.0", body = ""): Promise<Artifact> {
  const says = { name, description: `Does ${name}.`, version };
  const annotations = {
    "org.opencontainers.image.created": "1970-01-01T00:00:00Z",
    ...Object.fromEntries(Object.entries(says).map(([key, value]) => [`dev.toolhive.skills.${key}`, value])),
  };
  const layer = await layerOf(skillFiles(name, "", body));
  const platforms = ["amd64", "arm64"].map((architecture) => {
    const platform = { os: "linux", architecture };
    const config = piece({ ...platform, config: { Labels: annotations } }, configType);
    const artifact = manifestOf([layer], { config, artifactType: "dev.toolhive.skills.v1", annotations });
    return [artifact, { platform }] as const;
  });
  return indexOf(platforms, { artifactType: "dev.toolhive.skills.v1", annotations });
}

/** As the proposed specification for Agent Skills has it: one layer in which the skill has a directory. */
export async function agentSkills(name: string): Promise<Artifact> {
  const type = "application/vnd.agentskills.skill";
  return manifestOf([await layerOf(skillFiles(name, name), `${type}.content.v1.tar+gzip`)], {
    artifactType: `${type}.v1`,
    config: piece({ schemaVersion: "1", name }, `${type}.config.v1+json`),
    annotations: { "io.agentskills.skill.name": name, "org.opencontainers.image.version": "1.2.0" },
  });
}

/** As Alibaba's registry documents it. */
export async function alibaba(name: string): Promise<Artifact> {
  return manifestOf([await layerOf(skillFiles(name), "application/vnd.agent.skill.content.v1.tar+gzip")], {
    artifactType: "application/vnd.agent.skill.v1+json",
    config: piece({}, "application/vnd.oci.empty.v1+json"),
    annotations: {
      "org.agent.skill.name": name,
      "org.agent.skill.version": "2.0.0",
      "org.agent.skill.description": `Does ${name}.`,
    },
  });
}

/** A plain artifact of these files: one archive, and nothing that says what is in it. */
export async function plain(files: readonly SkillFile[], mediaType = layerType): Promise<Artifact> {
  return manifestOf([await layerOf(files, mediaType)]);
}

/** Pushes by the protocol, to any registry. Returns the digest that the tag names. */
export async function pushArtifact(
  repository: string,
  tag: string,
  { blobs, manifests, top }: Artifact,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const send = async (
    url: string | URL,
    init: Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Response> => {
    const answer = await fetch(url, { ...init, headers: { ...headers, ...init.headers } });
    if (!answer.ok)
      throw new Error(`${init.method ?? ""} ${String(url)} answered ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
    return answer;
  };
  for (const { bytes, descriptor } of blobs) {
    const begun = await send(`${repository}/blobs/uploads/`, { method: "POST" });
    const upload = new URL(begun.headers.get("location") ?? "", begun.url);
    upload.searchParams.set("digest", descriptor.digest);
    await send(upload, {
      method: "PUT",
      body: Buffer.from(bytes),
      headers: { "content-type": "application/octet-stream" },
    });
  }
  for (const [name, { bytes, descriptor }] of [
    ...manifests.map((one) => [one.descriptor.digest, one] as const),
    [tag, top] as const,
  ])
    await send(`${repository}/manifests/${name}`, {
      method: "PUT",
      body: Buffer.from(bytes),
      headers: { "content-type": String(descriptor["mediaType"]) },
    });
  return top.descriptor.digest;
}
