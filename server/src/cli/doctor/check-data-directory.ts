import { accessSync, constants, existsSync, statSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '#server/config/config.ts';
import { masterSecretPath } from '#server/config/master-secret.ts';
import { messageOf } from '#server/lib/error-message.ts';
import { type Finding, failure, ok, warning } from './finding.ts';

const MIB = 1_048_576;
const LITTLE_SPACE_MIB = 1_024;
const NO_SPACE_MIB = 100;

/** Whether the data directory can be written and its secret is private. */
export function checkDataDirectory({ dataDirectory }: Config): Finding[] {
  return [checkWritable(dataDirectory), ...checkSecretFile(masterSecretPath(dataDirectory))];
}

function checkWritable(directory: string): Finding {
  const check = 'data directory';
  const existing = nearestExisting(directory);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    return failure(check, {
      symptom: 'Neither the embedded database nor the master secret can be kept.',
      cause: `${existing} cannot be written (${messageOf(error)}).`,
      fix: `Give it to the user that runs the service, or set LATCHKEY_DATA_DIR.`,
    });
  }
  return ok(
    check,
    existing === directory ? directory : `${directory} will be made at the first start.`,
  );
}

function checkSecretFile(path: string): Finding[] {
  const check = 'master secret file';
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || process.platform === 'win32') return [];
  if ((mode & 0o077) === 0) return [ok(check, `${path} is private.`)];
  return [
    warning(check, {
      symptom: 'Other users of this machine can read every license key.',
      cause: `${path} has mode ${(mode & 0o777).toString(8)}.`,
      fix: `chmod 600 ${path} (the next start does it too).`,
    }),
  ];
}

/** Whether there is room for the data directory to grow. */
export function checkDiskSpace({ dataDirectory }: Config): Finding {
  const check = 'disk space';
  const { bavail, bsize } = statfsSync(nearestExisting(dataDirectory));
  const freeMib = Math.floor((bavail * bsize) / MIB);
  if (freeMib >= LITTLE_SPACE_MIB) return ok(check, `${freeMib} MiB are free.`);
  const report = freeMib < NO_SPACE_MIB ? failure : warning;
  return report(check, {
    symptom: `Only ${freeMib} MiB are free for ${dataDirectory}.`,
    cause: 'The file system is nearly full; a full one stops the embedded database.',
    fix: 'Make room, or move the data directory and set LATCHKEY_DATA_DIR.',
  });
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
