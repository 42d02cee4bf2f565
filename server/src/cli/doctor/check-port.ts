/** The check of doctor for the port, which a running service does not need. */
import type { Config } from '#server/config/config.ts';
import { failure, type Finding, ok } from '#server/features/doctor/finding.ts';
import { tryToListen } from '#server/http/listen.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

const PROBE_TIMEOUT_MS = 2_000;

/** Checks that the port is free, or that Latchkey listens on it. */
export async function checkPort({ http: { host, port } }: Config): Promise<Finding> {
  const check = 'port';
  const error = await tryToListen({ host, port });
  if (error === null) return ok(check, `${host}:${port} is free.`);
  if (error.code === 'EADDRINUSE') {
    const version = await askVersion(host, port);
    if (version !== null) return ok(check, `Latchkey ${version} listens on ${host}:${port}.`);
  }
  return failure(check, {
    code: 'port.unavailable',
    facts: { host, port, error: error.code ?? null },
    symptom: `The service cannot listen on ${host}:${port}.`,
    cause: error.code === 'EADDRINUSE' ? 'Another program listens on it.' : `${messageOf(error)}.`,
    fix:
      error.code === 'EACCES'
        ? 'Set LATCHKEY_PORT to a port above 1023, behind a proxy.'
        : 'Stop the other program, or change LATCHKEY_HOST or LATCHKEY_PORT.',
  });
}

/** Returns the version of the Latchkey on a port, or null for another program. */
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
