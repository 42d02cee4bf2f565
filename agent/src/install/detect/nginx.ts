import { accessSync, constants, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Listener, NginxFacts, NginxFile } from '../facts.ts';
import { parseDump } from '../nginx/read-configuration.ts';
import type { Detection, ProgramResult } from '../../system/run-program.ts';
import { findForeignNginx } from './foreign-nginx.ts';

/** A configuration with thousands of sites and certificates takes long. */
const TIMEOUT_MS = 60_000;

/**
 * Detects nginx. Its configuration is read only where it runs, because `nginx -T` creates files otherwise.
 * @returns null where it is not installed
 */
export async function detectNginx(
  detection: Detection,
  listeners: readonly Listener[],
): Promise<NginxFacts | null> {
  const { runProgram } = detection;
  const shown = await runProgram('nginx', ['-v']);
  const [, version] =
    /(?:nginx|openresty)\/(\d+\.\d+\.\d+)/u.exec(shown.stderr + shown.stdout) ?? [];
  if (version === undefined) return null;
  const isActive = await runProgram('systemctl', ['is-active', '--quiet', 'nginx.service']);
  const isRunning = isActive.code === 0 || listeners.some(isNginx);
  const nothing = { files: [], warnings: [], fault: null, foreign: null };
  if (!isRunning) return { version, isRunning, ...nothing };
  const dump = await runProgram('nginx', ['-T'], { timeoutMs: TIMEOUT_MS });
  const warnings = listLines(dump, '[warn]');
  const isRefused = dump.code !== 0;
  const printed = isRefused ? [] : parseDump(dump.stdout);
  const files = printed.map(({ path, text }) => readFile(detection, path, text));
  const foreign = await findForeignNginx(detection, listeners, files[0]?.path ?? null);
  return { version, isRunning, files, warnings, fault: isRefused ? explain(dump) : null, foreign };
}

/** Whether nginx is the listener. */
function isNginx({ process }: Listener): boolean {
  return process?.name === 'nginx';
}

function listLines({ stderr }: ProgramResult, mark: string): string[] {
  return stderr.split('\n').filter((line) => line.includes(mark));
}

function explain(result: ProgramResult): string {
  const [line] = ['[emerg]', '[alert]', '[crit]'].flatMap((mark) => listLines(result, mark));
  return line ?? result.fault ?? `nginx -T ends with ${result.code}: ${result.stderr.trim()}`;
}

/** Reads the file itself where possible: nginx prints an additional line end. */
function readFile({ root }: Detection, path: string, printed: string): NginxFile {
  const place = join(root, path);
  try {
    const bytes = readFileSync(place);
    const text = bytes.toString('utf8');
    // Text of another encoding would change when it is written back.
    const isText = Buffer.from(text, 'utf8').equals(bytes);
    const real = realpathSync(place);
    const isWritable = isText && mayWrite(real);
    return { path, realPath: real.slice(root.length), text, isWritable };
  } catch {
    // It was printed before and is unreadable now, so it must not be changed.
    return { path, realPath: path, text: printed, isWritable: false };
  }
}

/**
 * Checks the directory, too, because a file is replaced rather than overwritten. Root is refused only on read-only file
 * systems.
 */
function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
