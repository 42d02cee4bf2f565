/** Checks the statuses of the specification from outside of a finished installation. */
import assert from 'node:assert/strict';

import { sendRequest, type TestResponse, type Credentials } from './request.ts';
import type { Installation } from './installation.ts';
import { requestOwnPage, DOMAIN, OWN_PAGE } from './web-servers.ts';

const PROXY_PATH = '/latchkey';

export const HEALTH_URL = `https://${DOMAIN}${PROXY_PATH}/health`;

export function streamUrl({ cell }: Installation): string {
  return cell.expected === 'proxy' ? `wss://${DOMAIN}${PROXY_PATH}` : `wss://${DOMAIN}:4096`;
}

/**
 * @param client its certificate where mutual TLS is required
 */
export async function checkWire(
  installation: Installation,
  client: Credentials | null,
): Promise<void> {
  await checkStream(installation, client);
  await checkPages(installation, client);
  await checkOwnPage(installation);
  await checkPort(installation);
  if (installation.cell.expected === 'proxy') await checkHealth(installation);
}

async function checkStream(installation: Installation, client: Credentials | null): Promise<void> {
  const { machine, cell, ca } = installation;
  const stranger = await sendRequest(machine.sandbox, streamUrl(installation), { ca });
  if (client === null) return checkSnapshot(stranger);
  checkRefusal(stranger, cell.expected === 'proxy');
  checkSnapshot(await sendRequest(machine.sandbox, streamUrl(installation), client));
}

/** Checks the live page, the page of many machines and the metrics, beside each other at any path. */
async function checkPages(installation: Installation, client: Credentials | null): Promise<void> {
  const { machine, ca } = installation;
  const base = streamUrl(installation).replace('wss:', 'https:');
  for (const [path, type, content] of [
    ['/', 'text/html; charset=utf-8', /^<!doctype html>[^]* id="fleet-page"/],
    ['/fleet', 'text/html; charset=utf-8', /^<!doctype html>[^]* id="live-page"/],
    ['/metrics', 'application/openmetrics-text; version=1.0.0; charset=utf-8', /\n# EOF\n$/],
  ] as const) {
    const answer = await sendRequest(machine.sandbox, `${base}${path}`, client ?? { ca });
    assert.deepEqual([answer.status, answer.type], [200, type], path);
    assert.match(answer.text, content, path);
  }
}

function checkSnapshot({ status, text }: TestResponse): void {
  assert.equal(status, 101, text);
  assert.equal(typeof JSON.parse(text), 'object');
}

/** The agent reads a new revocation list within this time, nginx at once. */
const REVOCATION_TIMEOUT_MS = 15_000;

/** Waits until a viewer with a revoked certificate is refused. */
export async function checkRefused(
  installation: Installation,
  revoked: Credentials,
): Promise<void> {
  const deadline = performance.now() + REVOCATION_TIMEOUT_MS;
  const send = () => sendRequest(installation.machine.sandbox, streamUrl(installation), revoked);
  const isProxy = installation.cell.expected === 'proxy';
  let answer = await send();
  // While old workers of nginx use the previous list, the agent itself refuses.
  while (answer.status !== refusalStatus(isProxy) && performance.now() < deadline)
    answer = await send();
  checkRefusal(answer, isProxy);
}

/** Returns the status of a refusal: 496 of the proxy, 403 of the agent. */
function checkRefusal({ status, text }: TestResponse, isProxy: boolean): void {
  assert.equal(status, refusalStatus(isProxy), text);
  assert.match(text, /certificate/i);
}

function refusalStatus(isProxy: boolean): number {
  return isProxy ? 496 : 403;
}

async function checkHealth({ machine, ca }: Installation): Promise<void> {
  const countLines = () =>
    (machine.readIfThere('/var/log/nginx/access.log') ?? '').split('/health ').length;
  // The installer itself requested it, before nginx had the new configuration.
  const before = countLines();
  const { status, type, text } = await sendRequest(machine.sandbox, HEALTH_URL, { ca });
  assert.deepEqual({ status, type, text }, { status: 200, type: 'text/plain', text: 'OK\n' });
  assert.equal(countLines(), before, 'the health route is not logged');
}

/** Checks that the owner's site is unchanged, without a client certificate. */
export async function checkOwnPage({ machine, cell }: Installation): Promise<void> {
  if (cell.webServer === 'no web server') return;
  const { status, text } = await requestOwnPage(machine, cell.webServer);
  assert.deepEqual([status, text], [200, OWN_PAGE]);
}

/** Checks that the agent's own port is reachable from outside in standalone mode only. */
async function checkPort({ machine, cell, ca }: Installation): Promise<void> {
  const { status, text } = await sendRequest(machine.sandbox, `https://${DOMAIN}:4096/`, { ca });
  if (cell.expected === 'proxy') assert.deepEqual([status, text], [0, 'ECONNREFUSED']);
  else assert.notEqual(status, 0, text);
}
