import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { beforeEach, describe, test } from 'node:test';

import { listStoredDays, storePastDay } from '../../../../test/archived-events.ts';
import { openObjectStorage } from '../../../../test/object-storage.ts';
import { openCommandLine } from '../../../../test/test-command-line.ts';
import { listPartitionDays } from '../queries/partitions.ts';
import { openArchive } from './open-archive.ts';
import { summarizeFile } from './read-file.ts';

const storage = await openObjectStorage();
const { pool, run, runJson } = await openCommandLine(storage.env);

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
  const temporary = (await readdir(tmpdir())).filter((name) =>
    name.startsWith(`latchkey-archive-${process.pid}-`),
  );
  assert.deepEqual(temporary, []);
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

test('lists days below a prefix with characters of XML', async () => {
  const prefix = `s3://archive/a & b's <c> "d"`;
  await runJson(...archiveArgs(prefix));
  assert.deepEqual(await (await openArchive(prefix, storage.env)).listDays(), DAYS);
});

describe('an object of another database', () => {
  test('is not overwritten when it is stored at the same time', async () => {
    storage.intercept = ({ method }) => {
      if (method === 'PUT') storage.objects.set(keyOf(), Buffer.from('of another'));
      return null;
    };
    const { code, stderr } = await run(...archiveArgs());
    assert.equal(code, 1);
    assert.equal(
      stderr.split('\n')[0],
      `2026-03-02 failed: ${PREFIX}/events/day=2026-03-02/events.parquet was changed by another program at the same time: use one directory or prefix for each database, and run the command again.`,
    );
    assert.equal(storage.objects.get(keyOf())?.toString(), 'of another');
    assert.ok((await listStoredDays(pool)).includes(DAYS[0] ?? ''));
  });

  test('is not overwritten with --replace', async () => {
    await runJson(...archiveArgs(), '--keep');
    storage.objects.set(keyOf(), storage.objects.get(keyOf(DAYS[1])) ?? Buffer.alloc(0));
    const before = storage.objects.get(keyOf());
    const { code, stderr } = await run(...archiveArgs(), '--replace');
    assert.equal(code, 1);
    assert.match(stderr, /^2026-03-02 failed: s3:\/\/.+ another database may have written it: /u);
    assert.equal(storage.objects.get(keyOf()), before);
    assert.deepEqual(await listStoredDays(pool), [DAYS[0]]);
  });

  test('is found before the drop', async () => {
    storage.intercept = ({ method, headers }) => {
      // A read of the last bytes is the last one but one.
      if (method === 'GET' && headers['range'] !== undefined) reads += 1;
      if (method === 'HEAD' && reads > 0) storage.objects.set(keyOf(), Buffer.from('of another'));
      return null;
    };
    let reads = 0;
    const { code, stderr } = await run(...archiveArgs());
    assert.equal(code, 1);
    assert.match(stderr, /^2026-03-02 failed: s3:.+ was changed by another program/u);
    assert.ok((await listStoredDays(pool)).includes(DAYS[0] ?? ''));
  });
});

test('replaces an object of this database only in the version that it has read', async () => {
  await runJson(...archiveArgs(), '--keep');
  await pool.query(`update events set app_version = '2'`);
  const before = storage.requests.length;
  const { days } = await runJson(...archiveArgs(), '--replace');
  assert.equal(days.length, 3);
  const puts = storage.requests.slice(before).filter(({ method }) => method === 'PUT');
  assert.deepEqual(
    puts.map(({ headers }) => [
      headers['if-none-match'],
      /^"[0-9a-f]+"$/u.test(headers['if-match'] ?? ''),
    ]),
    DAYS.map(() => [undefined, true]),
  );
});

test('recognizes its object when the response of an upload is lost', async () => {
  let lost = 0;
  storage.intercept = ({ body, method, url }) => {
    if (method !== 'PUT' || lost > 0) return null;
    lost += 1;
    storage.objects.set(decodeURIComponent(url.pathname.split('/').slice(2).join('/')), body);
    return [500, 'InternalError'];
  };
  const { days } = await runJson(...archiveArgs());
  assert.deepEqual([days.length, lost, await listStoredDays(pool)], [3, 1, []]);
});

test('uploads to a storage without conditional writes', async () => {
  storage.intercept = ({ headers, method }) =>
    method === 'PUT' && headers['if-none-match'] !== undefined ? [501, 'NotImplemented'] : null;
  await runJson(...archiveArgs());
  assert.deepEqual([storage.objects.size, await listStoredDays(pool)], [3, []]);
});

test('does not take a storage that cannot be reached for a damaged object', async () => {
  await runJson(...archiveArgs(), '--keep');
  const before = storage.objects.get(keyOf());
  storage.intercept = ({ headers, method }) =>
    method === 'GET' && headers['range'] !== undefined ? [403, 'AccessDenied'] : null;
  const { code, stderr } = await run(...archiveArgs(), '--replace');
  assert.equal(code, 1);
  assert.match(stderr, /^latchkey: http:.+ refuses access to s3:/u);
  assert.equal(storage.objects.get(keyOf()), before);
  assert.deepEqual(await listStoredDays(pool), DAYS);
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
