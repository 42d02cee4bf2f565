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
import { messageOf } from '#server/lib/error-details.ts';
import { masterSecret, masterSecretList } from './env-values.ts';
import { StartupError } from './startup-error.ts';

/** A master secret and what should be known about how it was kept. */
export interface KeptSecret {
  readonly secret: string;
  /** A sentence, when other users could have read the file until now. */
  readonly warning: string | null;
}

/** Where the master secret of the embedded default is kept. */
export function masterSecretPath(dataDirectory: string): string {
  return join(dataDirectory, 'secret');
}

/**
 * The master secret kept in the data directory; at the first start it is made: 32 random bytes as base64url, mode 0600.
 * Two processes that start at once end with the same secret. A file that others may read is made private again. A lost
 * secret is not replaced while there is a database that was made with it.
 * @throws StartupError when the directory cannot be used, or the file cannot be read or does not hold a secret
 */
export function readOrCreateMasterSecret(dataDirectory: string): KeptSecret {
  const path = masterSecretPath(dataDirectory);
  orExplain(
    () => createUnlessThere(dataDirectory, path),
    (why) =>
      `The master secret ${path} cannot be kept (${why}): make LATCHKEY_DATA_DIR writable or set LATCHKEY_SECRET.`,
  );
  return orExplain(
    () => readSecretFile(path),
    (why) =>
      `The master secret ${path} cannot be read (${why}): make the account that runs Latchkey its owner.`,
  );
}

function orExplain<Result>(attempt: () => Result, explain: (why: string) => string): Result {
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

/** Where the master secrets are kept that were replaced, one on each line, the newest first. */
export function previousSecretsPath(dataDirectory: string): string {
  return `${masterSecretPath(dataDirectory)}.previous`;
}

/**
 * The master secrets of the data directory that were replaced and may still be needed.
 * @throws StartupError when the file cannot be read or does not hold secrets
 */
export function readPreviousSecrets(dataDirectory: string): readonly string[] {
  const path = previousSecretsPath(dataDirectory);
  if (!isFile(path)) return [];
  return orExplain(
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
 * Replaces the master secret of the data directory by a new one and keeps the old one beside it. Interrupted at any
 * moment, it leaves a directory in which every secret that was in use is still found.
 * @throws StartupError when there is none to replace, too many are kept already, or the files cannot be written
 */
export function replaceMasterSecret(dataDirectory: string): void {
  const path = masterSecretPath(dataDirectory);
  if (!isFile(path)) throw new StartupError([`There is no master secret ${path} to replace.`]);
  const { secret } = readSecretFile(path);
  const kept = readPreviousSecrets(dataDirectory).filter((each) => each !== secret);
  const previous = [secret, ...kept].join('\n');
  if (!('value' in masterSecretList(previous))) {
    throw new StartupError([
      `${previousSecretsPath(dataDirectory)} holds as many secrets as are read: finish the last rotation (latchkey secret rotate), then remove the file.`,
    ]);
  }
  orExplain(
    () => {
      replaceFile(previousSecretsPath(dataDirectory), previous, path);
      replaceFile(path, randomBytes(32).toString('base64url'), path);
    },
    (why) => `The master secret ${path} cannot be replaced (${why}).`,
  );
}

/** Writes a file beside its place and renames it, private and owned like another file. */
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

/** The problem when the database was encrypted with another master secret. */
export function foreignMasterSecret(cause: unknown): StartupError {
  return new StartupError(
    [
      'The master secret is not the one that this database was made with: set LATCHKEY_SECRET to what it was, or restore the file secret in the data directory.',
    ],
    { cause },
  );
}

/** A new secret would open nothing of a database that is there already. */
function refuseToReplace(dataDirectory: string, path: string): void {
  if (!isFile(join(clusterDirectory(dataDirectory), 'PG_VERSION'))) return;
  throw new StartupError([
    `The master secret ${path} is missing, but a database that was made with one is there: restore the file from a backup, or set LATCHKEY_SECRET to what it was.`,
  ]);
}

/** Writes the secret beside its place and links it there: others see all of it or nothing, and the first one wins. */
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
