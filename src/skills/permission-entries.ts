/** `https://host` or `https://*.host`, with a port where it is not the usual one; of literal addresses, also `http://127.0.0.1:8080`. */
export const networkEntry =
  /^(?:https:\/\/(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*|https?:\/\/(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9a-f:]+\]))(:[0-9]{1,5})?$/;
export const secretName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
