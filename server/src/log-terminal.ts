import { styleText } from 'node:util';

import { isRecord } from './lib/unknown-values.ts';

type Style = Parameters<typeof styleText>[0];

const levelStyles: Readonly<Record<string, Style>> = {
  trace: 'gray',
  debug: 'gray',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: ['red', 'bold'],
};

/**
 * Formats a line of the log as text: time of day, level, message, the other fields as `name=value`, and the stack of an
 * error below. A line that is not a JSON object is returned unchanged.
 */
export function formatForTerminal(line: string, colours: boolean): string {
  const entry = parseEntry(line);
  if (entry === null) return line;
  const paint = (style: Style, text: string) =>
    colours ? styleText(style, text, { validateStream: false }) : text;

  const { level, time, msg, err, ...fields } = entry;
  const name = String(level);
  const clock = String(time).slice(11, 23);
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${formatValue(value)}`);
  const head = [
    paint('gray', clock),
    paint(levelStyles[name] ?? 'gray', name.toUpperCase().padEnd(5)),
    typeof msg === 'string' ? msg : '',
    paint('gray', rest.join(' ')),
  ];
  return `${head.join(' ').trimEnd()}\n${formatStack(err)}`;
}

function parseEntry(line: string): Record<string, unknown> | null {
  try {
    const entry: unknown = JSON.parse(line);
    return isRecord(entry) ? entry : null;
  } catch {
    return null;
  }
}

/** Of a longer list, only the first and the last item are shown. */
const LONGEST_LIST = 4;

function formatValue(value: unknown): string {
  if (Array.isArray(value) && value.length > LONGEST_LIST) {
    return `${formatValue(value.at(0))} … ${formatValue(value.at(-1))} (${value.length})`;
  }
  return typeof value === 'string' && /^[\w./:*{}-]+$/u.test(value) ? value : JSON.stringify(value);
}

function formatStack(error: unknown): string {
  if (!isRecord(error)) return '';
  const stack = String(error['stack'] ?? error['message']).replaceAll(/^/gmu, '  ');
  const cause = formatStack(error['cause']);
  return `${stack}\n${cause === '' ? '' : `  caused by\n${cause}`}`;
}
