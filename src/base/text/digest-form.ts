/** A digest as it is written everywhere. */
export const digestForm = /^sha256:[0-9a-f]{64}$/;
