import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { loadCatalog } from '#server/config/catalog.ts';
import type { Config } from '#server/config/config.ts';
import type { ConfigurationReading } from '#server/config/load.ts';
import { masterSecretPath } from '#server/config/master-secret.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { tryToListen } from '#server/http/listen.ts';
import { messageOf } from '#server/lib/error-message.ts';

import { failure, type Finding, ok, warning } from './finding.ts';

/** Whether the environment can be understood. */
export function checkSettings(reading: ConfigurationReading): Finding[] {
  const check = 'configuration';
  const findings = [
    ...reading.problems.map((problem) =>
      failure(check, {
        symptom: 'The service does not start (exit code 78).',
        cause: problem,
        fix: 'Correct the variable in the environment or in .env.',
      }),
    ),
    ...reading.warnings.map((problem) =>
      warning(check, {
        symptom: 'A variable has no effect.',
        cause: problem,
        fix: 'Remove it, or look its name up in .env.example.',
      }),
    ),
  ];
  return findings.length > 0 ? findings : [ok(check, 'Every setting is understood.')];
}

/** Whether the catalogue can be used. */
export function checkCatalog(path: string): Finding[] {
  const check = 'catalogue';
  try {
    const { products } = loadCatalog(path);
    return [ok(check, `${path} offers ${[...products.keys()].join(', ')}.`)];
  } catch (error) {
    const causes = error instanceof StartupError ? error.problems : [messageOf(error)];
    return causes.map((cause) =>
      failure(check, {
        symptom: 'The service does not start (exit code 78).',
        cause,
        fix: `Correct ${path}, or name another catalogue in LATCHKEY_CATALOG.`,
      }),
    );
  }
}

/** Whether clients are told an address that they can reach and trust. */
export function checkPublicUrl({ config }: ConfigurationReading): Finding {
  const check = 'public URL';
  const { host, publicUrl } = config.http;
  const local = host === '127.0.0.1' || host === '::1' || host === 'localhost';
  if (publicUrl.startsWith('https:') || local) return ok(check, publicUrl);
  return warning(check, {
    symptom: `Clients reach the service at ${publicUrl}, unencrypted.`,
    cause: `It listens on ${host}, and LATCHKEY_PUBLIC_URL is no https:// address.`,
    fix: 'Put a proxy with TLS before it and set LATCHKEY_PUBLIC_URL to its address.',
  });
}

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

const PROBE_TIMEOUT_MS = 2_000;

/** Whether the service's port is free, or its own service answers there. */
export async function checkPort({ http: { host, port } }: Config): Promise<Finding> {
  const check = 'port';
  const error = await tryToListen({ host, port });
  if (error === null) return ok(check, `${host}:${port} is free.`);
  if (error.code === 'EADDRINUSE') {
    const version = await askVersion(host, port);
    if (version !== null) return ok(check, `Latchkey ${version} answers on ${host}:${port}.`);
  }
  return failure(check, {
    symptom: `The service cannot listen on ${host}:${port}.`,
    cause: error.code === 'EADDRINUSE' ? 'Another program listens there.' : `${messageOf(error)}.`,
    fix:
      error.code === 'EACCES'
        ? 'Choose a port above 1023 with LATCHKEY_PORT and put a proxy before it.'
        : 'Stop the other program, or choose another LATCHKEY_HOST or LATCHKEY_PORT.',
  });
}

/** The version of the Latchkey that answers there, or null when something else does. */
async function askVersion(host: string, port: number): Promise<string | null> {
  const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  const name = everywhere[host] ?? (host.includes(':') ? `[${host}]` : host);
  try {
    const response = await fetch(`http://${name}:${port}/api/v1/health/live`, {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    const body: unknown = await response.json();
    const alive = typeof body === 'object' && body !== null && 'version' in body;
    return alive && 'status' in body && body.status === 'alive' ? String(body.version) : null;
  } catch {
    return null;
  }
}
