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
    const { paths } = workshop;
    const read = () => readFileSync(registerPath(paths), 'utf8');
    assert.equal(hasIssuedSince(paths, null), false);
    await workshop.ensure();
    assert.equal(hasIssuedSince(paths, null), false, 'the certificate of the proxy is no client');
    const empty = read();
    await workshop.create('anna');
    assert.deepEqual([hasIssuedSince(paths, null), hasIssuedSince(paths, empty)], [true, true]);
    const issued = read();
    await workshop.ensure({ address: 'wss://db-1.example.com:4096' });
    assert.equal(hasIssuedSince(paths, issued), false);
    await revokeClient(workshop, 'anna');
    assert.equal(hasIssuedSince(paths, issued), true);
  },
);
