/** The web servers of machines serve their page before an installation; otherwise later checks would prove nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sendRequest } from './request.ts';
import { findMissingRequirement } from './requirements.ts';
import { Machine } from './machine.ts';
import { RELEASES } from './trees.ts';
import { requestOwnPage, DOMAIN, OWN_PAGE, prepare, WEB_SERVERS } from './web-servers.ts';

const skip = findMissingRequirement() ?? false;

for (const release of ['bookworm', 'trixie'] as const) {
  for (const webServer of WEB_SERVERS) {
    test(`${RELEASES[release]} with ${webServer} serves the owner's page`, { skip }, async () => {
      await using machine = await Machine.boot(release);
      await prepare(machine, webServer);
      const { status, text } = await requestOwnPage(machine, webServer);
      const expected = webServer === 'no web server' ? [0, 'ECONNREFUSED'] : [200, OWN_PAGE];
      assert.deepEqual([status, text], expected);
      const secure = await sendRequest(machine.sandbox, `https://${DOMAIN}/`);
      const code =
        webServer === 'nginx with the domain over https'
          ? 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
          : 'ECONNREFUSED';
      assert.equal(secure.text, code);
    });
  }
}
