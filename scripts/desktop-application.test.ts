/** The program of docs/integrations/desktop-application.md, run as it stands there against a service. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';

import { startDocumentedService, WRITTEN_URL } from './lib/documented-service.ts';
import { repository } from './lib/steps.ts';

const page = readFileSync(join(repository, 'docs/integrations/desktop-application.md'), 'utf8');
const [licensing = '', trial = ''] = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(readBlock);
const [commands = ''] = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(readBlock);
const [shown = ''] = [...page.matchAll(/^```text\n(.*?)^```$/gms)].map(readBlock);
const [withKey = '', again = '', withoutService = ''] = commands.trim().split('\n');

const TERM_MS = 14 * 86_400_000;
const TRIAL_MS = 7 * 86_400_000;
const LATE_MS = 600_000;

const service = await startDocumentedService();
after(() => service[Symbol.asyncDispose]());

let key = '';
beforeEach(async () => {
  await run('rm -f license.json');
  await write('licensing.mjs', licensing);
  await write('try.mjs', trial);
  key = (await run('latchkey license issue --product personal')).split('\n')[0] ?? '';
});

function readBlock([, block = '']: RegExpMatchArray): string {
  return block;
}

async function run(script: string): Promise<string> {
  const node = `node() { "${process.execPath}" "$@"; }\nexport LICENSE_SERVICE=${service.url}\n`;
  return service.runShell(`${node}${script}`);
}

async function write(file: string, text: string): Promise<void> {
  await run(`cat > ${file} <<'END'\n${text}END`);
}

function activate(): Promise<string> {
  return run(withKey.replace(/KEY=\S+/, `KEY=${key}`));
}

test('it runs with a key, with what it has kept, and without the service', async () => {
  assert.ok(licensing.includes(WRITTEN_URL));
  for (const output of [await activate(), await run(again), await run(withoutService)]) {
    const [, until = ''] = /offlineUntil: (\S+)/.exec(output) ?? [];
    assert.equal(output.replace(until, ''), shown.replace(/(?<=offlineUntil: )\S+/, ''));
    const left = Date.parse(until) - Date.now();
    assert.ok(left > TERM_MS - LATE_MS && left <= TERM_MS, until);
  }
});

test('it runs on trial, with what a trial unlocks', async () => {
  const script = `import('./licensing.mjs').then(async (it) => console.log(JSON.stringify(await it.startTrial({ machine_id: 'bob-desktop' }))))`;
  const { offlineUntil, ...said } = JSON.parse(await run(`node -e "${script}"`));
  assert.deepEqual(said, { mayRun: true, tier: 'trial', features: ['history'] });
  assert.ok(Math.abs(Date.parse(offlineUntil) - Date.now() - TRIAL_MS) < LATE_MS, offlineUntil);
});

test('it says why a key is refused, and that there is none', async () => {
  assert.equal(await run(again), "{ mayRun: false, reason: 'not_activated' }\n");
  key = 'LK-NO-SUCH-KEY';
  assert.equal(await activate(), "{ mayRun: false, reason: 'license_not_found' }\n");
});

test('a license that was revoked stops it at the next answer, and from then on without one', async () => {
  await activate();
  await run(`latchkey license revoke ${key} --reason "for the test"`);
  assert.match(await run(withoutService), /mayRun: true/);
  assert.equal(await run(again), "{ mayRun: false, reason: 'license_revoked' }\n");
  assert.equal(await run(withoutService), "{ mayRun: false, reason: 'no_entitlement' }\n");
});

test('neither a changed entitlement nor another machine lets it run without the service', async () => {
  const refused = "{ mayRun: false, reason: 'no_entitlement' }\n";
  await activate();
  await write('try.mjs', trial.replace('ann-laptop', 'bob-laptop'));
  assert.equal(await run(withoutService), refused);
  await write('try.mjs', trial);
  assert.match(await run(withoutService), /mayRun: true/);
  await run(String.raw`node -e '
    const fs = require("node:fs");
    const kept = JSON.parse(fs.readFileSync("license.json", "utf8"));
    const [head, payload, signature] = kept.entitlement.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url"));
    const forged = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 1 })).toString("base64url");
    fs.writeFileSync("license.json", JSON.stringify({ ...kept, entitlement: [head, forged, signature].join(".") }));'`);
  assert.equal(await run(withoutService), refused);
});

test('a place that was freed is free', async () => {
  await activate();
  const machine = `{ machine_id: 'ann-laptop' }`;
  const script = `import('./licensing.mjs').then(async (it) => console.log(await it.deactivate(${machine})))`;
  assert.equal(await run(`node -e "${script}"`), 'true\n');
  assert.equal(await run(again), "{ mayRun: false, reason: 'not_activated' }\n");
});
