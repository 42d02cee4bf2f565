import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { openAcceptanceService } from './acceptance-service.ts';
import { problem, readBody } from './bodies.ts';

const service = await openAcceptanceService();

describe('200', () => {
  test('name, version of the interface and links', async () => {
    const answer = await service.get('/');
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, {
      name: 'Latchkey',
      version: '1.0.0',
      description: 'Licensing, trials, usage and analytics for desktop software.',
      links: { documentation: '/docs', openapi: '/openapi.json', health: '/api/v1/health' },
    });
  });

  test('every link exists', async () => {
    const { links } = readBody((await service.get('/')).body);
    for (const link of Object.values(readBody(links))) {
      const answer = await service.get(String(link));
      assert.equal(answer.status, 200, String(link));
    }
  });

  test('a query is ignored', async () => {
    assert.equal((await service.get('/?a=%ZZ')).status, 200);
  });

  test('OPTIONS lists the allowed methods', async () => {
    const answer = await service.send('OPTIONS', '/');
    assert.equal(answer.status, 204);
    assert.deepEqual(answer.headers.get('allow')?.split(', ').sort(), ['GET', 'HEAD', 'OPTIONS']);
  });
});

describe('404', () => {
  test('any other path, with any method and body', async () => {
    for (const path of [
      '/api',
      '/api/v1',
      '/api/v2/health',
      '/favicon.ico',
      '/..%2Fetc%2Fpasswd',
    ]) {
      const answer = await service.get(path);
      assert.deepEqual([answer.status, answer.body], [404, problem('not_found')], path);
    }
    const posted = await service.post('/api/v1/nothing', '{"a":', { 'content-type': 'text/xml' });
    assert.deepEqual([posted.status, posted.body], [404, problem('not_found')]);
  });
});

describe('405', () => {
  test('POST', async () => {
    const answer = await service.post('/', {});
    assert.deepEqual([answer.status, answer.body], [405, problem('method_not_allowed')]);
  });
});
