import { isObject, parseJson } from '../json.ts';
import { timeUuid } from './time-uuid.ts';

/** The properties of an event: short values, no names, addresses or free text of people. */
export type EventProps = Readonly<Record<string, string | number | boolean>>;

/** An event that waits to be sent; its fields are those of a line of the file. */
export interface QueuedEvent {
  readonly id: string;
  readonly name: string;
  /** RFC 3339, by the device's clock. */
  readonly at: string;
  readonly props: Readonly<Record<string, string>>;
  /** The run of the program in which it happened, and its version. */
  readonly session: string;
  readonly app: string;
}

/** What the service accepts. */
const MAX_NAME_CHARACTERS = 120;
const MAX_PROPS = 32;
const MAX_KEY_CHARACTERS = 64;
const MAX_VALUE_CHARACTERS = 1_024;

/** Creates an event as the service accepts it; null without a name. */
export function createEvent(
  name: string,
  props: EventProps,
  nowMs: number,
): Omit<QueuedEvent, 'session' | 'app'> | null {
  const printable = cleanName(name);
  if (printable === null) return null;
  const at = new Date(nowMs).toISOString();
  return { id: timeUuid(nowMs), name: printable, at, props: cleanProps(props) };
}

/** Returns the name of an event as the service accepts it; null if there is none. */
export function cleanName(name: string): string | null {
  const cut = name.trim().slice(0, MAX_NAME_CHARACTERS);
  const printable = cut.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ').trim();
  return printable === '' ? null : printable;
}

/** Returns props as the service accepts them: texts, cut, and no more than 32. */
export function cleanProps(props: EventProps): Record<string, string> {
  const entries = Object.entries(props)
    .filter(([key]) => key.length <= MAX_KEY_CHARACTERS)
    .slice(0, MAX_PROPS)
    .map(([key, value]) => [cutText(key, MAX_KEY_CHARACTERS), toText(value)]);
  return Object.fromEntries(entries);
}

function toText(value: string | number | boolean): string {
  return cutText(String(value), MAX_VALUE_CHARACTERS);
}

/** A request with U+0000 or half a character would be refused as a whole. */
function cutText(text: string, length: number): string {
  return text.slice(0, length).replaceAll(/\0|\p{Surrogate}/gu, '\uFFFD');
}

/** Reads a line of the file; null if it is none, such as one that was cut when the process was killed. */
export function parseEvent(line: string): QueuedEvent | null {
  const event = parseJson(line);
  if (!isObject(event)) return null;
  const { id, name, at, props, session, app } = event;
  const hasTexts = [id, name, at, session, app].every((each) => typeof each === 'string');
  if (!hasTexts || !isObject(props) || Number.isNaN(Date.parse(String(at)))) return null;
  return {
    id: String(id),
    name: String(name),
    at: String(at),
    props: Object.fromEntries(Object.entries(props).map(([key, each]) => [key, String(each)])),
    session: String(session),
    app: String(app),
  };
}
