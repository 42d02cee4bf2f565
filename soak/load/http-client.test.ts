/** The client against a server of plain sockets, which records what it received. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';

import { eventually } from '../../server/test/eventually.ts';
import { findFreePort } from '../../server/test/ports.ts';
import { HttpClient } from './http-client.ts';
import { CUT_PHASES, type CutPhase } from './http-connection.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const UNAVAILABLE =
  'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 31\r\n\r\n{"code":"database_unavailable"}';

/** Starts a server that answers each complete request. @param answer null: closes the connection instead */
async function startServer(answer: (number: number) => string | null) {
  const received: string[] = [];
  let requests = 0;
  const serve = (socket: Socket): void => {
    const index = received.push('') - 1;
    socket.on('error', () => {});
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received[index] += chunk;
      if (!chunk.endsWith('"end"}')) return;
      const text = answer(requests++);
      if (text === null) socket.destroy();
      else socket.write(text);
    });
  };
  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { received, port: address.port };
}

function createClient(port: number) {
  const outcomes: string[] = [];
  const onEnd = ({ outcome }: { readonly outcome: string }): void => void outcomes.push(outcome);
  const client = new HttpClient({ host: '127.0.0.1', port, maxConnections: 2, onEnd });
  after(() => client.closeFree());
  return { client, outcomes };
}

const request = { path: '/x', body: { last: 'end' }, client: 1 };

test('keeps connections, and sends the address of the client', async () => {
  const { port, received } = await startServer(() => OK);
  const { client, outcomes } = createClient(port);
  for (let count = 0; count < 3; count++) {
    const answer = await client.send('validate', { ...request, client: 65_538 });
    assert.deepEqual(answer, { outcome: '200', text: 'ok', acknowledgement: 'acknowledged' });
  }
  assert.deepEqual([received.length, outcomes], [1, ['200', '200', '200']]);
  assert.match(received[0] ?? '', /\r\nx-forwarded-for: 10\.1\.0\.2\r\n/u);
});

test('creates headers when it sends a request, not while it waits for a connection', async () => {
  const { port, received } = await startServer(() => OK);
  const { client } = createClient(port);
  let created = 0;
  const headers = (): { readonly signature: string } => ({ signature: String((created += 1)) });
  const answers = Array.from({ length: 5 }, () => client.send('webhook', { ...request, headers }));
  await Promise.race(answers);
  assert.ok(created < 5, `${created} were created at once`);
  await Promise.all(answers);
  const sent = received.flatMap((text) => text.match(/(?<=\r\nsignature: )\d/gu) ?? []);
  assert.deepEqual(sent.toSorted(), ['1', '2', '3', '4', '5']);
});

test('reports the code of a problem, which may follow a change', async () => {
  const { port } = await startServer(() => UNAVAILABLE);
  const { client } = createClient(port);
  const { acknowledgement, outcome } = await client.send('validate', request);
  assert.deepEqual([outcome, acknowledgement], ['503 database_unavailable', 'unanswered']);
});

test('a request that nobody received was refused, one without an answer may have been made', async () => {
  const { client: refused } = createClient(await findFreePort());
  const { port } = await startServer(() => null);
  const { client: unanswered } = createClient(port);
  const answers = [
    await refused.send('validate', request),
    await unanswered.send('validate', request),
  ];
  assert.deepEqual(
    answers.map(({ acknowledgement, outcome }) => [outcome, acknowledgement]),
    [
      ['no answer', 'refused'],
      ['no answer', 'unanswered'],
    ],
  );
});

test('repeats a request until it is acknowledged, on more requests than connections', async () => {
  const { port } = await startServer((number) => (number < 3 ? null : OK));
  const { client, outcomes } = createClient(port);
  const acknowledgements: string[] = [];
  const sending = Array.from({ length: 4 }, () =>
    client.sendUntilAnswered(
      'validate',
      () => request,
      ({ acknowledgement }) => void acknowledgements.push(acknowledgement),
    ),
  );
  const answers = await Promise.all(sending);
  assert.deepEqual(new Set(answers.map(({ outcome }) => outcome)), new Set(['200']));
  assert.deepEqual(
    [
      outcomes.length,
      acknowledgements.filter((acknowledgement) => acknowledgement === 'unanswered').length,
    ],
    [7, 3],
  );
});

/** What the server receives of a cut request, and what the client then knows. */
const CUTS: Readonly<Record<CutPhase, readonly [received: RegExp, acknowledgement: string]>> = {
  'within the head': [/^POST \/x HTTP\/1\.1[^{]*$/u, 'refused'],
  'within the body': [/[^}]$/u, 'refused'],
  'before the answer': [/\{"last":"end"\}$/u, 'unanswered'],
  'within the answer': [/\{"last":"end"\}$/u, 'unanswered'],
};

for (const phase of CUT_PHASES) {
  test(`cuts every fourth request ${phase}`, async () => {
    const { port, received } = await startServer(() => OK);
    const { client, outcomes } = createClient(port);
    for (let count = 0; count < 3; count++) await client.send('validate', request);
    client.cutPhase = phase;
    const { acknowledgement } = await client.send('validate', request);
    await client.send('validate', request);
    assert.deepEqual(outcomes, ['200', '200', '200', 'cut by the client', '200']);
    const [expected, expectedAcknowledgement] = CUTS[phase];
    assert.equal(acknowledgement, expectedAcknowledgement);
    const fourth = (): string => (received[0] ?? '').split('POST ')[4] ?? '';
    await eventually(() => expected.test(`POST ${fourth()}`), {
      timeoutMs: 5_000,
      describe: fourth,
    });
  });
}
