/**
 * Returns the variables that every child process of a test inherits: the program path, and the cache that loads modules
 * faster.
 */
export function inheritedVariables(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE, NODE_OPTIONS } = process.env;
  const fast = Object.entries({ NODE_COMPILE_CACHE, NODE_OPTIONS });
  return { PATH, ...Object.fromEntries(fast.filter(([, value]) => value !== undefined)) };
}
