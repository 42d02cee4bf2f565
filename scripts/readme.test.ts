/** Runs the commands of README.md; `scripts/demo/demo.test.ts` runs the one that starts the demo. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { hasPrograms, startDocumentedService, WRITTEN_URL } from './lib/documented-service.ts';
import { repository } from './lib/steps.ts';

const readme = readFileSync(join(repository, 'README.md'), 'utf8');
const service = await startDocumentedService();
after(() => service[Symbol.asyncDispose]());

test('the commands of the README issue a license and activate it', async (t) => {
  if (!hasPrograms('curl')) return t.skip('there is no curl on this machine');
  const commands = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, command = '']) => command);
  assert.deepEqual(commands.slice(0, 2), ['npm run demo\n', 'npm start\n']);
  const [, , issue = ''] = commands;
  const printed = await service.runShell(issue);
  const activate = /^ {2}curl .*?\}\}'$/ms.exec(printed)?.[0] ?? '';
  const answer = await service.runShell(activate.replaceAll(WRITTEN_URL, service.url));
  assert.match(answer, /"activation_id":"[\da-f-]{36}"/);
  assert.match(answer, /"status":"active"/);
});

test('the README is two screens long', () => {
  assert.ok(readme.split('\n').length <= 100);
});
