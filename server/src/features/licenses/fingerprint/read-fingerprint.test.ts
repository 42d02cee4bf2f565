import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { MachineIdentity } from './identity.ts';
import { readFingerprint } from './read-fingerprint.ts';

type Fingerprint = Readonly<Record<string, unknown>>;

function read(fingerprint: Fingerprint): MachineIdentity {
  const reading = readFingerprint(fingerprint);
  assert.ok(reading.ok, reading.ok ? '' : reading.message);
  return reading.identity;
}

/** Components as `class name=value`, for short. */
function componentsOf(fingerprint: Fingerprint): string[] {
  return read(fingerprint).components.map(
    (component) => `${component.class} ${component.name}=${component.value}`,
  );
}

function messageOf(fingerprint: Fingerprint): string {
  const reading = readFingerprint(fingerprint);
  assert.ok(!reading.ok);
  return reading.message;
}

function isFingerprint(value: unknown): value is Fingerprint {
  return typeof value === 'object' && value !== null;
}

test('keys are strong, medium, weak or volatile', () => {
  const fingerprint = {
    machine_id: 'a',
    hardware_uuid: 'b',
    platform_uuid: 'c',
    machine_guid: 'd',
    system_uuid: 'e',
    device_id: 'f1',
    board_serial: 'g',
    disk_serial: 'h',
    bios_serial: 'i',
    tpm: 'j',
    cpu_id: 'k',
    mac: '00:1b:21:00:00:01',
    os_version: '14',
    app_version: '2',
    hostname: 'pc',
    ip: '10.0.0.1',
    username: 'ann',
    timestamp: 1,
    color: 'red',
  };
  assert.deepEqual(componentsOf(fingerprint).sort(), [
    'medium biosserial=i',
    'medium boardserial=g',
    'medium cpuid=k',
    'medium diskserial=h',
    'medium mac=001b21000001',
    'medium tpm=j',
    'strong deviceid=f1',
    'strong hardwareuuid=b',
    'strong machineguid=d',
    'strong machineid=a',
    'strong platformuuid=c',
    'strong systemuuid=e',
    'weak color=red',
  ]);
});

test('the spelling of a key does not matter', () => {
  const expected = ['strong machineid=x', 'weak gpuname=y'];
  for (const [machine, gpu] of [
    ['machine_id', 'gpu_name'],
    ['machineId', 'gpuName'],
    ['MachineID', 'GPUName'],
    ['MACHINE-ID', 'gpu.name'],
  ] as const) {
    assert.deepEqual(componentsOf({ [gpu]: 'y', [machine]: 'x' }).sort(), expected);
  }
});

test('nested objects are read by their path, or by its last key when that is known', () => {
  const nested = { disk: { serial: 'S1' }, hardware: { machine_id: 'M' }, os: { version: '14' } };
  assert.deepEqual(componentsOf(nested), ['medium diskserial=s1', 'strong machineid=m']);
  assert.equal(read(nested).osVersion, '14');
  assert.equal(read(nested).machineId, 'M');
  assert.deepEqual(componentsOf({ a: { b: { c: 1 } } }), ['weak abc=1']);
});

test('values are compared without case, outer blanks and Unicode composition', () => {
  assert.deepEqual(componentsOf({ device_id: '  Abc\u0065\u0301 ' }), ['strong deviceid=abcé']);
  assert.deepEqual(componentsOf({ device_id: 17 }), ['strong deviceid=17']);
  assert.deepEqual(componentsOf({ x: true }), ['weak x=true']);
});

test('arrays are compared without their order', () => {
  assert.deepEqual(componentsOf({ gpus: ['B', ' a', null, ''] }), ['weak gpus=["a","b"]']);
  assert.deepEqual(componentsOf({ gpus: ['a', 'b'] }), componentsOf({ gpus: ['b', 'A '] }));
  assert.deepEqual(componentsOf({ x: [{ b: 1, a: 2 }] }), componentsOf({ x: [{ a: '2', b: 1 }] }));
});

test('placeholders are dropped', () => {
  const junk = [
    '',
    '  ',
    'None',
    'NULL',
    'To Be Filled By O.E.M.',
    'Default string',
    'unknown',
    'N/A',
    '0',
    '00000000-0000-0000-0000-000000000000',
    'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
    'xxxx',
    '03000200-0400-0500-0006-000700080009',
    null,
    [],
    {},
    [null, ''],
  ];
  for (const value of junk) {
    assert.deepEqual(componentsOf({ board_serial: value, color: 'red' }), ['weak color=red']);
  }
  for (const value of ['f0', 'f', 'x', '10']) {
    assert.deepEqual(componentsOf({ board_serial: value }), [`medium boardserial=${value}`]);
  }
});

test('each hardware address is a component of its own, whatever its key and form', () => {
  const expected = ['medium mac=001b21000001', 'medium mac=001b21000002'];
  for (const fingerprint of [
    { mac: '00:1B:21:00:00:01, 00-1b-21-00-00-02' },
    { mac_address: ['001b.2100.0002', '001B21000001'] },
    { macAddresses: { eth0: '00:1b:21:00:00:01', wlan0: '00:1b:21:00:00:02' } },
    { macs: ['00:1b:21:00:00:01', '00:1b:21:00:00:02', '00:1b:21:00:00:01'] },
    { mac: '00:1b:21:00:00:01', macAddress: '00:1b:21:00:00:02' },
  ]) {
    assert.deepEqual(componentsOf(fingerprint), expected);
  }
});

test('null, broadcast and locally administered addresses are dropped', () => {
  const macs = [
    '00:00:00:00:00:00',
    'ff:ff:ff:ff:ff:ff',
    '02:42:ac:11:00:02',
    '06:00:00:00:00:01',
    'da:a1:19:00:00:01',
    '',
    'none',
  ];
  assert.deepEqual(componentsOf({ macs, color: 'red' }), ['weak color=red']);
});

test('of many hardware addresses the same eight are used in any order', () => {
  const macs = Array.from({ length: 20 }, (_, index) => `00:1b:21:00:01:${10 + index}`);
  const taken = componentsOf({ macs });
  assert.equal(taken.length, 8);
  assert.deepEqual(componentsOf({ macs: macs.toReversed() }), taken);
});

test('neither the order of keys nor case nor blanks change the identity', () => {
  const key = fc.constantFrom('machine_id', 'mac', 'disk_serial', 'tpm', 'hostname', 'a', 'b', 'c');
  const text = fc.string({ maxLength: 8, unit: 'grapheme' });
  fc.assert(
    fc.property(
      fc.dictionary(key, text, { minKeys: 1 }),
      fc.infiniteStream(fc.nat()),
      (fp, random) => {
        const entries = Object.entries(fp);
        const shuffled = entries
          .map((entry) => ({ entry, place: random.next().value ?? 0 }))
          .sort((a, b) => a.place - b.place)
          .map(({ entry }) => entry);
        const before = read(fp);
        const after = read(Object.fromEntries(shuffled));
        assert.deepEqual(after, before);
        const padded = shuffled.map(([name, value]) => [name, ` ${value}\t`] as const);
        assert.deepEqual(read(Object.fromEntries(padded)).components, before.components);
      },
    ),
  );
});

test('volatile keys do not change the identity', () => {
  const identity = read({ color: 'red' });
  const today = { color: 'red', hostname: 'pc', ip: '10.0.0.1', os_version: '14' };
  assert.equal(read(today).canonical, identity.canonical);
});

test('without a usable component the canonical JSON is the identity', () => {
  assert.equal(
    read({ os_version: '14', hostname: 'PC' }).canonical,
    '{"hostname":"PC","os_version":"14"}',
  );
  assert.equal(
    read({ machine_id: '', ip: [1.0, 1e2] }).canonical,
    '{"ip":[1,100],"machine_id":""}',
  );
});

test('the machine id is machine_id as it was sent', () => {
  assert.equal(read({ machine_id: ' AbC ', hardware_uuid: 'h' }).machineId, ' AbC ');
  assert.equal(read({ machineId: 'x' }).machineId, 'x');
  assert.equal(read({ machine_id: 17 }).machineId, '17');
  assert.equal(read({ machine_id: { b: 1, a: [true] } }).machineId, '{"b":1,"a":[true]}');
  assert.equal(read({ machine_id: false }).machineId, 'false');
  assert.equal(read({ machine_id: 'none', hardware_uuid: 'h' }).machineId, 'none');
});

test('the first strong component replaces a null or blank machine_id', () => {
  const stand = { device_id: 'D', system_uuid: 'S', hardware_uuid: 'none' };
  assert.equal(read(stand).machineId, 'S');
  assert.equal(read({ ...stand, machine_id: '  ' }).machineId, 'S');
  assert.equal(read({ ...stand, machine_id: null }).machineId, 'S');
  assert.equal(read({ mac: '00:1b:21:00:00:01', color: 'red' }).machineId, null);
});

test('versions are returned for display', () => {
  const { osVersion, appVersion } = read({ osVersion: ' macOS 15.1 ', app_version: 2.5 });
  assert.equal(osVersion, 'macOS 15.1');
  assert.equal(appVersion, '2.5');
  assert.equal(read({ os_version: { a: 1 }, x: 1 }).osVersion, null);
  assert.equal(read({ os_version: 'v'.repeat(300) }).osVersion?.length, 200);
});

test('an empty fingerprint is refused', () => {
  assert.equal(messageOf({}), 'machine_fingerprint must not be empty');
});

function keys(count: number): Fingerprint {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
}

test('the limits apply to the exact key, level and byte', () => {
  assert.ok(readFingerprint(keys(32)).ok);
  assert.equal(messageOf(keys(33)), 'machine_fingerprint must not have more than 32 keys');
  assert.ok(!readFingerprint({ nested: keys(32) }).ok);

  assert.ok(readFingerprint({ a: { b: { c: 1 } } }).ok);
  assert.ok(readFingerprint({ a: [[1]] }).ok);
  const tooDeep = 'machine_fingerprint must not nest deeper than 3 levels';
  assert.equal(messageOf({ a: { b: { c: {} } } }), tooDeep);
  assert.equal(messageOf({ a: [[[]]] }), tooDeep);

  // {"a":"…"} is 8 bytes and the text; é is two bytes of UTF-8.
  assert.ok(readFingerprint({ a: 'x'.repeat(8184) }).ok);
  const tooLong = 'machine_fingerprint must not be longer than 8192 bytes of JSON';
  assert.equal(messageOf({ a: 'x'.repeat(8185) }), tooLong);
  assert.equal(messageOf({ a: 'é'.repeat(4093) }), tooLong);
});

test('a fingerprint nested thousands of levels deep is refused without exhausting the stack', () => {
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`);
  assert.match(messageOf({ deep }), /deeper than 3 levels/);
});

test('text that PostgreSQL cannot store is refused, in keys and in values', () => {
  for (const text of ['\0', 'a\ud800', '\udc00']) {
    assert.match(messageOf({ a: { b: text } }), /null characters or lone surrogates/);
    assert.match(messageOf({ [text]: 1 }), /null characters or lone surrogates/);
  }
  assert.ok(readFingerprint({ a: '𝄞' }).ok);
});

test('any JSON object is read or refused, never an error', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (fingerprint) => {
      const reading = readFingerprint(fingerprint);
      if (reading.ok) assert.ok(reading.identity.canonical.length > 0);
      else assert.match(reading.message, /^machine_fingerprint must not /);
    }),
    { numRuns: 500 },
  );
});

test('names of JavaScript’s own objects are keys like any other', () => {
  const fingerprint: unknown = JSON.parse('{"__proto__": {"tpm": "t"}, "constructor": "y"}');
  assert.ok(isFingerprint(fingerprint));
  assert.deepEqual(componentsOf(fingerprint), ['weak constructor=y', 'medium tpm=t']);
});

test('a machine id is not longer than a validation may send', () => {
  const longest = '😀'.repeat(1024);
  const reading = readFingerprint({ machine_id: longest });
  assert.equal(reading.ok && reading.identity.machineId, longest);
  const message = 'machine_fingerprint must not name the machine in more than 1024 characters';
  assert.equal(messageOf({ machine_id: `${longest}x` }), message);
  assert.equal(messageOf({ device_id: `${longest}x` }), message);
});
