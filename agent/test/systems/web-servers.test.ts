/** What is installed beside serves its own page before: else nothing would be proved of it after. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ask } from './ask.ts';
import { whySystemsCannotRun } from './lacks.ts';
import { Machine } from './machine.ts';
import { RELEASES } from './trees.ts';
import { askForOwnPage, DOMAIN, OWN_PAGE, prepare, WEB_SERVERS } from './web-servers.ts';

const skip = whySystemsCannotRun() ?? false;

for (const release of ['bookworm', 'trixie'] as const) {
  for (const webServer of WEB_SERVERS) {
    test(`${RELEASES[release]} with ${webServer} serves what it should`, { skip }, async () => {
      await using machine = await Machine.boot(release);
      await prepare(machine, webServer);
      const { status, text } = await askForOwnPage(machine, webServer);
      const expected = webServer === 'no web server' ? [0, 'ECONNREFUSED'] : [200, OWN_PAGE];
      assert.deepEqual([status, text], expected);
      const secure = await ask(machine.place, `https://${DOMAIN}/`);
      const code =
        webServer === 'nginx with the domain over https'
          ? 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
          : 'ECONNREFUSED';
      assert.equal(secure.text, code);
    });
  }
}
