/** What the running service reads: its own code, the console, which it bundles at the first visit, and the contract of both. */
export const WATCHED_DIRECTORIES = ['contract/src', 'server/src', 'console/src'] as const;

/**
 * Returns the arguments of a Node.js that runs the service and restarts it after a change.
 * @param options `--inspect` and its kind are for Node.js, so that the debugger attaches to the service and not to npm
 */
export function planDevelopment(options: readonly string[]): string[] {
  const forNode = options.filter((option) => option.startsWith('--inspect'));
  const forService = options.filter((option) => !option.startsWith('--inspect'));
  const watched = WATCHED_DIRECTORIES.map((directory) => `--watch-path=${directory}`);
  return [
    ...forNode,
    ...watched,
    '--watch-preserve-output',
    'server/src/main.ts',
    'serve',
    ...forService,
  ];
}
