import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { AuthorityFixture } from '../../test/authority-fixture.ts';
import { lacksOpenssl } from '../../test/certificates.ts';
import { hasIssuedSince, registerPath } from './register.ts';
import { revokeClient } from './clients.ts';

test(
  'finds client certificates that were issued or revoked since',
  { skip: lacksOpenssl },
  async () => {
    using fixture = new AuthorityFixture();
    const { paths } = fixture;
    const read = () => readFileSync(registerPath(paths), 'utf8');
    assert.equal(hasIssuedSince(paths, null), false);
    await fixture.ensure();
    assert.equal(hasIssuedSince(paths, null), false, 'the certificate of the proxy is no client');
    const empty = read();
    await fixture.create('anna');
    assert.deepEqual([hasIssuedSince(paths, null), hasIssuedSince(paths, empty)], [true, true]);
    const issued = read();
    await fixture.ensure({ address: 'wss://db-1.example.com:4096' });
    assert.equal(hasIssuedSince(paths, issued), false);
    await revokeClient(fixture, 'anna');
    assert.equal(hasIssuedSince(paths, issued), true);
  },
);
