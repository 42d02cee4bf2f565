import type { Clock } from '../clock.ts';
import type { RunProgram } from '../install/run-program.ts';

/** Where the authority keeps what. `install/paths.ts` has the places of an installation. */
export interface AuthorityPlaces {
  /** The directory of key and register, for root only. */
  readonly authority: string;
  /** What the agent and nginx read. */
  readonly authorityCertificate: string;
  readonly revocations: string;
  readonly proxyCertificate: string;
  readonly proxyCertificateKey: string;
}

/** What the authority reaches of the world. */
export interface AuthorityContext {
  readonly places: AuthorityPlaces;
  readonly runProgram: RunProgram;
  readonly clock: Pick<Clock, 'now'>;
  /** For serial numbers and passwords: what nobody can guess. */
  readonly randomBytes: (size: number) => Buffer;
}
