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

/** The authority cannot do what it was asked for. The message is a sentence for the person at the terminal. */
export class AuthorityError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AuthorityError';
  }
}

const NOT_ALLOWED = new Set(['EACCES', 'EPERM']);

/** Turns an error of the system about a file that is for root only into a sentence; others stay as they are. */
export function explainFileError(error: unknown): unknown {
  if (!NOT_ALLOWED.has(codeOf(error))) return error;
  return new AuthorityError('Only root may use the authority: run this with sudo.', {
    cause: error,
  });
}

/** The system's name of an error, such as `ENOENT`; empty when it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** It becomes a directory and the name of files, so it is no path and no option of a program. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/u;

/** Whether this may be a client's name. */
export function isClientName(name: string): boolean {
  return NAME.test(name);
}
