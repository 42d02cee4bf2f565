/** Runs Cargo. Tests that need it are skipped where it is missing. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { findMissingNeed } from '../../conformance/driver/clients.ts';

const run = promisify(execFile);

/** The folder of the crate. */
export const CRATE = join(import.meta.dirname, '..');

/** Why a test that needs Cargo is skipped; false if it is there. */
export const WITHOUT_CARGO = findMissingNeed({ needs: ['cargo'] }) ?? false;

/** Runs Cargo in a folder, and returns what it prints. */
export async function runCargo(
  args: readonly string[],
  cwd = CRATE,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { cwd, env: { ...process.env, ...variables }, maxBuffer: 1 << 24 };
  const { stdout } = await run('cargo', args, options);
  return stdout;
}
