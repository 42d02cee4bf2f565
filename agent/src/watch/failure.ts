/** Exit codes of sysexits.h. */
export const EXIT_CODES = {
  /** Nobody answers; it may be different in a minute. */
  unreachable: 69,
  /** Somebody answers who is not trusted, or is not an agent. */
  untrusted: 76,
  /** The agent does not let us in. */
  refused: 77,
} as const;

export type FailureKind = keyof typeof EXIT_CODES;

/** Why there is nothing to watch, as a sentence for the person at the terminal. */
export class WatchFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WatchFailure';
    this.kind = kind;
  }
}
