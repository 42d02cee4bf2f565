import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client } from 'pg';

import { eventually } from '../eventually.ts';
import { createExternalHome } from '../external-service.ts';

test('an idle service deletes subscribers who did not confirm within 30 days', async () => {
  await using external = await createExternalHome();
  const client = new Client({ connectionString: external.settings['DATABASE_URL'] });
  await client.connect();
  try {
    await client.query(
      `insert into subscribers (address_hash, id, email, first_subscribed_at, subscribed_at)
       select decode(repeat(digit, 64), 'hex'), gen_random_uuid(), digit || '@example.com', subscribed_at, subscribed_at
       from (values ('a', now() - interval '31 days'), ('b', now() - interval '29 days')) as old (digit, subscribed_at)`,
    );
    const service = await external.start();
    const list = async () => {
      const { rows } = await client.query('select email from subscribers order by email');
      return rows.map(({ email }) => email);
    };
    await eventually(async () => (await list()).length < 2);
    assert.deepEqual(await list(), ['b@example.com']);
    assert.deepEqual(await service.stop(), { code: 0, signal: null });
  } finally {
    await client.end();
  }
});
