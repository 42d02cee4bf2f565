import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PasswordHasher, type HashRequester } from './passwords.ts';

const PASSWORD = 'correct horse battery staple';

const hasher = new PasswordHasher();

/** Someone who is not known, from a network that no other caller has. */
function anyStranger(): HashRequester {
  return { network: `2001:db8:${(strangers += 1).toString(16)}:1`, isTrusted: false };
}

let strangers = 0;

test('verifies a password by its PHC string, with any normalization of the same characters', async () => {
  const hash = await hasher.hash('Ångström and more');
  assert.match(hash, /^\$argon2id\$v=19\$m=47104,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.equal(
    await hasher.verify('Ångström and more'.normalize('NFD'), hash, anyStranger()),
    true,
  );
  assert.equal(await hasher.verify('Angström and more', hash, anyStranger()), false);
  assert.notEqual(await hasher.hash('Ångström and more'), hash);
});

test('verifies a hash with other parameters, which an older version stored', async () => {
  // argon2id of Python's argon2-cffi's form: m=1024, t=1.
  const { argon2Sync } = await import('node:crypto');
  const nonce = Buffer.from('a salt for tests');
  const parameters = { message: PASSWORD, nonce, memory: 1024, passes: 1, parallelism: 1 };
  const tag = argon2Sync('argon2id', { ...parameters, tagLength: 16 });
  const [salt, text] = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  const hash = `$argon2id$v=19$m=1024,t=1,p=1$${salt}$${text}`;
  assert.equal(await hasher.verify(PASSWORD, hash, anyStranger()), true);
  assert.equal(await hasher.verify(`${PASSWORD}.`, hash, anyStranger()), false);
  assert.equal(hasher.isOutdated(hash), true);
  assert.equal(hasher.isOutdated(await hasher.hash(PASSWORD)), false);
});

test('takes the time of a hash also without one', async () => {
  const hash = await hasher.hash(PASSWORD);
  const measure = async (phc: string | null) => {
    const before = process.cpuUsage();
    assert.equal(await hasher.verify('another password', phc, anyStranger()), false);
    return process.cpuUsage(before).user + process.cpuUsage(before).system;
  };
  await measure(hash);
  const [known, unknown] = [await measure(hash), await measure(null)];
  assert.ok(unknown > known / 3, `${unknown} µs without a hash, ${known} µs with one`);
});

const CHEAP = { memoryKib: 256, passes: 1 };

function countRefused(results: readonly PromiseSettledResult<unknown>[]): number {
  const errors = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  for (const error of errors) assert.equal(error.code, 'overloaded');
  return errors.length;
}

test('hashes for strangers one by one, and rejects what exceeds their queue', async () => {
  const cheap = new PasswordHasher(CHEAP);
  const flood = Array.from({ length: 60 }, () => cheap.verify(PASSWORD, null, anyStranger()));
  assert.equal(countRefused(await Promise.allSettled(flood)), 60 - 41);
});

test('hashes for operators while strangers fill their queue', async () => {
  const cheap = new PasswordHasher(CHEAP);
  const hash = await cheap.hash(PASSWORD);
  const finished: string[] = [];
  const flood = Array.from({ length: 60 }, () => {
    const call = cheap.verify(PASSWORD, null, anyStranger());
    return call.finally(() => finished.push('stranger'));
  });
  const settled = Promise.allSettled(flood);
  const operator = { network: '192.0.2.1', isTrusted: true };
  assert.equal(await cheap.verify(PASSWORD, hash, operator), true);
  assert.notEqual(await cheap.hash(PASSWORD), hash);
  // 19 strangers were rejected at once; of the others, some still waited.
  assert.ok(finished.length < 60, `${finished.length} strangers were answered before`);
  assert.equal(countRefused(await settled), 60 - 41);
});

test('hashes in turn for the sites of strangers, which may each wait for four', async () => {
  const cheap = new PasswordHasher(CHEAP);
  const order: string[] = [];
  const call = (network: string, name: string) =>
    cheap.verify(PASSWORD, null, { network, isTrusted: false }).then(() => order.push(name));
  const flood = Array.from({ length: 40 }, (_, index) =>
    call(`2001:db8:5:${index.toString(16)}`, 'flood'),
  );
  const other = call('2001:db8:6:1', 'other');
  assert.equal(countRefused(await Promise.allSettled([...flood, other])), 36);
  assert.deepEqual(order, ['flood', 'flood', 'other', 'flood', 'flood']);
});

test('rejects a stored text that is no hash', async () => {
  await assert.rejects(hasher.verify(PASSWORD, PASSWORD, anyStranger()), /unknown form/);
});
