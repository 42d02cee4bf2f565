// The authority for client certificates: its paths, its dependencies and its errors.
import { readFileSync } from 'node:fs';

import type { Clock } from '../clock.ts';
import { codeOf } from '../errors.ts';
import type { RunProgram } from '../system/run-program.ts';

/** The paths of the authority. `install/paths.ts` defines those of an installation. */
export interface AuthorityPaths {
  /** The directory of key and register, for root only. */
  readonly authority: string;
  /** The files that the agent and nginx read. */
  readonly authorityCertificate: string;
  readonly revocations: string;
  readonly proxyCertificate: string;
  readonly proxyCertificateKey: string;
}

/** Dependencies of the authority. */
export interface AuthorityContext {
  readonly paths: AuthorityPaths;
  readonly runProgram: RunProgram;
  readonly clock: Pick<Clock, 'now'>;
  /** A secure random source, for serial numbers and passwords. */
  readonly randomBytes: (size: number) => Buffer;
}

/** A failed operation of the authority, as a sentence for the user. */
export class AuthorityError extends Error {
  override readonly name = 'AuthorityError';
}

const PERMISSION_DENIED = new Set(['EACCES', 'EPERM']);

/**
 * Accesses files that only root may access.
 * @throws AuthorityError without the permission
 */
export function accessFiles<T>(access: () => T): T {
  try {
    return access();
  } catch (error) {
    if (!PERMISSION_DENIED.has(codeOf(error))) throw error;
    const message = 'Only root may use the authority: run this with sudo.';
    throw new AuthorityError(message, { cause: error });
  }
}

/**
 * Reads a file of the authority; null when it does not exist.
 * @throws AuthorityError without the permission
 */
export function readIfExists(path: string): string | null {
  try {
    return accessFiles(() => readFileSync(path, 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The name becomes a directory and file names, so it must not be a path or an option. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/u;

export function isClientName(name: string): boolean {
  return NAME.test(name);
}
