/** Runs the code of the README, and the example, against the service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';

import { startTestService, TEST_ISSUER } from '../../../server/test/harness.ts';
import { installModule, linkSources } from './link-sources.ts';

const WRITTEN_URL = 'http://127.0.0.1:8080';
const run = promisify(execFile);

const service = await startTestService({
  clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
});
const directory = await mkdtemp(join(tmpdir(), 'latchkey-readme-'));
after(() => rm(directory, { recursive: true }));

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
const blocks = Array.from(readme.matchAll(/^```js\n(.*?)^```$/gms), ([, block = '']) =>
  block
    .replaceAll(`issuer: '${WRITTEN_URL}'`, `issuer: '${TEST_ISSUER}'`)
    .replaceAll(WRITTEN_URL, service.url),
);

/** Stands for Electron: it shows what a program does with it. */
const ELECTRON = `
import { tmpdir } from 'node:os';
export const app = { whenReady: async () => {}, getPath: () => 'electron', getVersion: () => '1.0.0', on() {} };
export const net = { fetch };
export const ipcMain = { handle() {}, on() {} };
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
  const missing = names.filter((name) => name !== 'constructor' && !readme.includes(name));
  assert.deepEqual(missing, []);
});

test('the example activates, lists its machine, and deactivates it', async () => {
  const { licenseKey } = await service.issue();
  const text = await readFile(new URL('../example/main.mjs', import.meta.url), 'utf8');
  const variables = {
    LICENSE_SERVICE: service.url,
    LICENSE_ISSUER: TEST_ISSUER,
    LICENSE_FOLDER: join(directory, 'example'),
  };
  const call = (...args: string[]) => runProgram('example.mjs', text, { ...variables, args });
  assert.equal(await call(), 'No license yet: activate KEY, or trial.\n');
  const licensed = 'Licensed: personal. Runs without a network for 14 days.\n';
  assert.equal(await call('activate', licenseKey), licensed);
  assert.match(await call('machines'), /^[\da-f-]{36} {2}active {2}\(this one\)\n$/);
  assert.match(await call('explain'), /^state: licensed$/m);
  assert.equal(await call('deactivate'), 'No license yet: activate KEY, or trial.\n');
});
