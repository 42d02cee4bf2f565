import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';

import { lacksOpenssl } from '../../../../test/certificates.ts';
import { FakeHost } from '../../../../test/fake-host.ts';
import { agentUser, paths } from '../../paths.ts';
import { ownCertificate } from './own-certificate.ts';

/** A captured state without anything that these steps depend on. */
const NOTHING = { paths: [], facts: {} };

test(
  "the agent's own key is for root and the agent's group alone",
  { skip: lacksOpenssl },
  async () => {
    using host = new FakeHost();
    host.write('/etc/group', `root:x:0:\n${agentUser}:x:${process.getgid?.() ?? 0}:\n`);
    const step = {
      kind: 'own-certificate',
      domain: 'monitor.test',
      source: { kind: 'self-signed' },
    } as const;
    await ownCertificate.apply(step, host.open(), NOTHING);
    for (const path of [paths.certificate, paths.certificateKey])
      assert.equal(statSync(host.at(path)).mode & 0o777, 0o640, path);
    assert.equal(await ownCertificate.isSatisfied(step, host.open()), true);
  },
);
