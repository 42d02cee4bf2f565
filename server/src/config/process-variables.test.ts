import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findAuthorityProblems, findLateVariables } from './process-variables.ts';

test('reports variables of the process that only .env has', () => {
  const late =
    ' has no effect in .env, because the process reads it before: set it in the environment of the service.';
  const dotEnv = {
    NODE_EXTRA_CA_CERTS: '/a',
    PGSSLMODE: 'require',
    LATCHKEY_PORT: '1',
    PGDATA: '/x',
  };
  assert.deepEqual(findLateVariables(dotEnv, { PGSSLMODE: 'require' }), [
    `NODE_EXTRA_CA_CERTS${late}`,
  ]);
});

test('reports certificates that Node.js ignores', () => {
  const pem = '-----BEGIN CERTIFICATE-----';
  assert.deepEqual(
    findAuthorityProblems(undefined, () => assert.fail()),
    [],
  );
  assert.deepEqual(
    findAuthorityProblems('/ca.pem', () => `# ours\n${pem}`),
    [],
  );
  assert.deepEqual(
    findAuthorityProblems('/ca.der', () => 'binary'),
    ['NODE_EXTRA_CA_CERTS names /ca.der, which contains no certificate in PEM format.'],
  );
  assert.deepEqual(findAuthorityProblems('/ca.pem', missing), [
    'NODE_EXTRA_CA_CERTS names /ca.pem, which cannot be read (ENOENT).',
  ]);
});

function missing(): never {
  throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
}
