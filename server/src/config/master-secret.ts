import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { clusterDirectory, createDirectory } from './data-directory.ts';
import { messageOf } from '#server/lib/unknown-values.ts';
import { masterSecret, masterSecretList } from './env-values.ts';
import { diskFull, isDiskFull } from './data-directory.ts';
import { StartupError } from './startup-error.ts';

/** A master secret from the data directory. */
export interface KeptSecret {
  readonly secret: string;
  /** A warning if other users could read the file until now. */
  readonly warning: string | null;
}

/** Returns the path of the master secret in a data directory. */
export function masterSecretPath(dataDirectory: string): string {
  return join(dataDirectory, 'secret');
}

/**
 * Reads the master secret of a data directory; the first start creates it: 32 random bytes as base64url, mode 0600. Two
 * processes that start at the same time get the same secret. A file that others may read becomes private. A lost secret
 * is not replaced while a database exists.
 * @throws StartupError when the directory is not usable, or the file is not readable or invalid
 */
export function readOrCreateMasterSecret(dataDirectory: string): KeptSecret {
  const path = masterSecretPath(dataDirectory);
  withExplanation(
    () => {
      try {
        createUnlessThere(dataDirectory, path);
      } catch (error) {
        throw isDiskFull(error) ? diskFull(dataDirectory, error) : error;
      }
    },
    (why) =>
      `The master secret ${path} cannot be stored (${why}): make LATCHKEY_DATA_DIR writable or set LATCHKEY_SECRET.`,
  );
  return withExplanation(
    () => readSecretFile(path),
    (why) =>
      `The master secret ${path} cannot be read (${why}): make the account that runs Latchkey its owner.`,
  );
}

function withExplanation<Result>(attempt: () => Result, explain: (why: string) => string): Result {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError([explain(messageOf(error))], { cause: error });
  }
}

function createUnlessThere(dataDirectory: string, path: string): void {
  if (isFile(path)) return;
  refuseToReplace(dataDirectory, path);
  createSecretFile(dataDirectory, path);
}

function readSecretFile(path: string): KeptSecret {
  const warning = makePrivate(path);
  const parsed = masterSecret(readFileSync(path, 'utf8').trim());
  if ('value' in parsed) return { secret: parsed.value, warning };
  throw new StartupError([
    `The master secret in ${path} is damaged: it must ${parsed.must}, so restore the file from a backup.`,
  ]);
}

/** Returns the path of the replaced master secrets, one per line, newest first. */
export function previousSecretsPath(dataDirectory: string): string {
  return `${masterSecretPath(dataDirectory)}.previous`;
}

/**
 * Reads the replaced master secrets of a data directory, which rows may still be stored under.
 * @throws StartupError when the file is not readable or invalid
 */
export function readPreviousSecrets(dataDirectory: string): readonly string[] {
  const path = previousSecretsPath(dataDirectory);
  if (!isFile(path)) return [];
  return withExplanation(
    () => {
      makePrivate(path);
      const parsed = masterSecretList(readFileSync(path, 'utf8').trim());
      if ('value' in parsed) return parsed.value;
      throw new StartupError([
        `The previous master secrets in ${path} must ${parsed.must}: restore the file from a backup, or remove it when nothing is stored under them.`,
      ]);
    },
    (why) =>
      `The previous master secrets ${path} cannot be read (${why}): make the account that runs Latchkey its owner.`,
  );
}

/**
 * Replaces the master secret of a data directory and keeps the old one. An interruption at any point loses no secret.
 * @throws StartupError without a secret, with too many stored ones, or when the files are not writable
 */
export function replaceMasterSecret(dataDirectory: string): void {
  const path = masterSecretPath(dataDirectory);
  if (!isFile(path)) throw new StartupError([`There is no master secret ${path} to replace.`]);
  const { secret } = readSecretFile(path);
  const kept = readPreviousSecrets(dataDirectory).filter((each) => each !== secret);
  const previous = [secret, ...kept].join('\n');
  if (!('value' in masterSecretList(previous))) {
    throw new StartupError([
      `${previousSecretsPath(dataDirectory)} contains the maximum number of secrets: finish the last rotation (latchkey secret rotate), then remove the file.`,
    ]);
  }
  withExplanation(
    () => {
      replaceFile(previousSecretsPath(dataDirectory), previous, path);
      replaceFile(path, randomBytes(32).toString('base64url'), path);
    },
    (why) => `The master secret ${path} cannot be replaced (${why}).`,
  );
}

/** Replaces a file atomically; the new one is private and has the owner of the file `model`. */
function replaceFile(path: string, text: string, model: string): void {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(draft, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true });
    const { uid, gid } = statSync(model);
    if (process.getuid?.() === 0) chownSync(draft, uid, gid);
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Returns the problem of a database that is encrypted with another master secret. */
export function foreignMasterSecret(cause: unknown): StartupError {
  return new StartupError(
    [
      'The master secret is not the one that this database was created with: set LATCHKEY_SECRET to its previous value, or restore the file secret in the data directory.',
    ],
    { cause },
  );
}

/** A new secret could not decrypt an existing database. */
function refuseToReplace(dataDirectory: string, path: string): void {
  if (!isFile(join(clusterDirectory(dataDirectory), 'PG_VERSION'))) return;
  throw new StartupError([
    `The master secret ${path} is missing, but a database that was created with one exists: restore the file from a backup, or set LATCHKEY_SECRET to its previous value.`,
  ]);
}

/** Creates the file atomically by a link, which fails if another process was first. */
function createSecretFile(dataDirectory: string, path: string): void {
  createDirectory(dataDirectory);
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
    linkSync(draft, path);
  } catch (error) {
    if (!isFile(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function makePrivate(path: string): string | null {
  const mode = statSync(path).mode & 0o777;
  if (process.platform === 'win32' || (mode & 0o077) === 0) return null;
  chmodSync(path, 0o600);
  return `The master secret ${path} was readable by other users (mode ${mode.toString(8)}) and is private again.`;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
