import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { AuthorityWorkshop } from '../../test/authority-workshop.ts';
import { lacksOpenssl } from '../../test/certificates.ts';
import { hasIssuedSince, registerPath } from './register.ts';
import { revokeClient } from './clients.ts';

test(
  'finds client certificates that were issued or revoked since',
  { skip: lacksOpenssl },
  async () => {
    using workshop = new AuthorityWorkshop();
    const { places } = workshop;
    const read = () => readFileSync(registerPath(places), 'utf8');
    assert.equal(hasIssuedSince(places, null), false);
    await workshop.ensure();
    assert.equal(hasIssuedSince(places, null), false, 'the certificate of the proxy is no client');
    const empty = read();
    await workshop.create('anna');
    assert.deepEqual([hasIssuedSince(places, null), hasIssuedSince(places, empty)], [true, true]);
    const issued = read();
    await workshop.ensure({ address: 'wss://db-1.example.com:4096' });
    assert.equal(hasIssuedSince(places, issued), false);
    await revokeClient(workshop, 'anna');
    assert.equal(hasIssuedSince(places, issued), true);
  },
);
