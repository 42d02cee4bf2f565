import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { findMissingNeed } from '../../../conformance/driver/clients.ts';

/** The folder of the client. */
export const CLIENT = join(import.meta.dirname, '..', '..');

/** Why programs in C# cannot run here; false if they can. */
export const skip = findMissingNeed({ needs: ['mcs', 'mono'] }) ?? false;

export const run = promisify(execFile);

const OPTIONS = ['-langversion:7', '-warnaserror', '-r:System.Numerics', '-r:System.Net.Http'];

/** Compiles the client with sources below its folder, or elsewhere. @param main the class whose `Main` is run */
export async function compile(
  program: string,
  sources: readonly string[],
  main: string,
): Promise<void> {
  const all = ['-recurse:src/*.cs', 'test/Host.cs', ...sources];
  await run('mcs', [...OPTIONS, `-main:${main}`, `-out:${program}`, ...all], { cwd: CLIENT });
}

/** Runs a program with Mono, and returns what it prints. */
export async function runProgram(
  program: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
  directory: string,
): Promise<string> {
  const options = { cwd: directory, env: { ...process.env, ...variables } };
  const { stdout } = await run('mono', [program, ...args], options);
  return stdout;
}
