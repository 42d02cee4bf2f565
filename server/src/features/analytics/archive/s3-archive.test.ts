import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';

import { listStoredDays, storePastDay } from '../../../../test/archived-events.ts';
import { openObjectStorage } from '../../../../test/object-storage.ts';
import { openCommandLine } from '../../../../test/test-command-line.ts';
import { listPartitionDays } from '../queries/partitions.ts';
import { openArchive } from './open-archive.ts';
import { summarizeFile } from './read-file.ts';

const storage = await openObjectStorage();
const temporary = await mkdtemp(join(tmpdir(), 'latchkey-s3-'));
after(() => rm(temporary, { recursive: true }));
const { pool, run, runJson } = await openCommandLine({ ...storage.env, TMPDIR: temporary });

const DAYS = ['2026-03-02', '2026-03-03', '2026-03-04'];
const PREFIX = 's3://archive/a prefix/of mine';
const keyOf = (day = DAYS[0]): string => `a prefix/of mine/events/day=${day}/events.parquet`;

const archiveArgs = (to = PREFIX) => ['events', 'archive', '--before', '2026-04-01', '--to', to];

beforeEach(async () => {
  storage.objects.clear();
  storage.intercept = () => null;
  for (const day of await listPartitionDays(pool)) {
    await pool.query(`drop table events_${day.replaceAll('-', '_')}`);
  }
  await pool.query('truncate rollup_marks, event_archives');
  for (const day of DAYS) await storePastDay(pool, day, 20);
  await run('report', 'refresh');
});

test('stores an object for each day with a signature and a checksum, and reads it back', async () => {
  const before = storage.requests.length;
  const { archive, days } = await runJson(...archiveArgs(`${PREFIX}/`));
  assert.equal(archive, PREFIX);
  assert.deepEqual([...storage.objects.keys()], DAYS.map(keyOf));
  assert.deepEqual(
    days.map(({ bytes }: { bytes: number }) => bytes),
    DAYS.map((day) => storage.objects.get(keyOf(day))?.length),
  );
  const requests = storage.requests.slice(before);
  const puts = requests.filter(({ method }) => method === 'PUT');
  assert.equal(puts.length, 3);
  for (const { headers } of puts) assert.match(headers['x-amz-checksum-sha256'] ?? '', /^.{43}=$/u);
  assert.deepEqual(await listStoredDays(pool), []);
  assert.deepEqual(await readdir(temporary), []);
});

test('lists days over several pages, and reads the events of an object', async () => {
  await runJson(...archiveArgs());
  const archive = await openArchive(PREFIX, storage.env);
  assert.deepEqual(await archive.listDays(), DAYS);
  const file = await archive.open('2026-03-03');
  assert.ok(file);
  assert.equal((await summarizeFile(file, () => {})).events, 20);
  assert.equal(await archive.open('2026-03-05'), null);
});

test('does not upload an object again that is complete', async () => {
  await runJson(...archiveArgs(), '--keep');
  const before = storage.requests.length;
  const { days } = await runJson(...archiveArgs());
  assert.deepEqual(
    days.map(({ written }: { written: boolean }) => written),
    [false, false, false],
  );
  const methods = storage.requests.slice(before).map(({ method }) => method);
  assert.ok(!methods.includes('PUT'));
});

test('repeats requests that fail temporarily', async () => {
  let failures = 0;
  storage.intercept = ({ method }) =>
    method === 'PUT' && failures++ < 2 ? [503, 'SlowDown'] : null;
  await runJson(...archiveArgs());
  assert.deepEqual([storage.objects.size, failures], [3, 5]);
});

/** The command fails with one sentence, and drops nothing. */
async function assertFails(to: string, message: RegExp): Promise<void> {
  const { code, stdout, stderr } = await run(...archiveArgs(to));
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, message);
  assert.deepEqual(await listStoredDays(pool), DAYS);
}

describe('nothing is dropped', () => {
  test('with a wrong bucket', () =>
    assertFails(
      's3://other/prefix',
      /^latchkey: The bucket of s3:\/\/other does not exist at http:\/\/127\.0\.0\.1:\d+\.\n$/u,
    ));

  test('without the right to write', async () => {
    storage.intercept = ({ method }) => (method === 'PUT' ? [403, 'AccessDenied'] : null);
    await assertFails(
      PREFIX,
      /^latchkey: http:\/\/127\.0\.0\.1:\d+ refuses access to s3:\/\/archive\/a prefix\/.+ \(403 AccessDenied\): check the credentials, AWS_REGION \(eu-test-1\) and the permissions\.\n$/u,
    );
    assert.equal(storage.objects.size, 0);
  });

  test('with wrong credentials', async () => {
    const key = process.env['AWS_SECRET_ACCESS_KEY'];
    assert.equal(key, undefined);
    const archive = await openArchive(PREFIX, { ...storage.env, AWS_SECRET_ACCESS_KEY: 'wrong' });
    await assert.rejects(archive.listDays(), {
      name: 'ArchiveError',
      message: /refuses access to s3:\/\/archive \(403 SignatureDoesNotMatch\)/u,
    });
  });

  test('when the storage returns other bytes than it received', async () => {
    storage.intercept = ({ method, body }) => {
      if (method === 'PUT') body[500] = 255 - (body[500] ?? 0);
      return null;
    };
    await assertFails(PREFIX, /XAmzContentSHA256Mismatch/u);
    storage.intercept = ({ method }) => {
      const stored = storage.objects.get(keyOf());
      if (method === 'HEAD' && stored !== undefined) stored[500] = 255 - (stored[500] ?? 0);
      return null;
    };
    await assertFails(PREFIX, /^latchkey: s3:\/\/archive\/.+events\.parquet .+\n$/u);
  });

  test('with a storage that cannot be reached, credentials that are missing, and a wrong URL', async () => {
    const [key, secret] = ['a', 'b'];
    const env = { AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: secret };
    for (const [location, variables, message] of [
      ['s3://archive', {}, 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for an s3:// archive.'],
      ['s3://A', env, 's3://A is not a location such as s3://bucket/prefix.'],
      [
        's3://archive',
        { ...env, AWS_ENDPOINT_URL: 'minio:9000' },
        'AWS_ENDPOINT_URL is not an http or https URL: minio:9000',
      ],
    ] as const) {
      await assert.rejects(openArchive(location, variables), { name: 'ArchiveError', message });
    }
  });
});
