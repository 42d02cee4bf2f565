import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { CertificateFixture, lacksOpenssl } from '../../test/certificates.ts';
import { connect, openStream, sendRequest, type Stream } from '../../test/stream-harness.ts';
import { until } from '../../test/wait.ts';
import { readTlsMaterial } from '../tls/tls-files.ts';
import { openAccessTokens } from './admission.ts';
import { BRIEF_PARTS } from './brief.ts';
import { HISTORY_PARTS } from './history.ts';

const TOKEN = 'a-token-of-many-letters';
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Ticks until a request is answered. */
async function whileTicking<T>({ hub }: Stream, answer: Promise<T>): Promise<T> {
  let isAnswered = false;
  const done = answer.finally(() => (isAnswered = true));
  await until(() => {
    hub.tick();
    return isAnswered;
  });
  return done;
}

describe('/metrics', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const tls = readTlsMaterial({ ...fixture.createRoot('root').issueServer(), clients: null });

  test('answers from the next snapshot, in the format that the client requests', async () => {
    await using stream = await openStream({ tls });
    // The collectors run already.
    await connect(stream.port);
    for (const [accept, type] of [
      [
        'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4',
        OPENMETRICS,
      ],
      ['*/*', OPENMETRICS],
      ['text/plain', 'text/plain; version=0.0.4; charset=utf-8'],
    ] as const) {
      const request = sendRequest(stream.port, '/metrics', { headers: { accept } });
      const answer = await whileTicking(stream, request);
      assert.deepEqual([answer.status, answer.type], [200, type]);
      assert.match(answer.text, /^system_memory_limit_bytes 8000$/mu);
      assert.equal(answer.text.endsWith('# EOF\n'), type === OPENMETRICS);
    }
    assert.equal((await sendRequest(stream.port, '/metrics', { method: 'POST' })).status, 405);
  });

  test('answers 500 and logs the reason when the snapshot cannot be written', async () => {
    await using stream = await openStream({ tls });
    const { sampler, warnings } = stream;
    sampler.extra = {
      swap: {
        total_bytes: 1,
        free_bytes: 1,
        used_bytes: 0,
        get usage_ratio(): number {
          throw new Error('no ratio');
        },
      },
    };
    const answer = await whileTicking(stream, sendRequest(stream.port, '/metrics'));
    assert.equal(answer.status, 500);
    assert.equal(answer.text, 'The metrics could not be written; see the log.\n');
    assert.deepEqual(warnings, ['stream.metrics_failed: no ratio']);
  });

  test('wakes idle collectors for one snapshot, and keeps programs for GPUs running for a while', async () => {
    await using stream = await openStream({ tls });
    const { hub, sampler, clock } = stream;
    await connect(stream.port, ['latchkey.brief.v1']);
    const request = sendRequest(stream.port, '/metrics');
    await until(() => sampler.wakes.length === 1);
    assert.deepEqual(sampler.wakes, [BRIEF_PARTS]);
    await whileTicking(stream, request);
    const { requests } = sampler;
    assert.equal(requests.filter((each) => each === undefined).length, 1);
    const withGpus = BRIEF_PARTS.union(new Set(['gpus']));
    hub.tick();
    assert.deepEqual(requests.at(-1), withGpus);
    clock.ms += 150_001;
    hub.tick();
    assert.deepEqual(requests.at(-1), BRIEF_PARTS);
    for (const viewer of hub.viewers) hub.remove(viewer);
    hub.tick();
    assert.deepEqual(requests.at(-1), HISTORY_PARTS);
  });

  test('needs what the stream needs', async () => {
    const rules = { isToken: openAccessTokens([TOKEN]), allowedOrigins: new Set<string>() };
    await using stream = await openStream({ tls, readRules: () => rules });
    const scrape = async (headers: Record<string, string>) =>
      sendRequest(stream.port, '/metrics', { headers });
    const none = await scrape({});
    assert.deepEqual(
      [none.status, none.text],
      [401, 'An access token is needed: send it as "Authorization: Bearer TOKEN".\n'],
    );
    const authorization = `Bearer ${TOKEN}`;
    const page = await scrape({ authorization, origin: 'https://page.example.com' });
    assert.equal(page.status, 403);
    const request = scrape({ authorization });
    assert.equal((await whileTicking(stream, request)).status, 200);
  });
});
