import { parseDateTime, parseEmail } from '@latchkey/contract';
import { type Command, InvalidArgumentError, Option } from 'commander';

/** The option of every command that gives a result. */
export function jsonOption(): Option {
  return new Option('--json', 'print JSON for programs');
}

/** Why a change is made by hand; it is kept in the audit log. */
export function reasonOption(): Option {
  return new Option('--reason <text>', 'why, for the audit log')
    .argParser(shortText)
    .makeOptionMandatory();
}

/** Why secrets or personal data are shown; it is kept in the audit log. */
export function accessReasonOption(): Option {
  return new Option('--reason <text>', 'why, for the audit log').argParser(shortText);
}

const MAX_LISTED = 10_000;

/** How much a list shows that begins with the newest. */
export function limitOption(byDefault: number): Option {
  return new Option('--limit <n>', 'the newest so many')
    .argParser(wholeNumber(1, MAX_LISTED))
    .default(byDefault);
}

/** Reads a whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/u.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Reads a date, meaning its first moment in UTC, or a date-time. */
export function moment(text: string): Date {
  const parsed = parseDateTime(/^\d{4}-\d{2}-\d{2}$/u.test(text) ? `${text}T00:00:00Z` : text);
  if (parsed !== undefined) return parsed;
  throw new InvalidArgumentError('It must be a date such as 2027-01-01 or 2027-01-01T12:00:00Z.');
}

const DAY_MS = 86_400_000;

const UNIT_MS = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', DAY_MS],
]);

/**
 * Reads a length of time, `30m`, `24h`, `7d` or `0`, and gives it in milliseconds.
 * @param maxMs the longest that is taken, in whole days
 */
export function duration(maxMs: number): (text: string) => number {
  return (text) => {
    const { count, unit } = /^(?<count>\d{1,6})(?<unit>[mhd])$/u.exec(text)?.groups ?? {};
    const value = Number(count) * (UNIT_MS.get(unit ?? '') ?? Number.NaN);
    if (text === '0') return 0;
    if (value <= maxMs) return value;
    throw new InvalidArgumentError(
      `It must be a time such as 30m, 24h or 7d, of at most ${maxMs / DAY_MS} days.`,
    );
  };
}

/** Reads an e-mail address. */
export function emailAddress(text: string): string {
  const parsed = parseEmail(text);
  if ('email' in parsed) return parsed.email;
  throw new InvalidArgumentError('It must be an e-mail address such as ann@example.com.');
}

const MAX_TEXT_CHARACTERS = 1_000;

/** Reads text that says something, without control characters. */
export function shortText(text: string): string {
  const trimmed = text.trim();
  if (trimmed !== '' && trimmed.length <= MAX_TEXT_CHARACTERS && !/\p{Cc}/u.test(trimmed)) {
    return trimmed;
  }
  throw new InvalidArgumentError(
    `It must be text on one line, of at most ${MAX_TEXT_CHARACTERS} characters.`,
  );
}

/** Adds examples to a command's help: each a command line and what it does. */
export function withExamples(
  command: Command,
  examples: readonly (readonly [string, string])[],
): Command {
  const lines = examples.map(([line, what]) => `  # ${what}\n  latchkey ${line}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n\n')}`);
}
