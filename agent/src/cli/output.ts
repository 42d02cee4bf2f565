import { styleText } from 'node:util';

import { type Command, Option } from 'commander';

import { CONFIG_PATH } from '../config/load-config.ts';
import { commandProcess } from './command-process.ts';

/** Options of every command with a result. */
export interface OutputOptions {
  /** Prints JSON for programs instead of text for people. */
  readonly json?: boolean;
}

/** The option of every command with a result. */
export function jsonOption(): Option {
  return new Option('--json', 'print JSON for programs');
}

/** Prints the result of a command, the only thing on standard output. */
export function printResult(options: OutputOptions, result: unknown, text: () => string): void {
  const shown = options.json === true ? JSON.stringify(result, null, 2) : text();
  commandProcess().stdout.write(`${shown.trimEnd()}\n`);
}

/** Prints a message on standard error, so that results can be piped. */
export function printNote(text: string): void {
  commandProcess().stderr.write(`${text}\n`);
}

/** Adds examples to a command's help: command lines and their purpose. */
export function withExamples(
  command: Command,
  examples: readonly (readonly [string, string])[],
): Command {
  const lines = examples.map(([line, what]) => `  # ${what}\n  latchkey-agent ${line}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n\n')}`);
}

/** Styles text for standard output on a terminal, unless `NO_COLOR` is set. */
export function paint(style: 'bold' | 'dim', text: string): string {
  return styleText(style, text, { stream: commandProcess().stdout });
}

/** The option of every command that reads the configuration. */
export interface ConfigOptions {
  readonly config: string;
}

export function configOption(): Option {
  return new Option('-c, --config <file>', 'the configuration file').default(CONFIG_PATH);
}

export type Rows = readonly (readonly string[])[];

/** Formats a table with a header; an empty string without rows. */
export function formatTable(header: readonly string[], rows: Rows): string {
  if (rows.length === 0) return '';
  const [first = '', ...lines] = alignColumns([
    header.map((name) => name.toUpperCase()),
    ...rows,
  ]).split('\n');
  return [paint('dim', first), ...lines].join('\n');
}

/** Aligns rows of cells in columns. */
export function alignColumns(rows: Rows): string {
  const columns = Math.max(0, ...rows.map((cells) => cells.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  return rows
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
