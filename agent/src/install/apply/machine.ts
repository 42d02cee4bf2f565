import { readFileSync } from 'node:fs';

import type { ProgramOptions, ProgramResult, RunProgram } from '../../system/run-program.ts';

export interface Machine {
  /** The prefix of every path: empty, except in tests. */
  readonly root: string;
  /** The owner of created files: root, except in tests. */
  readonly ownerId: number;
  readonly runProgram: RunProgram;
}

/** A failed program: the failed action, and the last lines of its output. */
export class ProgramError extends Error {
  constructor(what: string, result: ProgramResult) {
    super([what, ...lastLines(result)].join('\n  '));
    this.name = 'ProgramError';
  }
}

/** Returns the path with the prefix of the machine. */
export function locate({ root }: Machine, path: string): string {
  return `${root}${path}`;
}

/**
 * Runs a program that must succeed.
 * @param failure the sentence that begins the error
 * @throws ProgramError with the last lines of its output
 */
export async function mustRun(
  machine: Machine,
  failure: string,
  [program = '', ...args]: readonly string[],
  options?: ProgramOptions,
): Promise<ProgramResult> {
  const result = await machine.runProgram(program, args, options);
  if (result.code !== 0) throw new ProgramError(failure, result);
  return result;
}

/** Whether a program succeeds. */
export async function succeeds(
  machine: Machine,
  [program = '', ...args]: readonly string[],
): Promise<boolean> {
  const { code } = await machine.runProgram(program, args);
  return code === 0;
}

/** Returns the id of a group; null when it does not exist. */
export function findGroupId(machine: Machine, group: string): number | null {
  if (group === 'root') return machine.ownerId;
  const lines = readFileSync(locate(machine, '/etc/group'), 'utf8').split('\n');
  const id = lines.find((line) => line.startsWith(`${group}:`))?.split(':')[2];
  return id === undefined ? null : Number(id);
}

const SHOWN_LINES = 8;

/** Returns the last lines of a program's output, for an error. */
export function lastLines({ stdout, stderr, fault }: ProgramResult): string[] {
  const printed = (stderr.trim() === '' ? stdout : stderr).trim().split('\n');
  // The output may contain text of a remote server.
  const lines = printed
    .map((line) => line.replaceAll(/\p{Cc}/gu, ' ').trimEnd())
    .filter((line) => line !== '');
  return [...(fault === null ? [] : [fault]), ...lines.slice(-SHOWN_LINES)];
}
