import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readOutput } from '../../test/programs.ts';

import { parseSmartctl } from './smartctl.ts';

const WELL = {
  failing: false,
  prefail_now: false,
  prefail_past: false,
  error_log: false,
  self_test_failed: false,
};

const parse = (name: string, exitStatus: number | null) =>
  parseSmartctl(readOutput(`smartctl/${name}`).toString(), exitStatus);

test('reads model, age and sectors of a healthy ATA disk, without its serial number', () => {
  assert.deepEqual(parse('ata-healthy.json', 0), {
    kind: 'read',
    health: {
      model: 'WDC WD40EFRX-68N32N0',
      ...WELL,
      passed: true,
      temperature_celsius: 29,
      power_on_seconds: 126_511_200,
      reallocated_sectors: 0,
      pending_sectors: 0,
    },
  });
});

test('reads problems from the exit status, and raw values as smartctl shows them', () => {
  const health = {
    model: 'ST2000DM001-1CH164',
    ...WELL,
    prefail_now: true,
    error_log: true,
    passed: true,
    temperature_celsius: 33,
    power_on_seconds: 78_444_720,
    reallocated_sectors: 43_352,
    pending_sectors: 16,
  };
  assert.deepEqual(parse('ata-prefail-and-errors.json', 16 + 64), { kind: 'read', health });
  const sick = { failing: true, prefail_now: true, error_log: true, self_test_failed: true };
  assert.deepEqual(parse('ata-failing.json', 8 + 16 + 64 + 128), {
    kind: 'read',
    health: {
      model: 'ST2000DM001-1CH164',
      ...WELL,
      ...sick,
      passed: false,
      temperature_celsius: 41,
      power_on_seconds: 172_807_140,
      reallocated_sectors: 65_528,
      pending_sectors: 4096,
    },
  });
  const past = parse('ata-healthy.json', 32);
  assert.equal(past.kind === 'read' && past.health.prefail_past, true);
});

test('reads wear of NVMe and of newer versions of smartctl, also above 1', () => {
  const model = 'Samsung SSD 980 PRO 1TB';
  assert.deepEqual(parse('nvme-healthy.json', 0), {
    kind: 'read',
    health: {
      model,
      ...WELL,
      passed: true,
      temperature_celsius: 35,
      power_on_seconds: 46_072_800,
      wear_ratio: 0.03,
      spare_ratio: 1,
      media_errors: 0,
    },
  });
  assert.deepEqual(parse('nvme-worn.json', 8), {
    kind: 'read',
    health: {
      model,
      ...WELL,
      failing: true,
      passed: false,
      temperature_celsius: 48,
      power_on_seconds: 145_155_600,
      wear_ratio: 1.04,
      spare_ratio: 0.07,
      media_errors: 7,
    },
  });
  const ssd = parse('ata-ssd.json', 0);
  assert.deepEqual(
    ssd.kind === 'read' && [ssd.health.wear_ratio, ssd.health.spare_ratio],
    [0.03, 0.98],
  );
});

test('reads grown defects of a SAS disk, and leaves out fields of failed commands', () => {
  assert.deepEqual(parse('sas.json', 0), {
    kind: 'read',
    health: {
      model: 'SEAGATE ST1200MM0088',
      ...WELL,
      passed: true,
      temperature_celsius: 31,
      power_on_seconds: 20_432_340,
      reallocated_sectors: 12,
    },
  });
  assert.deepEqual(parse('sas-old.json', 0), {
    kind: 'read',
    health: { model: 'SEAGATE ST1200MM0088', ...WELL, temperature_celsius: 31 },
  });
  assert.deepEqual(parse('ata-old.json', 4), {
    kind: 'read',
    health: {
      model: 'HITACHI HTS541612J9SA00',
      ...WELL,
      passed: true,
      power_on_seconds: 32_832_000,
    },
  });
});

test('distinguishes the reasons for a missing answer', () => {
  assert.deepEqual(parse('standby.json', 7), { kind: 'asleep' });
  assert.deepEqual(parse('no-permission.json', 2), { kind: 'forbidden' });
  assert.deepEqual(parse('nvme-no-permission.json', 2), { kind: 'forbidden' });
  assert.deepEqual(parse('usb-bridge.json', 1), { kind: 'unsupported' });
  assert.deepEqual(parse('no-json.txt', 1), { kind: 'unsupported' });
  assert.deepEqual(parse('vanished.json', 2), { kind: 'unreadable' });
});

test('never reports health for empty, invalid or aborted output', () => {
  const unreadable = { kind: 'unreadable' };
  assert.deepEqual(parse('usb-nothing-through.json', 4), unreadable);
  assert.deepEqual(parse('junk.json', 0), unreadable);
  assert.deepEqual(parse('no-json.txt', 0), unreadable);
  assert.deepEqual(parse('ata-healthy.json', null), unreadable);
  for (const text of ['', 'null', '5', '[]', '{}', '['.repeat(200_000)])
    assert.deepEqual(parseSmartctl(text, 0), unreadable);
});

test('truncates a long model, and leaves out impossible figures', () => {
  const text = JSON.stringify({
    model_name: 'm'.repeat(50_000),
    smart_status: { passed: true },
    nvme_smart_health_information_log: { percentage_used: -1, available_spare: 250 },
  }).replace('-1', '1e999');
  assert.deepEqual(parseSmartctl(text, 0), {
    kind: 'read',
    health: { model: 'm'.repeat(100), ...WELL, passed: true, spare_ratio: 1 },
  });
});
