/** `EX_CONFIG` of sysexits.h: a configuration error; a restart does not help. */
export const CONFIGURATION_EXIT_CODE = 78;

/**
 * The problems that prevent a start, for the person who started the service. Each is one sentence with the setting and the
 * fix; the cause is only logged.
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

/** A problem, and what to do about it: parts of a sentence, without a period. */
export interface Remedy {
  readonly problem: string;
  /** Begins with a verb in lower case. */
  readonly fix: string;
}

/** A single problem whose fix can also be shown apart from it, as doctor does. */
export class RemedyError extends StartupError {
  readonly remedy: Remedy;

  constructor(remedy: Remedy, options?: ErrorOptions) {
    super([`${remedy.problem}: ${remedy.fix}.`], options);
    this.remedy = remedy;
  }
}
