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

const CLEAR_TO_END = '\u001B[K';
const CLEAR_LINE = `\r${CLEAR_TO_END}`;

/**
 * Shows the progress of work on one line of standard error, if that is a terminal; clears the line when the work ends.
 * @param noun the plural noun of the counted items
 * @param work calls `report` with the count so far
 */
export async function withProgress<Result>(
  noun: string,
  work: (report: (done: number) => void) => Promise<Result>,
  terminal: Terminal = commandProcess().stderr,
): Promise<Result> {
  return withStatus((show) => work((done) => show(`${done} ${noun}`)), terminal);
}

type Terminal = Pick<CommandProcess['stderr'], 'isTTY' | 'write'>;

/**
 * Shows what a command does on one line of standard error, if that is a terminal; clears the line when the work ends.
 * @param work calls `show` with the state
 */
export async function withStatus<Result>(
  work: (show: (status: string) => void) => Promise<Result>,
  terminal: Terminal = commandProcess().stderr,
): Promise<Result> {
  let latest = '';
  let redrawAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const draw = (): void => {
    clearTimeout(timer);
    timer = undefined;
    redrawAt = performance.now() + REDRAW_INTERVAL_MS;
    terminal.write(`\r${latest}…${CLEAR_TO_END}`);
  };
  const show = (status: string): void => {
    if (terminal.isTTY !== true) return;
    latest = status;
    const waitMs = redrawAt - performance.now();
    if (waitMs <= 0) draw();
    // A state that lasts is shown, also if it follows another one at once.
    else timer ??= setTimeout(draw, waitMs);
  };
  try {
    return await work(show);
  } finally {
    clearTimeout(timer);
    if (terminal.isTTY === true) terminal.write(CLEAR_LINE);
  }
}
