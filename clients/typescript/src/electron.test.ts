import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { activated, KEY } from '../test/open-client.ts';
import { createScriptedService, json } from '../test/scripted-service.ts';
import { ISSUER, MACHINE_ID, NOW_MS, SIGNER, signToken } from '../test/signer.ts';
import { connectWindow } from './electron-preload.ts';
import { Latchkey, type Electron, type ElectronOptions } from './electron.ts';
import type { LicenseState } from './state/state.ts';

const folder = await mkdtemp(join(tmpdir(), 'latchkey-electron-'));
after(() => rm(folder, { recursive: true }));

/** What of Electron connects the main process with one window. */
function createElectron() {
  const service = createScriptedService();
  const calls = new Map<string, (event: unknown, ...args: unknown[]) => unknown>();
  const questions = new Map<string, (event: { returnValue: unknown }) => void>();
  const listeners = new Map<string, (event: unknown, state: LicenseState) => void>();
  const focusListeners = new Set<() => void>();
  const send = (channel: string, ...[content]: unknown[]): void =>
    listeners.get(channel)?.({}, JSON.parse(JSON.stringify(content)));
  const electron: Electron = {
    app: {
      getPath: () => folder,
      getVersion: () => '3.0.0',
      on: (_event, listener) => focusListeners.add(listener),
      removeListener: (_event, listener) => focusListeners.delete(listener),
    },
    net: { fetch: service.fetch },
    ipcMain: {
      handle(channel, listener) {
        // As Electron does.
        if (calls.has(channel)) throw new Error('Attempted to register a second handler');
        calls.set(channel, listener);
      },
      on: (channel, listener) => questions.set(channel, listener),
      removeHandler: (channel) => void calls.delete(channel),
      removeAllListeners: (channel) => questions.delete(channel),
    },
    BrowserWindow: { getAllWindows: () => [{ webContents: { send } }] },
  };
  const ipcRenderer = {
    // Electron copies what it passes on.
    invoke: async (channel: string, ...args: unknown[]) =>
      JSON.parse(JSON.stringify((await calls.get(channel)?.({}, ...args)) ?? null)),
    sendSync(channel: string) {
      const event: { returnValue: unknown } = { returnValue: null };
      questions.get(channel)?.(event);
      return JSON.parse(JSON.stringify(event.returnValue));
    },
    on: (channel: string, listener: (event: unknown, state: LicenseState) => void) =>
      listeners.set(channel, listener),
  };
  const focus = (): void => focusListeners.forEach((listener) => listener());
  return { electron, service, ipcRenderer, focus, focusListeners };
}

const OPTIONS: ElectronOptions = {
  service: ISSUER,
  issuer: ISSUER,
  products: ['personal'],
  publicKeys: [SIGNER.publicKey],
  machine: { machine_id: MACHINE_ID },
  now: () => NOW_MS,
};

test('is opened once at a time, and again after its end', async () => {
  const { electron, ipcRenderer, focusListeners } = createElectron();
  const window = connectWindow(ipcRenderer);
  await assert.rejects(Latchkey.open(electron, { ...OPTIONS, products: [] }), TypeError);
  const opening = Latchkey.open(electron, OPTIONS);
  await assert.rejects(Latchkey.open(electron, OPTIONS), { message: /already open.*close\(\)/ });
  const first = await opening;
  await assert.rejects(Latchkey.open(electron, OPTIONS), /already open/);
  const closing = first.close();
  await assert.rejects(Latchkey.open(electron, OPTIONS), /already open/);
  await closing;
  assert.equal(window.state().reason, 'not_activated', 'windows may outlive the client');
  const second = await Latchkey.open(electron, { ...OPTIONS, appVersion: '4.0.0' });
  assert.match(await window.explain(), /^program: 4\.0\.0$/m);
  assert.equal(focusListeners.size, 1);
  await first.close();
  await assert.rejects(Latchkey.open(electron, OPTIONS), /already open/);
  await second.close();
  assert.equal(focusListeners.size, 0);
});

test('answers its windows, shows them changes, and checks at the front', async () => {
  const { electron, service, ipcRenderer, focus } = createElectron();
  const client = await Latchkey.open(electron, OPTIONS);
  const window = connectWindow(ipcRenderer);
  assert.equal(window.state().reason, 'not_activated');
  const kinds: string[] = [];
  window.onChange(({ kind }) => kinds.push(kind));
  service.answer(() => activated());
  assert.deepEqual(await window.activate(KEY), { ok: true });
  assert.deepEqual([window.has('gpu'), window.has('fleet'), kinds], [true, false, ['licensed']]);
  assert.deepEqual(service.requests[0]?.body['machine_fingerprint'], {
    machine_id: MACHINE_ID,
    app_version: '3.0.0',
    os_version: release(),
  });
  service.answer(() => json({ valid: true, entitlement: signToken() }));
  focus();
  await client.close();
  assert.equal(service.requests.at(-1)?.body['trigger'], 'foreground');
  for (const method of ['close', 'erase', 'constructor', 7, undefined]) {
    const answer: unknown = await ipcRenderer.invoke('latchkey:call', method);
    assert.deepEqual(answer, { ok: false, code: 'unexpected' });
  }
});
