import type { Config } from '#server/config/config.ts';
import { tryToListen } from '#server/http/listen.ts';
import { messageOf } from '#server/lib/error-message.ts';
import { type Finding, failure, ok } from './finding.ts';

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
