import { type ChildProcess, execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import type { CommandProcess } from '#agent/cli/command-process.ts';
import { runCommandLine } from '#agent/cli/program.ts';

import type { Certificate } from './certificates.ts';

/** The agent's main file. */
export const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The outcome of a command. */
interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Collects what a command prints. */
class TextSink extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** Runs a command of the agent in this process, which takes a tenth of the time of another process. */
export async function runCommand(...args: readonly string[]): Promise<Result> {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const target: CommandProcess = { stdout, stderr };
  await runCommandLine(args, target);
  return { code: Number(target.exitCode ?? 0), stdout: stdout.text, stderr: stderr.text };
}

/** Runs a command of the agent in a process of its own, to its end. */
export async function runAgent(...args: readonly string[]): Promise<Result> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

/** Waits until the standard error of a program matches a pattern. */
export async function waitForOutput(child: ChildProcess, pattern: RegExp): Promise<void> {
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
