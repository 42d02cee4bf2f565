import { type ChildProcess, execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Certificate } from './certificates.ts';

/** The agent's main file. */
export const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The outcome of a command. */
interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the agent to its end. */
export async function runAgent(...args: readonly string[]): Promise<Result> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

/** Waits until the standard error of a program matches a pattern. */
export async function waitFor(child: ChildProcess, pattern: RegExp): Promise<void> {
  let text = '';
  for await (const chunk of child.stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(chunk);
    if (pattern.test(text)) return;
  }
  throw new Error(`It ended without ${pattern}: ${text}`);
}

/**
 * Writes the configuration of an agent on a port, with the control socket in the same directory.
 * @param more lines that follow those of `tls`
 */
export function writeAgentConfig(
  directory: string,
  port: number,
  { certificateFile, keyFile }: Certificate,
  more = '',
): string {
  const path = join(directory, `agent-${port}.yaml`);
  const tls = `tls:\n  certificate_file: ${certificateFile}\n  key_file: ${keyFile}\n`;
  const control = `control_socket: ${directory}/agent-${port}.sock\n`;
  writeFileSync(path, `listen: 127.0.0.1:${port}\n${control}${tls}${more}`);
  return path;
}
