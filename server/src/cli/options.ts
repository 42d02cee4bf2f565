/** Commands with examples, the options and arguments that several of them share, and the parsers of their values. */
import { isUuid, parseDateTime, parseEmail } from '@latchkey/contract';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';

/** A command line without the name of the program, and its purpose. */
export type Example = readonly [line: string, purpose: string];

/**
 * A command with its help.
 * @param description its first sentence is shown in the list of commands
 */
export function newCommand(
  name: string,
  description: string,
  examples: readonly Example[],
): Command {
  const lines = examples.map(([line, purpose]) => `  # ${purpose}\n  latchkey ${line}`);
  const [summary = description] = /^.*?\.(?=\s|$)/su.exec(description) ?? [];
  return new Command(name)
    .summary(summary)
    .description(description)
    .addHelpText('after', `\nExamples:\n${lines.join('\n\n')}`);
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON');
}

/** The reason of a change; the audit log keeps it. */
export function requiredReasonOption(): Option {
  return new Option('--reason <text>', 'reason for the audit log (required)')
    .argParser(shortText)
    .makeOptionMandatory();
}

/** The reason of a change or of an access to secrets or personal data; the audit log keeps it. */
export function reasonOption(): Option {
  return new Option('--reason <text>', 'reason for the audit log').argParser(shortText);
}

const MAX_LIMIT = 10_000;

export function limitOption(defaultLimit: number): Option {
  return new Option('--limit <n>', `maximum number of entries, at most ${MAX_LIMIT}`)
    .argParser(wholeNumber(1, MAX_LIMIT))
    .default(defaultLimit);
}

/** How long the previous secret stays valid, in milliseconds. */
export function overlapOption(maxMs: number): Option {
  return new Option(
    '--overlap <time>',
    `time for which the previous one stays valid: 30m, 24h, 7d or 0, at most ${maxMs / DAY_MS}d (default: 24h)`,
  ).argParser(duration(maxMs));
}

export function addressArgument(): Argument {
  return new Argument('<address>', 'e-mail address, in upper or lower case').argParser(
    emailAddress,
  );
}

/** Parses a whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/u.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

/** Parses a date, which means 00:00 UTC, or a date-time. */
export function moment(text: string): Date {
  const parsed = parseDateTime(/^\d{4}-\d{2}-\d{2}$/u.test(text) ? `${text}T00:00:00Z` : text);
  if (parsed !== undefined) return parsed;
  throw new InvalidArgumentError('Expected a date such as 2027-01-01 or 2027-01-01T12:00:00Z.');
}

export const DAY_MS = 86_400_000;

const UNIT_MS = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', DAY_MS],
]);

/** Parses a duration such as `30m`, `24h`, `7d` or `0` to milliseconds. */
export function duration(maxMs: number): (text: string) => number {
  return (text) => {
    const { count, unit } = /^(?<count>\d{1,6})(?<unit>[mhd])$/u.exec(text)?.groups ?? {};
    const value = Number(count) * (UNIT_MS.get(unit ?? '') ?? Number.NaN);
    if (text === '0') return 0;
    if (value <= maxMs) return value;
    throw new InvalidArgumentError(
      `Expected a duration such as 30m, 24h or 7d, at most ${maxMs / DAY_MS} days.`,
    );
  };
}

export function emailAddress(text: string): string {
  const parsed = parseEmail(text);
  if ('email' in parsed) return parsed.email;
  throw new InvalidArgumentError('Expected an e-mail address such as ann@example.com.');
}

const MAX_TEXT_CHARACTERS = 1_000;

/** Parses non-empty text without control characters. */
export function shortText(text: string): string {
  const trimmed = text.trim();
  if (trimmed !== '' && trimmed.length <= MAX_TEXT_CHARACTERS && !/\p{Cc}/u.test(trimmed)) {
    return trimmed;
  }
  throw new InvalidArgumentError(
    `Expected text on one line, at most ${MAX_TEXT_CHARACTERS} characters.`,
  );
}

/** Parses the `next_cursor` of a list. */
export function cursor(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Expected the next_cursor of the previous page.');
}
