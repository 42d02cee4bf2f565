import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

import type { Fingerprint } from '../machine/fingerprint.ts';
import {
  BOARD_SERIAL_FILE,
  MACHINE_ID_FILES,
  readDmiSerial,
  readMachineIdFile,
} from '../machine/linux.ts';
import { MACOS_COMMAND, readIoregOutput } from '../machine/macos.ts';
import { readRegistryOutput, windowsCommand } from '../machine/windows.ts';

/** Where readings come from; a test replaces it. */
export interface MachineSources {
  readonly platform: string;
  /** `%SystemRoot%` of Windows. */
  readonly systemRoot: string;
  /** Returns what a program prints; an empty text if it fails. */
  readonly run: (command: readonly [string, ...string[]]) => Promise<string>;
  /** Returns the content of a file; an empty text if it cannot be read. */
  readonly read: (path: string) => Promise<string>;
}

const TIMEOUT_MS = 5_000;

/** The programs and files of this computer. */
export const OWN_SOURCES: MachineSources = {
  platform: process.platform,
  systemRoot: process.env['SystemRoot'] ?? String.raw`C:\Windows`,
  run: ([program, ...args]) =>
    new Promise((resolve) => {
      const options = { timeout: TIMEOUT_MS, windowsHide: true, shell: false };
      try {
        execFile(program, args, options, (error, stdout) => resolve(error === null ? stdout : ''));
      } catch {
        // Some policies make the start itself fail.
        resolve('');
      }
    }),
  read: (path) => readFile(path, 'utf8').catch(() => ''),
};

/** Reads the identity of this machine, without a shell; null if the system has none. */
export async function readMachine(
  sources: MachineSources = OWN_SOURCES,
): Promise<Fingerprint | null> {
  if (sources.platform === 'win32') {
    return name(readRegistryOutput(await sources.run(windowsCommand(sources.systemRoot))));
  }
  if (sources.platform === 'darwin') return name(readIoregOutput(await sources.run(MACOS_COMMAND)));
  return readLinux(sources);
}

function name(machineId: string | null): Fingerprint | null {
  return machineId === null ? null : { machine_id: machineId };
}

async function readLinux({ read }: MachineSources): Promise<Fingerprint | null> {
  const [serialText, ...texts] = await Promise.all(
    [BOARD_SERIAL_FILE, ...MACHINE_ID_FILES].map(read),
  );
  const machineId = texts.map(readMachineIdFile).find((each) => each !== null);
  if (machineId === undefined) return null;
  const serial = readDmiSerial(serialText ?? '');
  return { machine_id: machineId, ...(serial === null ? {} : { board_serial: serial }) };
}
