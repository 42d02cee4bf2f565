/** Checks of doctor: settings, catalogue, public URL and data directory. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { loadCatalog } from '#server/config/catalog.ts';
import type { Config } from '#server/config/config.ts';
import type { ConfigurationReading } from '#server/config/load.ts';
import { masterSecretPath } from '#server/config/master-secret.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

import { failure, type Finding, ok, warning } from './finding.ts';

/** Checks the settings. */
export function checkSettings(
  reading: Pick<ConfigurationReading, 'problems' | 'warnings'>,
): Finding[] {
  const check = 'configuration';
  const findings = [
    ...reading.problems.map((problem) =>
      failure(check, {
        code: 'configuration.invalid',
        symptom: 'The service does not start (exit code 78).',
        cause: problem,
        fix: 'Correct the variable in the environment or in .env.',
      }),
    ),
    ...reading.warnings.map((problem) =>
      warning(check, {
        code: 'configuration.ineffective',
        symptom: 'A variable has no effect.',
        cause: problem,
        fix: 'Correct it as the cause says, or remove it; .env.example lists all settings.',
      }),
    ),
  ];
  return findings.length > 0 ? findings : [ok(check, 'Every setting is valid.')];
}

/** Checks the catalogue. */
export function checkCatalog(path: string): Finding[] {
  const check = 'catalogue';
  try {
    const { products } = loadCatalog(path);
    return [ok(check, `${path} has the products ${[...products.keys()].join(', ')}.`)];
  } catch (error) {
    const causes = error instanceof StartupError ? error.problems : [messageOf(error)];
    return causes.map((cause) =>
      failure(check, {
        code: 'catalogue.invalid',
        symptom: 'The service does not start (exit code 78).',
        cause,
        fix: `Correct ${path}, or set LATCHKEY_CATALOG to another file.`,
      }),
    );
  }
}

/** Reports the ways to sign in that trust another system. */
export function checkOperatorSignIn({ operators: { trustedHeader, oidc } }: Config): Finding[] {
  const check = 'operator sign-in';
  return [
    ...(oidc === null ? [] : [ok(check, `Operators can sign in with ${oidc.issuer}.`)]),
    ...(trustedHeader === null
      ? []
      : [
          warning(check, {
            code: 'operators.trusted_header',
            symptom: `The header ${trustedHeader.name} from ${trustedHeader.proxies.join(', ')} signs operators in without a password.`,
            cause: 'LATCHKEY_TRUSTED_HEADER is set.',
            fix: 'Make sure that the proxy removes this header from what clients send, and that only the proxy has these addresses. Otherwise unset it.',
          }),
        ]),
  ];
}

/** Checks that clients get a URL with encryption. */
export function checkPublicUrl({ http: { host, publicUrl } }: Config): Finding {
  const check = 'public URL';
  const local = host === '127.0.0.1' || host === '::1' || host === 'localhost';
  if (publicUrl.startsWith('https:') || local) return ok(check, publicUrl);
  return warning(check, {
    code: 'public_url.unencrypted',
    symptom: `Clients reach the service at ${publicUrl} without encryption.`,
    cause: `It listens on ${host}, and LATCHKEY_PUBLIC_URL is not an https:// URL.`,
    fix: 'Run a TLS proxy in front of it, and set LATCHKEY_PUBLIC_URL to its URL.',
    facts: { public_url: publicUrl, host },
  });
}

const MIB = 1_048_576;
const LITTLE_SPACE_MIB = 1_024;
const NO_SPACE_MIB = 100;

/** Checks that the data directory is writable and its secret file private. */
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
      code: 'data_directory.not_writable',
      symptom: 'The embedded database and the master secret cannot be stored.',
      cause: `${existing} is not writable (${messageOf(error)}).`,
      fix: 'Make the user of the service its owner, or set LATCHKEY_DATA_DIR.',
      facts: { path: existing },
    });
  }
  return ok(check, existing === directory ? directory : `The first start creates ${directory}.`);
}

function checkSecretFile(path: string): Finding[] {
  const check = 'master secret file';
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || process.platform === 'win32') return [];
  if ((mode & 0o077) === 0) return [ok(check, `${path} is private.`)];
  const shown = (mode & 0o777).toString(8);
  const problem = {
    code: 'master_secret_file.readable_by_others',
    symptom: 'Other users of this machine can read every license key.',
    cause: `${path} has mode ${shown}.`,
    fix: `chmod 600 ${path}, or restart the service.`,
    facts: { path, mode: shown },
  };
  return [warning(check, problem)];
}

/** Checks the free space for the data directory. */
export function checkDiskSpace({ dataDirectory }: Config): Finding {
  const check = 'disk space';
  const { bavail, bsize } = statfsSync(nearestExisting(dataDirectory));
  const freeMib = Math.floor((bavail * bsize) / MIB);
  if (freeMib >= LITTLE_SPACE_MIB) return ok(check, `${freeMib} MiB free.`);
  const report = freeMib < NO_SPACE_MIB ? failure : warning;
  return report(check, {
    code: 'disk.space_low',
    symptom: `Only ${freeMib} MiB are free for ${dataDirectory}.`,
    cause: 'The file system is nearly full; the embedded database stops when it is full.',
    fix: 'Free space, or move the data directory and set LATCHKEY_DATA_DIR.',
    facts: { free_mib: freeMib },
  });
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
