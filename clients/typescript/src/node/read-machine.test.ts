import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { chooseFingerprint } from '../machine/choose-fingerprint.ts';
import { generateFingerprint } from '../machine/fingerprint.ts';
import { readDmiSerial } from '../machine/linux.ts';
import { windowsCommand } from '../machine/windows.ts';
import { OWN_SOURCES, readMachine, type MachineSources } from './read-machine.ts';

const GUID = '6f0a1b2c-3d4e-4f60-8182-93a4b5c6d7e8';
const UUID = 'E2A6F3B1-7C4D-5E8F-9A0B-1C2D3E4F5A6B';
const HEX = '0f3c9a7d5b1e4f2688c4d0a1b2e3f405';

/** Returns what a system printed, as it was recorded. */
function fixture(name: string): string {
  return readFileSync(new URL(`../../test/fixtures/${name}`, import.meta.url), 'utf8');
}

function sources(platform: string, printed: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const answer = async (name: string): Promise<string> => {
    asked.push(name);
    return printed[name] ?? '';
  };
  const found: MachineSources = {
    platform,
    systemRoot: 'C:\\Windows',
    run: (command) => answer(command.join(' ')),
    read: answer,
  };
  return { found, asked };
}

describe('Windows', () => {
  const REG =
    'C:\\Windows\\System32\\reg.exe query HKLM\\SOFTWARE\\Microsoft\\Cryptography /v MachineGuid /reg:64';
  const readOutput = async (output: string) =>
    readMachine(sources('win32', { [REG]: output }).found);

  test('reads the registry by the full path of its program', async () => {
    const { found, asked } = sources('win32', { [REG]: fixture('reg.txt') });
    assert.deepEqual(await readMachine(found), { machine_id: GUID });
    assert.deepEqual(asked, [REG]);
  });

  test('reads tabs, line breaks of Unix, and braces', async () => {
    const output = fixture('reg.txt');
    assert.deepEqual(await readOutput(output.replaceAll('    ', '\t')), { machine_id: GUID });
    assert.deepEqual(await readOutput(output.replaceAll('\r', '')), { machine_id: GUID });
    assert.deepEqual(await readOutput(output.replace(GUID, `{${GUID}}`)), {
      machine_id: `{${GUID}}`,
    });
  });

  test('finds nothing in an empty value, and in what a policy prints, in any language', async () => {
    const outputs = [
      fixture('reg.txt').replace(GUID, ''),
      fixture('reg-forbidden.txt'),
      fixture('reg-missing-de.txt'),
      '',
    ];
    for (const output of outputs) assert.equal(await readOutput(output), null, output);
  });
});

describe('macOS', () => {
  const IOREG = '/usr/sbin/ioreg -rd1 -c IOPlatformExpertDevice';

  test('reads the UUID of the hardware by the full path of the program', async () => {
    const { found, asked } = sources('darwin', { [IOREG]: fixture('ioreg.txt') });
    assert.deepEqual(await readMachine(found), { machine_id: UUID });
    assert.deepEqual(asked, [IOREG]);
  });

  test('finds nothing without the property', async () => {
    for (const output of ['', fixture('ioreg.txt').replace(UUID, ''), '+-o Root  <class>\n']) {
      assert.equal(await readMachine(sources('darwin', { [IOREG]: output }).found), null);
    }
  });
});

async function read(files: Readonly<Record<string, string>>) {
  return readMachine(sources('linux', files).found);
}

describe('Linux', () => {
  test('reads the machine id, and the serial number of the board if it may', async () => {
    assert.deepEqual(await read({ '/etc/machine-id': `${HEX}\n` }), { machine_id: HEX });
    const board = { '/sys/class/dmi/id/board_serial': 'CN7016355A\n' };
    const both = await read({ '/etc/machine-id': HEX.toUpperCase(), ...board });
    assert.deepEqual(both, { machine_id: HEX, board_serial: 'CN7016355A' });
  });

  test('reads that of D-Bus if there is no other', async () => {
    const files = { '/etc/machine-id': 'uninitialized\n', '/var/lib/dbus/machine-id': `${HEX}\n` };
    assert.deepEqual(await read(files), { machine_id: HEX });
  });

  test('finds nothing in an image, in zeros, and in another text', async () => {
    for (const text of ['', 'uninitialized\n', '0'.repeat(32), HEX.slice(1), `${HEX}0`]) {
      assert.equal(await read({ '/etc/machine-id': text }), null, text);
    }
  });

  test('ignores what vendors write instead of a serial number', () => {
    const texts = [
      '',
      ' \n',
      'Default string',
      'To be filled by O.E.M.',
      'None',
      '0000000',
      'Not Specified',
      '.',
      'N/A',
      'XXXXXXX',
    ];
    for (const text of texts) assert.equal(readDmiSerial(`${text}\n`), null, text);
    assert.equal(readDmiSerial('/7XK2Y53/CNFCW00/\n'), '/7XK2Y53/CNFCW00/');
  });
});

test('starts the program itself, without a shell, and reads nothing when it fails or is missing', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-machine-'));
  t.after(() => rm(folder, { recursive: true }));
  // A shell would not find this name.
  const systemRoot = join(folder, '$(touch run-by-a-shell);');
  const windows = { ...OWN_SOURCES, platform: 'win32', systemRoot };
  assert.equal(await readMachine(windows), null);
  const [program] = windowsCommand(systemRoot);
  const write = (script: string) => writeFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  await write(`echo '    MachineGuid    REG_SZ    ${GUID}'`);
  assert.deepEqual(await readMachine(windows), { machine_id: GUID });
  await write(`echo '    MachineGuid    REG_SZ    ${GUID}'; exit 1`);
  assert.equal(await readMachine(windows), null);
});

test('reads this machine without an exception', async () => {
  const found = await readMachine();
  assert.ok(found === null || found.machine_id.length > 0);
});

describe('chooseFingerprint', () => {
  const machine = { machine_id: 'm' };
  const kept = { machine, key: 'LK-1', entitlement: 'e' };

  test('keeps the last good reading when a later one fails', () => {
    assert.equal(chooseFingerprint(kept, null), machine);
    assert.equal(chooseFingerprint(kept, { machine_id: 'm' }), machine, 'nothing to write');
    assert.deepEqual(chooseFingerprint(kept, { machine_id: 'n' }), { machine_id: 'n' });
  });

  test('keeps a random identity while a license uses it', () => {
    const none = { machine: null, key: null, entitlement: null };
    const generated = generateFingerprint('u');
    assert.deepEqual(generated, { machine_id: 'generated-u' });
    assert.equal(chooseFingerprint({ ...kept, machine: generated }, machine), generated);
    assert.equal(chooseFingerprint({ ...none, machine: generated }, machine), machine);
    assert.equal(chooseFingerprint(none, null), null);
  });
});
