import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { test } from 'node:test';

import { challengeProbe } from '../paths.ts';
import { requestChallenge, type ChallengeAnswer, findChallengeProblem } from './challenge.ts';

const DOMAIN = 'monitor.example.test';

async function askServer(listener: RequestListener): Promise<ChallengeAnswer | undefined> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const ports = { http: port, https: port };
  const [answer] = await requestChallenge(DOMAIN, ['127.0.0.1'], ['127.0.0.1'], ports);
  server.close();
  return answer;
}

test('recognizes its own answer, even behind a redirect within the domain', async () => {
  const answer = await askServer(({ headers, url = '' }, response) => {
    assert.equal(headers.host, DOMAIN);
    if (url.includes('moved')) response.end(challengeProbe.text);
    else response.writeHead(301, { Location: `${url}?moved` }).end();
  });
  assert.equal(answer?.isOurs, true);
});

test('recognizes the answer of another site and a redirect to another host', async () => {
  const other = await askServer((_request, response) => response.writeHead(404).end('nothing'));
  assert.deepEqual([other?.isOurs, other?.summary], [false, 'status 404']);
  const away = await askServer((_request, response) =>
    response.writeHead(302, { Location: 'http://www.example.test/' }).end(),
  );
  assert.deepEqual([away?.isOurs, away?.summary], [false, 'a redirect to www.example.test']);
});

test('reports what the authority would reject, and nothing that is unknown here', () => {
  const ours = { address: '203.0.113.2', isOwn: true, isOurs: true, summary: 'OK' };
  const stale = { address: '2001:db8::9', isOwn: false, isOurs: false, summary: 'status 404' };
  assert.equal(findChallengeProblem(DOMAIN, [ours]), null);
  assert.match(findChallengeProblem(DOMAIN, [ours, stale]) ?? '', /2001:db8::9 is not an address/u);
  assert.equal(findChallengeProblem(DOMAIN, [ours, { ...stale, isOurs: null }]), null);
  const silent = { ...ours, isOurs: null, summary: 'connect ECONNREFUSED' };
  assert.match(findChallengeProblem(DOMAIN, [silent]) ?? '', /ECONNREFUSED.*server block/u);
});
