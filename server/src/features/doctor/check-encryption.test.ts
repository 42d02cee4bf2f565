import assert from 'node:assert/strict';
import { test } from 'node:test';

import { judgeEncryption, judgeReplicaEncryption, type Route } from './check-encryption.ts';

const PREFER = { mode: 'prefer', isModeSet: false } as const;

function judge(route: Route, tls: Parameters<typeof judgeEncryption>[2] = PREFER) {
  const {
    status,
    code = null,
    symptom,
    cause,
  } = judgeEncryption('PostgreSQL 18', 'db:5432', tls, route);
  return { status, code, text: cause ?? symptom };
}

test('warns of an unencrypted connection to another machine', () => {
  assert.deepEqual(judge({ protocol: null, isLocal: false }), {
    status: 'warning',
    code: 'database.unencrypted',
    text: 'The connection to db:5432 has no TLS, which sslmode=prefer, the default, permits.',
  });
});

test('warns of an unencrypted replica on another machine, with its own setting', () => {
  const plain = { protocol: null, isLocal: false };
  const [finding] = judgeReplicaEncryption('replica:5432', PREFER, plain);
  assert.deepEqual([finding?.check, finding?.code], ['replica', 'replica.unencrypted']);
  assert.match(finding?.fix ?? '', /in LATCHKEY_REPLICA_URL;/u);
  const encrypted = { protocol: 'TLSv1.3', isLocal: false };
  assert.deepEqual(judgeReplicaEncryption('replica:5432', PREFER, encrypted), []);
});

test('accepts encryption, this machine, and a decision against encryption', () => {
  for (const [route, tls, text] of [
    [{ protocol: 'TLSv1.3', isLocal: false }, PREFER, ', encrypted with TLSv1.3.'],
    [{ protocol: null, isLocal: true }, PREFER, '.'],
    [
      { protocol: null, isLocal: false },
      { mode: 'disable', isModeSet: true },
      ', unencrypted (sslmode=disable).',
    ],
  ] as const) {
    const expected = `PostgreSQL 18 at db:5432 answers${text}`;
    assert.deepEqual(judge(route, tls), { status: 'ok', code: null, text: expected });
  }
});
