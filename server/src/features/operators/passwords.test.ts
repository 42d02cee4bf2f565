import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PasswordHasher } from './passwords.ts';

const PASSWORD = 'correct horse battery staple';

const hasher = new PasswordHasher();

test('verifies a password by its PHC string, with any normalization of the same characters', async () => {
  const hash = await hasher.hash('Ångström and more');
  assert.match(hash, /^\$argon2id\$v=19\$m=47104,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.equal(await hasher.verify('Ångström and more'.normalize('NFD'), hash), true);
  assert.equal(await hasher.verify('Angström and more', hash), false);
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
  assert.equal(await hasher.verify(PASSWORD, hash), true);
  assert.equal(await hasher.verify(`${PASSWORD}.`, hash), false);
  assert.equal(hasher.isOutdated(hash), true);
  assert.equal(hasher.isOutdated(await hasher.hash(PASSWORD)), false);
});

test('takes the time of a hash also without one', async () => {
  const hash = await hasher.hash(PASSWORD);
  const measure = async (phc: string | null) => {
    const before = process.cpuUsage();
    assert.equal(await hasher.verify('another password', phc), false);
    return process.cpuUsage(before).user + process.cpuUsage(before).system;
  };
  await measure(hash);
  const [known, unknown] = [await measure(hash), await measure(null)];
  assert.ok(unknown > known / 3, `${unknown} µs without a hash, ${known} µs with one`);
});

test('hashes a few passwords at once, and rejects what exceeds the queue', async () => {
  const cheap = new PasswordHasher({ memoryKib: 256, passes: 1 });
  const results = await Promise.allSettled(
    Array.from({ length: 40 }, () => cheap.verify(PASSWORD, null)),
  );
  const errors = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  assert.equal(errors.length, 18);
  for (const error of errors) assert.equal(error.code, 'overloaded');
});

test('rejects a stored text that is no hash', async () => {
  await assert.rejects(hasher.verify(PASSWORD, PASSWORD), /unknown form/);
});
