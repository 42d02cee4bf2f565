/** `EX_CONFIG` of sysexits.h: something in the configuration is wrong, trying again will not help. */
export const CONFIGURATION_EXIT_CODE = 78;

/**
 * What keeps the service from starting, said to the person who started it.
 * Every problem is one clear sentence that names the setting and the mend; the cause goes to the log only.
 */
export class StartupError extends Error {
  readonly problems: readonly string[];
  readonly exitCode = CONFIGURATION_EXIT_CODE;

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options);
    this.name = 'StartupError';
    this.problems = problems;
  }
}
