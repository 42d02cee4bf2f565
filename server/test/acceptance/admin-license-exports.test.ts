import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { isRecord } from '#server/lib/unknown-values.ts';

import { LICENSES, listAudited } from '../admin-license-steps.ts';
import { startTestService } from '../harness.ts';
import { activate, deactivate } from '../license-steps.ts';
import { openBrowser } from '../operator-steps.ts';
import { TEST_START } from '../test-clock.ts';

const service = await startTestService();
const NOW = TEST_START.toISOString();

/** Returns the logged lines with an event. */
function readEvents(event: string): readonly Readonly<Record<string, unknown>>[] {
  return service.log
    .map((line): unknown => JSON.parse(line))
    .filter((line) => isRecord(line))
    .filter((line) => line['event'] === event);
}

describe('exporting licenses with keys', () => {
  test('leaves out the keys that cannot be unsealed, and has all others', async () => {
    const issued = [];
    for (let count = 0; count < 4; count += 1) {
      issued.push(await service.issue());
      service.clock.advance(1);
    }
    const [first, empty, changed, last] = issued;
    assert.ok(first && empty && changed && last);
    await service.pool.query(`update licenses set key_sealed = '' where id = $1`, [
      empty.license.id,
    ]);
    await service.pool.query(
      'update licenses set key_sealed = set_byte(key_sealed, 30, get_byte(key_sealed, 30) # 1) where id = $1',
      [changed.license.id],
    );
    const admin = await openBrowser(service, 'admin');
    const answer = await admin.get(`${LICENSES}/export-with-keys?sort=created_at`);
    assert.equal(answer.status, 200);
    const rows = answer.text
      .trim()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',').slice(0, 2));
    assert.deepEqual(rows, [
      [first.license.id, first.licenseKey],
      [empty.license.id, ''],
      [changed.license.id, ''],
      [last.license.id, last.licenseKey],
    ]);
    const logged = readEvents('license.key_unreadable');
    assert.deepEqual(
      logged.map(({ licenseId, level }) => [licenseId, level]),
      [
        [empty.license.id, 'error'],
        [changed.license.id, 'error'],
      ],
    );
  });
});

describe('exporting activations', () => {
  test('has every machine of the licenses of the filter, and an audit entry', async () => {
    service.clock.set(TEST_START);
    const { license, licenseKey } = await service.issue({ customerEmail: 'ann@example.com' });
    const other = await service.issue({ productId: 'yearly' });
    await activate(service, other.licenseKey);
    const [one, two] = [
      await activate(service, licenseKey, { machine_id: 'one' }),
      await activate(service, licenseKey, { machine_id: 'two' }),
    ];
    await deactivate(service, licenseKey, two.activation_id, 'two');
    const viewer = await openBrowser(service, 'viewer');
    const answer = await viewer.get(
      `${LICENSES}/export-activations?product=personal&email=ann%40example.com`,
    );
    assert.match(answer.headers.get('content-disposition') ?? '', /activations\.csv/u);
    const [head, ...rows] = answer.text.trim().split('\r\n');
    assert.equal(
      head,
      'license_id,activation_id,machine_id,os_version,app_version,is_active,activated_at,deactivated_at,last_validated_at,validation_count',
    );
    assert.deepEqual(rows, [
      `${license.id},${one.activation_id},one,,,true,${NOW},,${NOW},0`,
      `${license.id},${two.activation_id},two,,,false,${NOW},${NOW},${NOW},0`,
    ]);
    assert.deepEqual((await listAudited(service, 'activations')).at(-1), {
      action: 'activation.export',
      actor: `operator:${viewer.email}`,
      reason: null,
      details: { product: 'personal', email: true },
    });
  });
});

describe('exporting the timeline of a license', () => {
  test('has every item or those of a kind, newest first, and an audit entry', async () => {
    service.clock.set(TEST_START);
    const { license } = await service.issue();
    // More than one page of the export.
    await service.pool.query(
      `insert into webhook_messages (id, type, license_id, payload, created_at)
       select 'msg_' || number, '=cmd', $1, '{}', $2::timestamptz + number * interval '1 second'
       from generate_series(1, 1001) as number`,
      [license.id, TEST_START],
    );
    const support = await openBrowser(service, 'support');
    const read = async (query = ''): Promise<string[]> => {
      const answer = await support.get(`${LICENSES}/${license.id}/timeline/export${query}`);
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.headers.get('content-disposition') ?? '', /timeline\.csv/u);
      return answer.text.trim().split('\r\n');
    };
    const [head, ...webhooks] = await read('?kind=webhook');
    assert.equal(head, 'id,occurred_at,kind,code,actor,reason,details');
    assert.equal(webhooks.length, 1001);
    assert.equal(new Set(webhooks).size, 1001);
    const last = new Date(TEST_START.getTime() + 1_001_000).toISOString();
    const details = '"{""message_id"":""msg_1001""}"';
    assert.equal(webhooks[0], `webhook:msg_1001,${last},webhook,'=cmd,,,${details}`);
    assert.deepEqual((await listAudited(service, license.id)).at(-1), {
      action: 'license.export_timeline',
      actor: `operator:${support.email}`,
      reason: null,
      details: { kind: 'webhook' },
    });
    const kinds = (await read()).slice(1).map((line) => line.split(',')[2]);
    assert.deepEqual([...new Set(kinds)], ['webhook', 'license', 'audit']);
  });

  test('404 for a license that does not exist, 403 for a viewer', async () => {
    const path = `${LICENSES}/0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d/timeline/export`;
    for (const [role, status] of [
      ['support', 404],
      ['viewer', 403],
    ] as const) {
      assert.equal((await (await openBrowser(service, role)).get(path)).status, status);
    }
  });
});
