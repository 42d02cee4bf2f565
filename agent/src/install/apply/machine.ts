import { readFileSync } from 'node:fs';

import type { ProgramOptions, ProgramResult, RunProgram } from '../run-program.ts';

/** The machine that is changed. */
export interface Machine {
  /** What stands before every path: nothing, but in tests. */
  readonly root: string;
  /** Who owns what is made: root, but in tests. */
  readonly ownerId: number;
  readonly runProgram: RunProgram;
}

/** A program failed: what could not be done, and the last lines that it printed. */
export class ProgramError extends Error {
  constructor(what: string, result: ProgramResult) {
    super([what, ...lastLines(result)].join('\n  '));
    this.name = 'ProgramError';
  }
}

/** Where a path lies on this machine. */
export function locate({ root }: Machine, path: string): string {
  return `${root}${path}`;
}

/**
 * Runs a program that must end well.
 * @param failure the sentence that begins the error
 * @throws ProgramError with the last lines of what it printed
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

/** Whether a program ends well. */
export async function succeeds(
  machine: Machine,
  [program = '', ...args]: readonly string[],
): Promise<boolean> {
  const { code } = await machine.runProgram(program, args);
  return code === 0;
}

/** The id of a group; null when there is none of that name. */
export function findGroupId(machine: Machine, group: string): number | null {
  if (group === 'root') return machine.ownerId;
  const lines = readFileSync(locate(machine, '/etc/group'), 'utf8').split('\n');
  const id = lines.find((line) => line.startsWith(`${group}:`))?.split(':')[2];
  return id === undefined ? null : Number(id);
}

const SHOWN_LINES = 8;

/** The end of what a program printed, for an error. */
export function lastLines({ stdout, stderr, fault }: ProgramResult): string[] {
  const printed = (stderr.trim() === '' ? stdout : stderr).trim().split('\n');
  // Some of it may be what a stranger's server has answered.
  const lines = printed
    .map((line) => line.replaceAll(/\p{Cc}/gu, ' ').trimEnd())
    .filter((line) => line !== '');
  return [...(fault === null ? [] : [fault]), ...lines.slice(-SHOWN_LINES)];
}

/** What an error of the system means here, by its name. */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'The disk is full: free some space and run this again'],
  ['EDQUOT', 'The disk is full for this user: free some space and run this again'],
  ['EROFS', 'The disk can only be read: make it writable and run this again'],
  ['EPERM', 'The system does not allow it, perhaps by an attribute of the file (lsattr)'],
]);

/** Why something could not be done, as a sentence. */
export function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const meaning = MEANINGS.get(code);
  return meaning === undefined ? error.message : `${meaning} (${error.message}).`;
}
