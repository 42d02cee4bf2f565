import { styleText } from 'node:util';

import { type CommandProcess, commandProcess } from './command-process.ts';
import { cleanJson, cleanText, padText, widthOf } from './terminal-text.ts';

/** What every command that gives a result takes. */
export interface OutputOptions {
  /** JSON for programs instead of text for people. */
  readonly json?: boolean;
}

type Style = Parameters<typeof styleText>[0];

/** What a table shows in a cell; null is shown as a dash. */
export type Cell = string | number | boolean | Date | null;

/** Prints the result of a command on standard output, where nothing else goes. */
export function printResult(options: OutputOptions, result: unknown, text: () => string): void {
  const shown = options.json === true ? cleanJson(JSON.stringify(result, null, 2)) : text();
  commandProcess().stdout.write(`${shown.trimEnd()}\n`);
}

/** Says something to the person at the terminal, on standard error, so that results can be piped. */
export function printNote(text: string): void {
  commandProcess().stderr.write(`${text}\n`);
}

/** Colours text for standard output: only on a terminal, and never with `NO_COLOR`. */
export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: commandProcess().stdout });
}

/** Lines of `name  value`, the values in one column. */
export function formatFields(fields: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields
    .map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${formatCell(value)}`)
    .join('\n');
}

/** A table with a header, its columns as wide as they need to be. */
export function formatTable(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map(formatCell));
  const widths = header.map((name, column) =>
    Math.max(name.length, ...texts.map((row) => widthOf(row[column] ?? ''))),
  );
  const formatRow = (cells: readonly string[]) =>
    cells
      .map((cell, column) => padText(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [
    paint('dim', formatRow(header.map((name) => name.toUpperCase()))),
    ...texts.map(formatRow),
  ].join('\n');
}

/** A cell as text on one line. */
export function formatCell(value: Cell): string {
  if (value === null) return '–';
  if (value instanceof Date) return formatMoment(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return cleanText(String(value));
}

/** A moment to the minute, in UTC. */
export function formatMoment(moment: Date): string {
  return `${moment.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** How often the line is written anew at most. */
const REDRAW_INTERVAL_MS = 100;

const CLEAR_LINE = '\r\u001B[K';

/**
 * Does a long work and shows how far it is, on one line of standard error that is wiped when the work ends or fails.
 * Nothing is shown when that is no terminal.
 * @param noun what is counted, in the plural
 * @param work reports how much is done with the function that it is given
 */
export async function withProgress<Result>(
  noun: string,
  work: (report: (done: number) => void) => Promise<Result>,
  terminal: Pick<CommandProcess['stderr'], 'isTTY' | 'write'> = commandProcess().stderr,
): Promise<Result> {
  let nextAt = 0;
  const report = (done: number): void => {
    const now = performance.now();
    if (!terminal.isTTY || now < nextAt) return;
    nextAt = now + REDRAW_INTERVAL_MS;
    terminal.write(`\r${done} ${noun}…`);
  };
  try {
    return await work(report);
  } finally {
    if (terminal.isTTY) terminal.write(CLEAR_LINE);
  }
}
