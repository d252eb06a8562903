import type { Permissions } from "../permissions.ts";

type Requested = Omit<Permissions, "isolation"> & { readonly isolation?: "none" | undefined };

/** Each permission that a skill requests, as it declares it: `network https://api.example.com`, `secret API_KEY`, `project read`. */
export function permissionWords({ network, secrets, project, isolation }: Requested): string[] {
  return [
    ...network.map((host) => `network ${host}`),
    ...secrets.map((name) => `secret ${name}`),
    ...(project === "none" ? [] : [`project ${project}`]),
    ...(isolation === undefined ? [] : ["isolation none: runs without a sandbox"]),
  ];
}
