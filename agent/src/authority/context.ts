import type { Clock } from '../clock.ts';
import type { RunProgram } from '../system/run-program.ts';

/** The paths of the authority. `install/paths.ts` has those of an installation. */
export interface AuthorityPlaces {
  /** The directory of key and register, for root only. */
  readonly authority: string;
  /** Read by the agent and nginx. */
  readonly authorityCertificate: string;
  readonly revocations: string;
  readonly proxyCertificate: string;
  readonly proxyCertificateKey: string;
}

/** Dependencies of the authority. */
export interface AuthorityContext {
  readonly places: AuthorityPlaces;
  readonly runProgram: RunProgram;
  readonly clock: Pick<Clock, 'now'>;
  /** A secure random source, for serial numbers and passwords. */
  readonly randomBytes: (size: number) => Buffer;
}

/** A failed operation of the authority, as a sentence for the user. */
export class AuthorityError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AuthorityError';
  }
}

const NOT_ALLOWED = new Set(['EACCES', 'EPERM']);

/** Explains a permission error of a file; returns other errors unchanged. */
export function explainFileError(error: unknown): unknown {
  if (!NOT_ALLOWED.has(codeOf(error))) return error;
  return new AuthorityError('Only root may use the authority: run this with sudo.', {
    cause: error,
  });
}

/** Returns the system's code of an error, such as `ENOENT`; empty without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The name becomes a directory and file names, so it must not be a path or an option. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/u;

/** Whether a client name is valid. */
export function isClientName(name: string): boolean {
  return NAME.test(name);
}
