import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { AgentNotice } from '@latchkey/contract';

import { createFakeFleet } from '../core/fake-fleet.fixture.ts';
import type { GapReason, MachineState } from '../core/types.ts';
import {
  compareTroubled,
  findRemedy,
  formatMoment,
  judgeMachine,
  listProblems,
  type Remedy,
} from './problems.ts';

const SINCE = new Date(2026, 10, 21, 14, 3, 22).getTime();
const context = { nowMs: SINCE + 90_000, origin: 'https://console.example.com' };

function gapOf(reason: GapReason, detail?: string): MachineState {
  return { kind: 'gap', reason, since: SINCE, ...(detail === undefined ? {} : { detail }) };
}

function noticeOf(severity: AgentNotice['severity'], minutesAgo: number, subject: string) {
  const since = new Date(SINCE - minutesAgo * 60_000).toISOString();
  return { code: 'filesystem_full', severity, since, subject, ratio: 0.93 } as const;
}

const SENTENCES: Readonly<Record<GapReason, readonly [string, Remedy]>> = {
  no_answer: ['web-12 has not answered since 14:03:22.', 'retry'],
  unreachable: [
    'web-12 cannot be reached since 14:03:22, or this browser does not trust its certificate.',
    'open',
  ],
  stopped: ['web-12 stopped its agent at 14:03:22.', 'retry'],
  refused: ['web-12 closed the connection at 14:03:22.', 'retry'],
  token: ['web-12 does not accept the token: enter it.', 'token'],
  certificate_required: [
    'web-12 requires a client certificate: open this machine once, and choose it.',
    'open',
  ],
  origin: [
    'web-12 does not allow this page: run “latchkey-agent origins add https://console.example.com” on it.',
    'retry',
  ],
  no_upgrade: ['web-12 is behind a proxy that does not forward WebSockets (Upgrade).', 'retry'],
  private_address: [
    'web-12 has a private address: allow this page to reach your local network, or open this machine once.',
    'open',
  ],
};

for (const [reason, [sentence, remedy]] of Object.entries(SENTENCES)) {
  test(`describes a gap by ${reason}, and offers a remedy`, () => {
    const known = Object.keys(SENTENCES).find((each): each is GapReason => each === reason);
    assert.ok(known !== undefined);
    const state = gapOf(known);
    const [problem] = listProblems({ state, notices: null }, context);
    assert.ok(problem !== undefined);
    assert.equal(`web-12 ${problem.sentence}`, sentence);
    assert.equal(findRemedy(state), remedy);
  });
}

test('repeats the sentence of an agent that closed the connection', () => {
  const state = gapOf('refused', 'The access token was removed.');
  const [problem] = listProblems({ state, notices: [] }, context);
  assert.equal(problem?.sentence, 'closed the connection: The access token was removed.');
});

test('distinguishes a missing token from an unknown one', () => {
  const details = [
    'An access token is needed: send it as "Authorization: Bearer TOKEN".',
    'The access token is not known.',
  ];
  const sentences = details.map((detail) => {
    const [problem] = listProblems({ state: gapOf('token', detail), notices: null }, context);
    return problem?.sentence;
  });
  assert.deepEqual(sentences, [
    'needs an access token: enter it.',
    'does not accept the token: enter it.',
  ]);
});

test('lists the gap first, then errors, then warnings, the oldest first', () => {
  const notices = [
    noticeOf('warning', 30, '/a'),
    noticeOf('error', 1, '/b'),
    noticeOf('error', 20, '/c'),
  ];
  const problems = listProblems({ state: gapOf('token'), notices }, context);
  assert.deepEqual(
    problems.map(({ sentence }) => sentence),
    [
      'does not accept the token: enter it.',
      '/c is 93\u00a0% full.',
      '/b is 93\u00a0% full.',
      '/a is 93\u00a0% full.',
    ],
  );
});

test('orders machines by severity, and then by how long', () => {
  const { machines } = createFakeFleet(4);
  const list = machines.map((machine, at) => {
    const notice = [
      noticeOf('warning', 99, '/'),
      noticeOf('error', 1, '/'),
      noticeOf('error', 9, '/'),
      noticeOf('warning', 100, '/'),
    ].slice(at, at + 1);
    const state = { kind: 'live' } as const;
    return { machine, problems: listProblems({ state, notices: notice }, context) };
  });
  const names = list.sort(compareTroubled).map(({ machine }) => machine.listed.name);
  assert.deepEqual(names, ['batch-003', 'web-002', 'cache-004', 'db-001']);
});

test('keeps a machine calm while it waits for its turn, and knows nothing before the first answer', () => {
  const turn = { kind: 'waiting', for: 'turn' } as const;
  assert.equal(judgeMachine({ state: turn, notices: [], latestAt: SINCE }), 'calm');
  const first = { kind: 'waiting', for: 'first_answer' } as const;
  assert.equal(judgeMachine({ state: first, notices: null, latestAt: null }), 'unknown');
  const notices = [noticeOf('warning', 1, '/')];
  assert.equal(judgeMachine({ state: turn, notices, latestAt: SINCE }), 'problem');
  assert.equal(judgeMachine({ state: gapOf('stopped'), notices: [], latestAt: SINCE }), 'problem');
});

test('names the day of a time that is half a day ago', () => {
  assert.equal(formatMoment(SINCE, SINCE + 11 * 3_600_000), '14:03:22');
  assert.equal(formatMoment(SINCE, SINCE + 12 * 3_600_000), '21 Nov 14:03');
});
