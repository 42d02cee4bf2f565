import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { readBody } from '../acceptance/bodies.ts';
import { startTestService } from '../harness.ts';
import { TEST_START } from '../test-clock.ts';
import { spreadsTables } from '../test-cluster.ts';

/**
 * When a worker of Citus stopped between the statement and its commit, a batch of events got a 500: Citus reports "failure on
 * connection marked as essential" without an SQLSTATE (XX000), or 58030 when the COPY to a shard breaks.
 */
for (const sqlstate of ['XX000', '58030']) {
  test(
    `events wait when Citus reports a stopped worker as ${sqlstate}`,
    { skip: spreadsTables },
    async () => {
      const service = await startTestService();
      await service.pool.query(`
      create function stop_worker() returns trigger language plpgsql as
        $$ begin raise exception 'failure on connection marked as essential' using errcode = '${sqlstate}'; end $$;
      create trigger stop_worker before insert on event_ids execute function stop_worker()`);
      const batch = {
        install_id: randomUUID(),
        session_id: randomUUID(),
        app_version: '2.4.0',
        events: [
          { event_id: randomUUID(), name: 'app_started', occurred_at: TEST_START.toISOString() },
        ],
      };
      const refused = await service.post('/api/v1/events', batch);
      assert.deepEqual(
        [refused.status, readBody(refused.body)['code'], refused.headers.get('retry-after')],
        [503, 'database_unavailable', '1'],
      );
      await service.pool.query('drop trigger stop_worker on event_ids');
      const answer = await service.post('/api/v1/events', batch);
      assert.deepEqual([answer.status, answer.body], [200, { accepted: 1, dropped: 0 }]);
      assert.equal(await service.count('events'), 1);
    },
  );
}
