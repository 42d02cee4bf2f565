/** Runs the program and the commands of docs/integrations/desktop-application.md unchanged against a service. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';

import { linkSources } from '../clients/typescript/test/link-sources.ts';
import { startDocumentedService, WRITTEN_URL } from './lib/documented-service.ts';
import { repository } from './lib/steps.ts';

const page = await readFile(join(repository, 'docs/integrations/desktop-application.md'), 'utf8');
const blocks = [...page.matchAll(/^ *```(\w+)\n(.*?)^ *```$/gms)].map(
  ([, language = '', text = '']) => ({ language, text: text.replaceAll(/^ {2}(?=\S)/gm, '') }),
);
const textsOf = (wanted: string): string[] =>
  blocks.filter(({ language }) => language === wanted).map(({ text }) => text);
const [start = '', revoke = ''] = textsOf('sh');
const [licensed = '', revoked = ''] = textsOf('text');
const [withKey = '', again = '', withoutService = ''] = start.trim().split('\n');

const service = await startDocumentedService();
after(() => service[Symbol.asyncDispose]());
const directory = await mkdtemp(join(tmpdir(), 'latchkey-afternoon-'));
after(() => rm(directory, { recursive: true }));
await linkSources(directory);
for (const text of textsOf('js')) {
  const [, name = ''] = /^\/\/ (\S+)\n/.exec(text) ?? [];
  await writeFile(join(directory, name), text);
}

let key = '';
let runs = 0;
beforeEach(async () => {
  runs += 1;
  key = (await service.runShell('latchkey license issue --product personal')).split('\n')[0] ?? '';
});

/** Runs commands of the page with a folder for each test. */
function run(script: string): Promise<string> {
  const home = join(directory, String(runs));
  return service.runShell(
    `node() { "${process.execPath}" --disable-warning=ExperimentalWarning "$@"; }
     export HOME=${home} LICENSE_SERVICE=\${LICENSE_SERVICE-${service.url}}
     cd ${directory}
     ${script}`,
  );
}

function activate(): Promise<string> {
  assert.match(withKey, /^KEY=\S+ node program\.mjs$/);
  return run(withKey.replace(/KEY=\S+/, `KEY=${key}`));
}

test('runs with a key, with what is kept, and without the service', async () => {
  assert.ok(page.includes(WRITTEN_URL));
  assert.equal(await activate(), `Thank you.\n${licensed}`);
  assert.equal(await run(again), licensed);
  assert.equal(await run(withoutService), licensed);
});

test('stops at the next check after a revocation, and then also without the service', async () => {
  await activate();
  const [command = '', ...commands] = revoke.trim().split('\n');
  await run(`KEY=${key}\n${command.replace('npx ', '')}`);
  assert.equal(await run(withoutService), licensed);
  assert.equal(commands.length, 2);
  for (const each of commands) assert.equal(await run(each), revoked);
});

test('runs on trial', async () => {
  const shown = 'Trial: 7 days left.\nExports slowly.\n';
  assert.equal(await run('TRIAL=1 node program.mjs'), shown);
  assert.equal(await run(withoutService), shown);
});

test('explains why a key is not accepted', async () => {
  const end = '\nEnter your key, or start the trial.\nExports slowly.\n';
  assert.equal(await run(again), end.slice(1));
  const typo = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
  assert.equal(await run(`KEY=${typo} node program.mjs`), `key_mistyped${end}`);
  assert.equal(await run('KEY=OTHER node program.mjs'), `license_not_found${end}`);
  const offline = await run(`LICENSE_SERVICE=http://127.0.0.1:1 KEY=${key} node program.mjs`);
  assert.equal(offline, `No connection (connection). Try again later.${end}`);
});

test('frees another computer when the license is full', async () => {
  key =
    (await service.runShell('latchkey license issue --product personal --max-activations 1')).split(
      '\n',
    )[0] ?? '';
  const body = { license_key: key, machine_fingerprint: { machine_id: 'other computer' } };
  await fetch(`${service.url}/api/v1/licenses/activate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = 'In use on other computers. Choose one to free.\nThank you.\n';
  assert.equal(await activate(), `${text}${licensed}`);
});
