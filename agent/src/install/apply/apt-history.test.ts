import assert from 'node:assert/strict';
import { test } from 'node:test';

import { listInstalledAfter, listInstalledBy, parseAptHistory } from './apt.ts';

/** A log of apt on Debian 12; the second transaction was killed, so it has no end. */
const LOG = `
Start-Date: 2026-11-22  12:20:52
Commandline: apt-get install --yes nginx
Requested-By: ann (1000)
Install: libssh2-1:amd64 (1.10.0-3+b1, automatic), nginx:amd64 (1.22.1-9)
Upgrade: libssl3:amd64 (3.0.1, 3.0.2)
End-Date: 2026-11-22  12:21:49

Start-Date: 2026-11-22  12:30:00
Commandline: apt-get -oLatchkey-Agent::Run=17 install --yes certbot
Install: python3-acme:amd64 (2.1.0-1, automatic), certbot:amd64 (2.1.0-4), python3-idna:i386 (3.3-1)

Start-Date: 2026-11-22  12:40:00
Commandline: apt install memcached python3-idna
Install: memcached:amd64 (1.6.18-1), python3-idna:amd64 (3.3-1)
End-Date: 2026-11-22  12:40:09
`;

test("lists the new packages of each transaction in apt's history log, and no upgraded one", () => {
  assert.deepEqual(
    parseAptHistory(LOG).map(({ installed }) => installed),
    [
      ['libssh2-1', 'nginx'],
      ['python3-acme', 'certbot', 'python3-idna'],
      ['memcached', 'python3-idna'],
    ],
  );
  assert.deepEqual(parseAptHistory(''), []);
});

test('attributes packages to a marked transaction, unless they were installed again', () => {
  const history = parseAptHistory(LOG);
  assert.deepEqual(listInstalledBy(history, 'Run=17'), ['python3-acme', 'certbot']);
  assert.deepEqual(listInstalledBy(history, 'Run=18'), []);
});

test('lists packages of later transactions; all of them without a marked one', () => {
  const history = parseAptHistory(LOG);
  assert.deepEqual(listInstalledAfter(history, 'Run=17'), ['memcached', 'python3-idna']);
  assert.equal(listInstalledAfter(history, 'Run=18').length, 7);
});
