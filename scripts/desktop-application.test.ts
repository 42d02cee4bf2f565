/** Runs the program of docs/integrations/desktop-application.md unchanged against a service. */
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

test('runs with a key, with the stored entitlement, and without the service', async () => {
  assert.ok(licensing.includes(WRITTEN_URL));
  for (const output of [await activate(), await run(again), await run(withoutService)]) {
    const [, until = ''] = /offlineUntil: (\S+)/.exec(output) ?? [];
    assert.equal(output.replace(until, ''), shown.replace(/(?<=offlineUntil: )\S+/, ''));
    const left = Date.parse(until) - Date.now();
    assert.ok(left > TERM_MS - LATE_MS && left <= TERM_MS, until);
  }
});

test('runs on trial with the trial features', async () => {
  const script = `import('./licensing.mjs').then(async (it) => console.log(JSON.stringify(await it.startTrial({ machine_id: 'bob-desktop' }))))`;
  const { offlineUntil, ...result } = JSON.parse(await run(`node -e "${script}"`));
  assert.deepEqual(result, { mayRun: true, tier: 'trial', features: ['history'] });
  assert.ok(Math.abs(Date.parse(offlineUntil) - Date.now() - TRIAL_MS) < LATE_MS, offlineUntil);
});

test('reports the reason of a refused key, and a missing activation', async () => {
  assert.equal(await run(again), "{ mayRun: false, reason: 'not_activated' }\n");
  key = 'LK-NO-SUCH-KEY';
  assert.equal(await activate(), "{ mayRun: false, reason: 'license_not_found' }\n");
});

test('stops at the next answer after a revocation, and then also without an answer', async () => {
  await activate();
  await run(`latchkey license revoke ${key} --reason "for the test"`);
  assert.match(await run(withoutService), /mayRun: true/);
  assert.equal(await run(again), "{ mayRun: false, reason: 'license_revoked' }\n");
  assert.equal(await run(withoutService), "{ mayRun: false, reason: 'no_entitlement' }\n");
});

test('does not run offline with a changed entitlement or on another machine', async () => {
  const refused = "{ mayRun: false, reason: 'no_entitlement' }\n";
  await activate();
  await write('try.mjs', trial.replace('ann-laptop', 'bob-laptop'));
  assert.equal(await run(withoutService), refused);
  await write('try.mjs', trial);
  assert.match(await run(withoutService), /mayRun: true/);
  await run(String.raw`node -e '
    const fs = require("node:fs");
    const stored = JSON.parse(fs.readFileSync("license.json", "utf8"));
    const [head, payload, signature] = stored.entitlement.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url"));
    const forged = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 1 })).toString("base64url");
    fs.writeFileSync("license.json", JSON.stringify({ ...stored, entitlement: [head, forged, signature].join(".") }));'`);
  assert.equal(await run(withoutService), refused);
});

test('deactivates the machine', async () => {
  await activate();
  const machine = `{ machine_id: 'ann-laptop' }`;
  const script = `import('./licensing.mjs').then(async (it) => console.log(await it.deactivate(${machine})))`;
  assert.equal(await run(`node -e "${script}"`), 'true\n');
  assert.equal(await run(again), "{ mayRun: false, reason: 'not_activated' }\n");
});
