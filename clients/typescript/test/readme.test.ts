/** Runs the code of the README, and the example, against the service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import {
  checkExample,
  checkNames,
  exampleVariables,
  readBlocks,
  startClientTest,
  useService,
} from '../../conformance/programs/documented-programs.ts';
import { installModule, linkSources } from './link-sources.ts';

const CLIENT = join(import.meta.dirname, '..');
const run = promisify(execFile);

const { service, directory } = await startClientTest('readme');
const blocks = (await readBlocks(CLIENT, 'js')).map((block) => useService(block, service));

/** Stands for Electron: it shows what a program does with it. */
const ELECTRON = `
import { tmpdir } from 'node:os';
export const app = { whenReady: async () => {}, getPath: () => 'electron', getVersion: () => '1.0.0', on() {}, removeListener() {} };
export const net = { fetch };
export const ipcMain = { handle() {}, on() {}, removeHandler() {}, removeAllListeners() {} };
export const BrowserWindow = { getAllWindows: () => [] };
export const ipcRenderer = { sendSync: () => ({ mayRun: true, features: ['gpu'] }) };
export const contextBridge = { exposeInMainWorld: (name, api) => console.log(name, api.has('gpu')) };
`;

await linkSources(directory);
await installModule(directory, 'electron', { '.': ELECTRON });

async function runProgram(
  name: string,
  text: string,
  {
    args = [],
    ...variables
  }: { readonly args?: readonly string[]; readonly [name: string]: unknown } = {},
): Promise<string> {
  await writeFile(join(directory, name), text);
  const flags = ['--disable-warning=ExperimentalWarning', name, ...args];
  const { stdout } = await run(process.execPath, flags, {
    cwd: directory,
    env: {
      ...process.env,
      ...Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, String(value)])),
    },
  });
  return stdout;
}

test('its program starts, activates, asks for an answer without a connection, and sends an event', async () => {
  const { licenseKey } = await service.issue();
  const program = blocks.filter((block) => !block.includes('electron')).join('\n');
  const printed = await runProgram('program.mjs', program, { KEY: licenseKey.toLowerCase() });
  assert.equal(
    printed,
    [
      'none not_activated',
      'changed: licensed',
      'with the feature gpu',
      'LKR1.',
      'entitlement_malformed',
      'sent 1',
      '',
    ].join('\n'),
  );
});

test('its parts for Electron run', async () => {
  const [main = '', preload = ''] = blocks.filter((block) => block.includes("'electron'"));
  const ended = `${main}\nawait latchkey.close();\n`;
  assert.equal(await runProgram('main.mjs', ended), 'show the window for the key\n');
  assert.equal(await runProgram('preload.mjs', preload), 'latchkey true\n');
});

test('names all calls of a client', async () => {
  const { Latchkey } = await import('../src/index.ts');
  const names = Object.getOwnPropertyNames(Latchkey.prototype);
  await checkNames(
    CLIENT,
    names.filter((name) => name !== 'constructor'),
    15,
  );
});

test('the example activates, lists its machine, and deactivates it', async () => {
  const { licenseKey } = await service.issue();
  const text = await readFile(new URL('../example/main.mjs', import.meta.url), 'utf8');
  const variables = exampleVariables(service, directory);
  const call = (...args: string[]) => runProgram('example.mjs', text, { ...variables, args });
  await checkExample(call, licenseKey);
});
