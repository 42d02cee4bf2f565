import type { Result } from '../answers/results.ts';

/** What a flush did. */
export type Flushed = Result<{
  /** Events that the service has now. */
  readonly sent: number;
  /** Events that it refuses permanently. */
  readonly rejected: number;
}>;
