import assert from 'node:assert/strict';
import { test } from 'node:test';

import { queryPrivateAccess } from './private-access.ts';

/** A browser that knows some permissions, and records what it is asked for. */
function playBrowser(states: Readonly<Record<string, string>>) {
  const names: string[] = [];
  const query = async ({ name }: { readonly name: string }) => {
    names.push(name);
    const state = states[name];
    if (state === undefined) throw new TypeError('not a valid enum value of type PermissionName');
    return { state };
  };
  return { names, ask: async (address: string) => queryPrivateAccess({ query }, address) };
}

test('reads the permission for the local network or for this computer', async () => {
  const { names, ask } = playBrowser({ 'local-network': 'denied', 'loopback-network': 'granted' });
  assert.equal(await ask('192.168.1.7:4096'), 'denied');
  assert.equal(await ask('db-1.example.com:4096'), 'denied');
  assert.equal(await ask('127.0.0.1:4096'), 'granted');
  assert.deepEqual(names, ['local-network', 'local-network', 'loopback-network']);
});

test('reads the one permission of older browsers; null where there is none', async () => {
  const older = playBrowser({ 'local-network-access': 'prompt' });
  assert.equal(await older.ask('192.168.1.7:4096'), 'prompt');
  assert.deepEqual(older.names, ['local-network', 'local-network-access']);
  assert.equal(await playBrowser({ 'local-network': 'ask' }).ask('192.168.1.7:4096'), null);
  assert.equal(await playBrowser({}).ask('127.0.0.1:4096'), null);
});
