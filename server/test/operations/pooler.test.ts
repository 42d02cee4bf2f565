/** PgBouncer in front of PostgreSQL, as scale-out.md describes it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openExternalDatabase } from '#server/db/external-database.ts';

import { createExternalHome, type ExternalHome } from '../external-service.ts';
import {
  assertOneLicenseAndEmailEach,
  createPurchases,
  openPurchaseFixture,
} from '../faults/purchase-fixture.ts';
import { supportsPreparedStatements, lacksPgbouncer, startPgbouncer } from '../pgbouncer.ts';

const WITHOUT_PREPARED = [
  'pool_mode = transaction',
  ...(supportsPreparedStatements ? ['max_prepared_statements = 0'] : []),
];
const WITH_PREPARED = ['pool_mode = transaction', 'max_prepared_statements = 200'];

const needsNewer = supportsPreparedStatements ? false : 'needs PgBouncer 1.21 or newer';

function urlOf({ settings }: ExternalHome): string {
  return settings['DATABASE_URL'] ?? '';
}

for (const order of ['server_round_robin = 0', 'server_round_robin = 1']) {
  test(
    `rejects a pooler without prepared statements at the start, with ${order}`,
    { skip: lacksPgbouncer },
    async () => {
      await using external = await createExternalHome();
      await using pooler = await startPgbouncer(urlOf(external), [...WITHOUT_PREPARED, order]);
      const settings = { ...external.settings, DATABASE_URL: pooler.url };
      assert.deepEqual(await external.home.runToEnd(settings), {
        code: 78,
        signal: null,
        output:
          'latchkey: DATABASE_URL leads to a pooler that does not keep prepared statements between transactions: use PgBouncer 1.21 or newer with max_prepared_statements above 0, or pool_mode = session, or connect to PostgreSQL itself.',
      });
    },
  );
}

test("explains an error of PgBouncer's own with its fix", { skip: lacksPgbouncer }, async () => {
  await using external = await createExternalHome();
  await using pooler = await startPgbouncer(urlOf(external), ['pool_mode = session']);
  const url = `${pooler.url}?options=${encodeURIComponent('-c search_path=app')}`;
  await assert.rejects(
    openExternalDatabase(url, { maxConnections: 1, log: { warn: () => {} } }),
    /\(unsupported startup parameter: options\): remove options from the URL, or name the parameter in/u,
  );
});

for (const [what, settings, skip] of [
  ['in transaction mode', WITH_PREPARED, lacksPgbouncer || needsNewer],
  ['in session mode', ['pool_mode = session', 'default_pool_size = 12'], lacksPgbouncer],
] as const) {
  test(
    `through PgBouncer ${what} each purchase creates one license and one e-mail, without warnings`,
    { skip },
    async () => {
      await using shop = await openPurchaseFixture();
      await using pooler = await startPgbouncer(shop.databaseUrl, settings);
      const own = { DATABASE_URL: pooler.url, LATCHKEY_DATABASE_POOL_SIZE: '6' };
      const services = [await shop.start(own), await shop.start(own)] as const;
      await assertOneLicenseAndEmailEach(shop, services[0], createPurchases(40));
      for (const service of services) {
        assert.deepEqual(await service.stop(), { code: 0, signal: null });
        assert.deepEqual(
          service.lines.filter((line) => /"level":"(warn|error)"/.test(line)),
          [],
        );
      }
    },
  );
}
