/** A machine for detection: a directory with some files, and programs with known results. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

import type { ProgramResult, RunProgram } from '../../system/run-program.ts';
import type { HostFacts } from '../facts.ts';
import { detectHost } from './detect-host.ts';

export const DOMAIN = 'monitor.example.com';

/** Certificates of 30 days have expired by then, those of 300 have not. */
const NOW = new Date(Date.now() + 100 * 86_400_000);

/** The results of programs by their command line; other programs are missing. */
export type Answers = Readonly<Record<string, Partial<ProgramResult>>>;

/** Creates a root directory with files, which the end of the test removes. Files in `bin` are executable. */
export function createRoot(
  t: TestContext,
  files: Readonly<Record<string, string | Buffer>> = {},
): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'latchkey-detect-')));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) putFile(root, path, text);
  return root;
}

/** @returns the path of the file */
export function putFile(root: string, path: string, text: string | Buffer): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  if (path.includes('bin/')) chmodSync(file, 0o755);
  return file;
}

export function putLink(root: string, path: string, target: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  symlinkSync(target, join(root, path));
}

interface DetectOptions {
  readonly certificateFiles?: { readonly certificate: string; readonly key: string };
  /** Receives the command line of each program. */
  readonly commands?: string[];
  readonly packageDirectory?: string;
}

/** Detects the facts of a root directory, as root on a machine with the address 192.0.2.7. */
export async function detect(
  root: string,
  answers: Answers = {},
  { certificateFiles, commands = [], packageDirectory = '/opt/package' }: DetectOptions = {},
): Promise<HostFacts> {
  const runProgram: RunProgram = async (program, args) => {
    const command = [program, ...args].join(' ');
    commands.push(command);
    const found = answers[command];
    const missing = { code: null, fault: `${program} is not on this machine.`, isMissing: true };
    const result = found === undefined ? missing : { code: 0, fault: null, isMissing: false };
    return { stdout: '', stderr: '', ...result, ...found };
  };
  return detectHost(
    { root, runProgram },
    { domain: DOMAIN, certificateFiles: certificateFiles ?? null },
    {
      now: NOW,
      isRoot: true,
      packageDirectory,
      addresses: ['192.0.2.7'],
      findAddresses: async (name) => ({ addresses: [`of ${name}`], resolverFault: null }),
    },
  );
}

export const TCP_HEADER =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';

/** Returns a line of `/proc/net/tcp`. */
export function tcpLine(local: string, state: string, inode: number): string {
  return `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000000000000000 100 0 0 10 0\n`;
}
