/** Runs install.sh on small packages. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SCRIPT = fileURLToPath(new URL('../../install.sh', import.meta.url));
export const directory = mkdtempSync(join(tmpdir(), 'latchkey-agent-script-'));
export const packagePath = join(directory, 'package.tar.gz');
export const temporary = join(directory, 'tmp');

mkdirSync(temporary);
pack('1.0.0', packagePath);
// Several test files of a process share it.
process.once('exit', () => rmSync(directory, { recursive: true }));

/** Packs an installer that prints its arguments, and who it is. */
export function pack(version: string, path: string, says = 'installer'): void {
  const name = `latchkey-agent-${version}-linux-x64`;
  const parent = join(directory, says);
  const bin = join(parent, name, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = `#!/bin/sh\necho "${says}: $*; $LATCHKEY_DOMAIN"\nexit 3\n`;
  writeFileSync(join(bin, 'latchkey-agent'), program, { mode: 0o755 });
  assert.equal(spawnSync('tar', ['-czf', path, '-C', parent, name]).status, 0);
}

export interface Outcome {
  readonly code: number | null;
  readonly said: string;
}

/**
 * Runs the script with `id` replaced, so that it takes itself for root.
 * @param programs shell scripts that replace programs
 */
export function run(
  environment: Readonly<Record<string, string>>,
  programs: Readonly<Record<string, string>> = {},
  path = SCRIPT,
): Outcome {
  const bin = mkdtempSync(join(directory, 'bin-'));
  for (const [name, text] of Object.entries({ id: 'echo 0', ...programs })) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const { status, stdout, stderr } = spawnSync('sh', [path, '--verbose'], {
    encoding: 'utf8',
    env: { PATH: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin`, TMPDIR: temporary, ...environment },
  });
  const left = readdirSync(environment['TMPDIR'] ?? temporary);
  assert.deepEqual(left, [], 'removes its temporary files');
  return { code: status, said: `${stdout}${stderr}`.trim() };
}

export function hash(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Creates a directory with only these programs. */
export function linkPrograms(...names: readonly string[]): string {
  const bin = mkdtempSync(join(directory, 'bin-'));
  for (const name of ['sh', 'uname', 'dirname', 'mktemp', 'rm', 'stat', ...names]) {
    symlinkSync(spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim(), join(bin, name));
  }
  writeFileSync(join(bin, 'id'), '#!/bin/sh\necho 0\n', { mode: 0o755 });
  return bin;
}

export const ADDRESS = 'https://downloads.example.com/package.tar.gz';
export const UNSIGNED = { LATCHKEY_AGENT_UNSIGNED: 'yes' };

/** Returns a curl script that serves files by the suffix of the URL. */
export function serve(files: Readonly<Record<string, string>>): string {
  const cases = Object.entries(files).map(([end, path]) => `*.${end}) cp '${path}' "$2" ;;`);
  // The last argument is the URL; the output file follows --output.
  return `for last; do :; done
while [ "$1" != --output ]; do shift; done
case $last in ${cases.join(' ')} *) exit 22 ;; esac`;
}

/** Writes the checksum of a package in the format of `sha256sum`. @returns its path */
export function writeSum(path: string): string {
  const sum = join(directory, 'sum');
  writeFileSync(sum, `${hash(path)}  package.tar.gz\n`);
  return sum;
}
