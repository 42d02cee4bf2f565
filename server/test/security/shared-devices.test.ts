import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { toAddress } from '#server/features/customers/find-person.ts';
import { toMachineKey } from '#server/features/usage/machine-key.ts';

import { readAnswer, readBody, readList } from '../acceptance/bodies.ts';
import { buyLicense, sendEvents, type Bought } from '../customer-steps.ts';
import { startTestService } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';

const CUSTOMER = '/api/v1/admin/customer';
const reason = 'request of 3 May';

const service = await startTestService();
const { context, pool } = service;
const support = await openBrowser(service, 'support');
const admin = await openBrowser(service, 'admin');

let ada: Bought;
let mallory: Bought;

/** Mallory activates an own license with the ids of Ada's install and machine, and frees the machine long ago. */
before(async () => {
  ada = await buyLicense(service);
  mallory = await buyLicense(service);
  await sendEvents(service, ada.installId, ['private_diary_opened']);
  await sendEvents(service, mallory.installId, ['game_opened']);
  await pool.query(
    `insert into activations
     select (jsonb_populate_record(activation, jsonb_build_object('id', gen_random_uuid(), 'install_id', $2::uuid,
              'machine_id', $3::text, 'deactivated_at', '2020-01-01'))).*
     from activations activation where license_id = $1`,
    [mallory.licenseId, ada.installId, ada.machineId],
  );
});

interface Included {
  readonly include_shared_installs?: readonly string[];
  readonly include_shared_machines?: readonly string[];
}

const exportOf = ({ email }: Bought, included: Included = {}) =>
  support.post(`${CUSTOMER}/export`, { email, reason, ...included });

const planOf = async ({ email }: Bought, included: Included = {}) =>
  readAnswer(await admin.post(`${CUSTOMER}/plan-erasure`, { email, ...included }));

const erase = async ({ email }: Bought, included: Included = {}) =>
  readAnswer(await admin.post(`${CUSTOMER}/erase`, { email, reason, ...included }));

async function countData({ installId, machineId }: Bought): Promise<readonly number[]> {
  const machineKey = toMachineKey(context.vault, machineId);
  const { rows } = await pool.query(
    `select (select count(*)::integer from events where install_id = $1) as events,
            (select count(*)::integer from usage_days where machine_key = $2) as days`,
    [installId, machineKey],
  );
  return [rows[0].events, rows[0].days];
}

const listIds = (list: unknown) => readList(list).map(({ id }) => id);

describe('an install and a machine that a license of another customer was activated on', () => {
  test('are named by the page of the customer and the plan', async () => {
    for (const buyer of [ada, mallory]) {
      const query = new URLSearchParams({ email: buyer.email }).toString();
      const shown = readAnswer(await support.get(`${CUSTOMER}?${query}`));
      for (const body of [shown, await planOf(buyer)]) {
        assert.deepEqual(body['shared_installs'], [{ id: ada.installId, other_licenses: 1 }]);
        assert.deepEqual(body['shared_machines'], [{ id: ada.machineId, other_licenses: 1 }]);
      }
    }
    const tables = readList((await planOf(mallory))['tables']);
    assert.deepEqual(
      tables.filter(({ table }) => /install|shared/u.test(String(table))).map(({ table }) => table),
      ['installs', 'shared_installs', 'shared_machines'],
    );
  });

  test('are left out of an export, which names them', async () => {
    for (const buyer of [ada, mallory]) {
      const answer = await exportOf(buyer);
      assert.ok(!answer.text.includes('private_diary_opened'));
      assert.deepEqual(readAnswer(answer)['left_out'], {
        installs: [ada.installId],
        machines: [ada.machineId],
      });
    }
    const { text } = await exportOf(mallory);
    assert.ok(text.includes('game_opened'));
  });

  test('are exported when the operator includes them, with an audit entry', async () => {
    const included = {
      include_shared_installs: [ada.installId.toUpperCase()],
      include_shared_machines: [ada.machineId],
    };
    const answer = await exportOf(ada, included);
    assert.ok(answer.text.includes('private_diary_opened'));
    const data = readAnswer(answer);
    assert.deepEqual(data['left_out'], { installs: [], machines: [] });
    assert.equal(readList(data['usage_days']).length, 1);
    const { rows } = await pool.query(
      `select details from audit_log where action = 'customer.export' and subject_id = $1 order by sequence desc limit 1`,
      [toAddress(context.vault, ada.email).id],
    );
    assert.deepEqual(rows, [{ details: { included_installs: 1, included_machines: 1 } }]);
  });

  test('are not exported when an id of no own activation is included', async () => {
    const stranger = await buyLicense(service);
    await sendEvents(service, stranger.installId, ['stranger_opened']);
    const { text } = await exportOf(mallory, { include_shared_installs: [stranger.installId] });
    assert.ok(!text.includes('stranger_opened') && !text.includes('private_diary_opened'));
  });

  test('keep their data when the other customer is erased', async () => {
    assert.deepEqual(await countData(mallory), [1, 1]);
    const erased = await erase(mallory);
    assert.deepEqual([erased['kept_installs'], erased['kept_machines']], [1, 1]);
    assert.deepEqual(await countData(ada), [1, 1]);
    assert.deepEqual(await countData(mallory), [0, 0]);
  });

  test('are still shared after the other customer was erased, and erased when they are included', async () => {
    assert.deepEqual(listIds((await planOf(ada))['shared_installs']), [ada.installId]);
    const erased = await erase(ada, {
      include_shared_installs: [ada.installId],
      include_shared_machines: [ada.machineId],
    });
    assert.deepEqual([erased['kept_installs'], erased['kept_machines']], [0, 0]);
    assert.deepEqual(await countData(ada), [0, 0]);
    const { rows } = await pool.query(
      `select details from audit_log where action = 'customer.erase' and subject_id = $1`,
      [toAddress(context.vault, ada.email).id],
    );
    const details = readBody(rows[0]?.details);
    assert.deepEqual([details['included_installs'], details['included_machines']], [1, 1]);
  });
});

test('a trial on the machine before the purchase does not make an install shared', async () => {
  const buyer = await buyLicense(service);
  const { license } = await service.issue();
  await pool.query('update licenses set trial = true where id = $1', [license.id]);
  await pool.query(
    `insert into activations
     select (jsonb_populate_record(activation, jsonb_build_object('id', gen_random_uuid(), 'license_id', $2::uuid))).*
     from activations activation where license_id = $1`,
    [buyer.licenseId, license.id],
  );
  const plan = await planOf(buyer);
  assert.deepEqual([plan['shared_installs'], plan['shared_machines']], [[], []]);
});
