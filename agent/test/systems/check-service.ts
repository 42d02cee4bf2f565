/** Checks the agent within its unit: it sees the whole machine, and nothing that only root may read. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';

import { paths } from '#agent/install/paths.ts';

import { sendRequest, type Credentials } from './request.ts';
import { streamUrl } from './check-wire.ts';
import type { Installation } from './installation.ts';

/** Modes and owners of secret files, where they exist. */
const SECRETS: Readonly<Record<string, string>> = {
  [dirname(paths.certificateKey)]: '750 root latchkey-agent',
  [paths.certificateKey]: '640 root latchkey-agent',
  [paths.configuration]: '640 root latchkey-agent',
  [paths.proxyCertificateKey]: '600 root root',
  [paths.authority]: '700 root root',
  [`${paths.authority}/ca.key`]: '600 root root',
  [`${paths.authority}/register.json`]: '600 root root',
  [paths.journal]: '700 root root',
  [`${paths.journal}/journal.jsonl`]: '600 root root',
};

/** Directories that everyone may write to. */
const SHARED = /^\/(?:proc|sys|dev|run|tmp|var\/tmp|var\/lock)(?:\/|$)/u;

export async function checkService(
  installation: Installation,
  client: Credentials | null,
): Promise<void> {
  await checkSecrets(installation);
  await checkReach(installation);
  await checkParts(installation, client);
}

async function checkSecrets({ machine }: Installation): Promise<void> {
  for (const [path, expected] of Object.entries(SECRETS)) {
    const { code, stdout } = await machine.attempt(['stat', '--format=%a %U %G', path]);
    if (code === 0) assert.equal(stdout.trim(), expected, path);
  }
}

/** Checks that its user may write only where everyone may. */
async function checkReach({ machine }: Installation): Promise<void> {
  const find = ['find', '/', '-xdev', '-not', '-type', 'l', '-writable'];
  const { stdout } = await machine.attempt(['runuser', '-u', 'latchkey-agent', '--', ...find]);
  const reached = stdout.split('\n').filter((path) => path !== '' && !SHARED.test(path));
  assert.deepEqual(reached, []);
}

/** Checks that the agent streams each part that root sees. */
async function checkParts(installation: Installation, client: Credentials | null): Promise<void> {
  const { machine, ca } = installation;
  const { text } = await sendRequest(machine.sandbox, streamUrl(installation), client ?? { ca });
  const streamed = listParts(JSON.parse(text).snapshot);
  const seen = listParts(JSON.parse(await machine.succeed(['latchkey-agent', 'once', '--json'])));
  assert.deepEqual(streamed, seen);
  assert.ok(streamed.length > 8, streamed.join());
}

function listParts(snapshot: object): string[] {
  const parts = Object.entries(snapshot).filter(([, part]) => part !== null);
  return parts.map(([name]) => name).sort();
}
