import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { RunProgram } from '../../system/run-program.ts';
import { listNamedPorts } from './nft-ports.ts';

const PORTS = [22, 25, 80, 443, 4096, 8050];
const PLACE = { family: 'inet', table: 'filter' };
const CHAIN = {
  chain: { ...PLACE, name: 'input', type: 'filter', hook: 'input', policy: 'accept' },
};
const DROPPING = { chain: { ...CHAIN.chain, policy: 'drop' } };
const PORT = { payload: { protocol: 'tcp', field: 'dport' } };

function rule(...expr: readonly object[]) {
  return { rule: { ...PLACE, chain: 'input', handle: 4096, expr } };
}

function match(right: unknown): object {
  return { match: { op: '==', left: PORT, right } };
}

async function list(...nftables: readonly object[]): Promise<readonly number[] | null> {
  const stdout = JSON.stringify({ nftables });
  const runProgram: RunProgram = async () => {
    return { code: 0, stdout, stderr: '', fault: null, isMissing: false };
  };
  return listNamedPorts(runProgram, PORTS);
}

test('finds ports in rules, sets, ranges and maps, and not in counters or handles', async () => {
  const named = [
    rule(match({ set: [22, { range: [8000, 8100] }] }), { accept: null }),
    { set: { ...PLACE, name: 'web', elem: [80, 443] } },
    rule(match('@web'), { counter: { packets: 4096, bytes: 4096 } }, { accept: null }),
    rule({ vmap: { key: PORT, data: { set: [[25, { accept: null }]] } } }),
  ];
  assert.deepEqual(await list(DROPPING, ...named), [22, 25, 80, 443, 8050]);
  assert.deepEqual(await list(DROPPING), []);
});

test('treats a last rule that refuses everything as the policy of the chain', async () => {
  const counter = { counter: { packets: 0, bytes: 0 } };
  const reject = { reject: { type: 'icmpx', expr: 'admin-prohibited' } };
  assert.deepEqual(
    await list(CHAIN, rule(match(80), { accept: null }), rule(counter, reject)),
    [80],
  );
});

test('returns null for rules that refuse only some connections, or that nft cannot show', async () => {
  assert.equal(await list(CHAIN, rule(match(22), { drop: null })), null);
  assert.equal(await list({ chain: { ...DROPPING.chain, hook: 'forward' } }), null);
  assert.equal(
    await list(DROPPING, rule({ xt: { type: 'match', name: 'tcp' } }, { accept: null })),
    null,
  );
});
