const { NODE_COMPILE_CACHE } = process.env;

/**
 * The variable with the compile cache of the global setup, for processes that get no other variable of this one. The service
 * enables the cache itself, but only after its main module has been compiled.
 */
export const COMPILE_CACHE: Readonly<Record<string, string>> =
  NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
