import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { verifyEntitlement } from '../entitlements.ts';
import { activate, anyMachine, deactivate, listMachines } from '../license-steps.ts';
import { TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService, withLicense } from './acceptance-service.ts';

const service = await openAcceptanceService();

describe('200', () => {
  test('the same machine gets its existing activation and no second one', inProcess, async () => {
    const { licenseKey, license } = await service.own.issue();
    const machine = anyMachine();
    const first = await activate(service, licenseKey, machine);
    for (let again = 0; again < 5; again++) {
      assert.deepEqual(await activate(service, licenseKey, machine), first);
    }
    const { rows } = await service.own.pool.query(
      'select count(*) from activations where license_id = $1',
      [license.id],
    );
    assert.deepEqual(rows, [{ count: 1 }]);
  });

  test('one strong component identifies a machine', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const { activation_id: id } = await activate(service, licenseKey, {
      hardware_uuid: '4C4C4544-0051-3310-8051-B4C04F4E3232',
      board_serial: 'A',
      disk_serial: 'B',
    });
    const changed = {
      hardwareUuid: ' 4c4c4544-0051-3310-8051-b4c04f4e3232 ',
      board_serial: 'C',
      disk_serial: 'D',
    };
    assert.equal((await activate(service, licenseKey, changed)).activation_id, id);
  });

  test('two of three medium components identify a machine, one does not', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const parts = { board_serial: 'board-1', disk_serial: 'disk-1', bios_serial: 'bios-1' };
    const { activation_id: id } = await activate(service, licenseKey, parts);
    const newDisk = { ...parts, disk_serial: 'disk-2' };
    assert.equal((await activate(service, licenseKey, newDisk)).activation_id, id);
    const newBoardToo = { ...parts, disk_serial: 'disk-3', board_serial: 'board-3' };
    assert.notEqual((await activate(service, licenseKey, newBoardToo)).activation_id, id);
  });

  test('volatile values do not change the identity', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const machine = anyMachine();
    const first = await activate(service, licenseKey, {
      ...machine,
      os_version: '15.1',
      ip: '::1',
    });
    const later = { username: 'ada', os_version: '15.2', ...machine };
    assert.equal((await activate(service, licenseKey, later)).activation_id, first.activation_id);
    const [listed] = await listMachines(service, licenseKey);
    assert.equal(listed?.os_version, '15.2');
  });

  test('a fingerprint of volatile keys only is compared as a whole', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const first = await activate(service, licenseKey, { hostname: 'ada', ip: '10.0.0.1' });
    const same = await activate(service, licenseKey, { ip: '10.0.0.1', hostname: 'ada' });
    const other = await activate(service, licenseKey, { hostname: 'bob', ip: '10.0.0.1' });
    assert.equal(same.activation_id, first.activation_id);
    assert.notEqual(other.activation_id, first.activation_id);
  });

  test(
    'without a machine_id no machine is bound, and the token contains none',
    inProcess,
    async () => {
      const { licenseKey, license } = await service.own.issue();
      const answer = await activate(service, licenseKey, { board_serial: 'b', disk_serial: 'd' });
      const { claims } = await verifyEntitlement(service, answer.entitlement, TEST_START);
      assert.equal(claims['machine'], null);
      const { rows } = await service.own.pool.query(
        'select machine_id from activations where license_id = $1',
        [license.id],
      );
      assert.deepEqual(rows, [{ machine_id: null }]);
    },
  );

  test('a deactivated machine gets a new activation', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const machine = anyMachine();
    const first = await activate(service, licenseKey, machine);
    await deactivate(service, licenseKey, first.activation_id, machine.machine_id);
    const second = await activate(service, licenseKey, machine);
    assert.notEqual(second.activation_id, first.activation_id);
    const machines = await listMachines(service, licenseKey);
    assert.deepEqual(
      machines.map((each) => [each.activation_id, each.is_active]),
      [
        [second.activation_id, true],
        [first.activation_id, false],
      ],
    );
  });
});
