import { styleText } from 'node:util';

import { type CommandProcess, commandProcess } from './command-process.ts';

/** Prints a message on standard error, so that results can be piped. */
export function printNote(text: string): void {
  commandProcess().stderr.write(`${text}\n`);
}

/** Styles text for standard output: only on a terminal, and never with `NO_COLOR`. */
export function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return styleText(style, text, { stream: commandProcess().stdout });
}

const REDRAW_INTERVAL_MS = 100;

const CLEAR_LINE = '\r\u001B[K';

/**
 * Shows the progress of work on one line of standard error, if that is a terminal; clears the line when the work ends.
 * @param noun the plural noun of the counted items
 * @param work calls `report` with the count so far
 */
export async function withProgress<Result>(
  noun: string,
  work: (report: (done: number) => void) => Promise<Result>,
  terminal: Pick<CommandProcess['stderr'], 'isTTY' | 'write'> = commandProcess().stderr,
): Promise<Result> {
  let redrawAt = 0;
  const report = (done: number): void => {
    const now = performance.now();
    if (terminal.isTTY !== true || now < redrawAt) return;
    redrawAt = now + REDRAW_INTERVAL_MS;
    terminal.write(`\r${done} ${noun}…`);
  };
  try {
    return await work(report);
  } finally {
    if (terminal.isTTY === true) terminal.write(CLEAR_LINE);
  }
}

/** `1 event`, `2 events` */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
