import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { CircuitBreaker } from './circuit-breaker.ts';

function open(t: TestContext) {
  let now = 1_000_000;
  t.mock.method(performance, 'now', () => now);
  const events: string[] = [];
  const breaker = new CircuitBreaker({
    onFailure: (error) => events.push(String(error)),
    onRecovery: () => events.push('recovered'),
  });
  return { breaker, events, wait: (seconds: number) => void (now += seconds * 1_000) };
}

test('admits one trial in five seconds after a failure', (t) => {
  const { breaker, wait } = open(t);
  assert.equal(breaker.admit(), 'normal');
  assert.deepEqual([breaker.fail('gone'), breaker.fail('gone')], [true, false]);
  assert.deepEqual([breaker.isOpen, breaker.admit()], [true, null]);
  wait(5);
  assert.deepEqual([breaker.admit(), breaker.admit()], ['trial', null]);
});

test('closes after a trial, not after a call that began before the failure', (t) => {
  const { breaker, events } = open(t);
  breaker.fail('gone');
  breaker.succeed('normal');
  assert.equal(breaker.isOpen, true);
  breaker.succeed('trial');
  assert.equal(breaker.isOpen, false);
  assert.deepEqual(events, ['gone', 'recovered']);
});

test('reports at most one failure a minute, also one that began earlier and lasts', (t) => {
  const { breaker, events, wait } = open(t);
  for (let count = 0; count < 5; count++) {
    breaker.fail(`failure ${count}`);
    wait(5);
    breaker.succeed('trial');
  }
  assert.deepEqual(events, ['failure 0', 'recovered']);
  breaker.fail('failure 5');
  wait(35);
  breaker.fail('failure 5 lasts');
  assert.deepEqual(events, ['failure 0', 'recovered', 'failure 5 lasts']);
});
