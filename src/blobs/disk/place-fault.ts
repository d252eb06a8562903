/** Why a directory cannot serve a store, although the system has nothing against it: the end of a sentence, without a path. */
export class PlaceFault extends Error {}
