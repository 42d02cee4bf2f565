/** What a file contains or a program prints, and the machine id that a client reads in it. */
export interface FingerprintVector {
  readonly name: string;
  readonly source: 'machine-id' | 'reg.exe' | 'ioreg';
  readonly text: string;
  /** Null: there is none. */
  readonly machine_id: string | null;
}

const HEX = '0f3c9a7d5b1e4f2688c4d0a1b2e3f405';
const GUID = '6f0a1b2c-3d4e-4f60-8182-93a4b5c6d7e8';
const UUID = 'E2A6F3B1-7C4D-5E8F-9A0B-1C2D3E4F5A6B';

/** Returns outputs of the three systems. */
export function listFingerprintVectors(): FingerprintVector[] {
  return [...listLinux(), ...listWindows(), ...listMac()];
}

/** `/etc/machine-id`: machine-id(5). */
function listLinux(): FingerprintVector[] {
  const rows: readonly (readonly [string, string, string | null])[] = [
    ['a machine id', `${HEX}\n`, HEX],
    ['a machine id without a line break', HEX, HEX],
    ['a machine id in capitals', `${HEX.toUpperCase()}\n`, HEX],
    ['an image before its first start', 'uninitialized\n', null],
    ['an empty file', '', null],
    ['zeros', `${'0'.repeat(32)}\n`, null],
    ['a machine id that is cut', `${HEX.slice(1)}\n`, null],
    ['another text', '<html>not found</html>\n', null],
  ];
  return rows.map(([name, text, machineId]) => ({
    name,
    source: 'machine-id',
    text,
    machine_id: machineId,
  }));
}

/** `reg.exe query HKLM\SOFTWARE\Microsoft\Cryptography /v MachineGuid /reg:64` */
function listWindows(): FingerprintVector[] {
  const path = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Cryptography`;
  const print = (value: string) => `\r\n${path}\r\n    MachineGuid    REG_SZ    ${value}\r\n\r\n`;
  const rows: readonly (readonly [string, string, string | null])[] = [
    ['a value', print(GUID), GUID],
    ['a value after tabs', print(GUID).replaceAll('    ', '\t'), GUID],
    ['a value in capitals', print(GUID.toUpperCase()), GUID.toUpperCase()],
    ['a value with line breaks of Unix', print(GUID).replaceAll('\r', ''), GUID],
    ['an empty value', print(''), null],
    [
      'no such value',
      '\r\nERROR: The system was unable to find the specified registry key or value.\r\n',
      null,
    ],
    [
      'a policy that forbids reg.exe',
      'ERROR: Registry editing has been disabled by your administrator.\r\n',
      null,
    ],
    ['no output', '', null],
  ];
  return rows.map(([name, text, machineId]) => ({
    name: `reg.exe: ${name}`,
    source: 'reg.exe',
    text,
    machine_id: machineId,
  }));
}

/** `ioreg -rd1 -c IOPlatformExpertDevice` */
function listMac(): FingerprintVector[] {
  const rows: readonly (readonly [string, string, string | null])[] = [
    ['a device', printDevice(`      "IOPlatformUUID" = "${UUID}"`), UUID],
    ['a device without the property', printDevice('      "target-type" = <"J314s">'), null],
    ['an empty property', printDevice('      "IOPlatformUUID" = ""'), null],
    ['no output', '', null],
  ];
  return rows.map(([name, text, machineId]) => ({
    name: `ioreg: ${name}`,
    source: 'ioreg',
    text,
    machine_id: machineId,
  }));
}

function printDevice(line: string): string {
  return [
    '+-o J314sAP  <class IOPlatformExpertDevice, id 0x100000227, registered, matched, active, busy 0 (0 ms), retain 41>',
    '    {',
    '      "IOPolledInterface" = "AppleARMWatchdogTimerHibernateHandler is not serializable"',
    '      "IOPlatformSerialNumber" = "X02YZ1ZYZX"',
    line,
    '      "manufacturer" = <"Apple Inc.">',
    '    }',
    '',
  ].join('\n');
}
