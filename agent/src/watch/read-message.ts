import type { AgentSnapshot } from '@latchkey/contract';
import { AgentHello, AgentSnapshotMessage } from '@latchkey/contract/agent-stream';

import { sanitize } from './text.ts';

/** More than the message of a machine with a thousand cores. */
export const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;

/** A message of an agent. */
export type Message =
  | { readonly kind: 'hello'; readonly hello: AgentHello }
  | { readonly kind: 'snapshot'; readonly snapshot: AgentSnapshot };

/**
 * Parses a message. Control characters in its texts are replaced, so that none reaches the terminal.
 * @returns null for anything but a hello or a snapshot of this version
 */
export function readMessage(text: string): Message | null {
  const value = parse(text);
  if (isHello(value)) return { kind: 'hello', hello: value };
  if (isSnapshot(value)) return { kind: 'snapshot', snapshot: value.snapshot };
  return null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text, (_name, value: unknown) =>
      typeof value === 'string' ? sanitize(value) : value,
    );
  } catch {
    // Not JSON, or nested too deeply for the stack.
    return null;
  }
}

function isHello(value: unknown): value is AgentHello {
  return (
    hasType(value, 'hello') &&
    conforms(value, AgentHello) &&
    'schema_version' in value &&
    value.schema_version === 1
  );
}

function isSnapshot(value: unknown): value is AgentSnapshotMessage {
  return hasType(value, 'snapshot') && conforms(value, AgentSnapshotMessage);
}

function hasType(value: unknown, type: string): value is object {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === type;
}

/** More than the length of any list of a real machine. */
const MAX_ITEMS = 4096;

/**
 * Whether a JSON value has the types and the required members of a schema. Ranges, formats and choices are not checked, and
 * unknown members are allowed, so that values of a later agent pass.
 * @throws TypeError for a schema of an unknown kind
 */
function conforms(value: unknown, schema: unknown): boolean {
  const type = get(schema, 'type');
  if (type === 'object') return hasMembers(value, schema);
  if (type === 'array') return isListOf(value, get(schema, 'items'));
  if (type === 'boolean') return typeof value === 'boolean';
  const choice = get(schema, 'const') ?? get(schema, 'enum') ?? get(schema, 'anyOf');
  if (type === 'number' || type === 'integer' || typeof choice === 'number') {
    return typeof value === 'number' && Number.isFinite(value);
  }
  if (type === 'string' || choice !== undefined) return typeof value === 'string';
  throw new TypeError(`The schema ${JSON.stringify(schema)} is not supported.`);
}

function hasMembers(value: unknown, schema: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const required = get(schema, 'required');
  return Object.entries(Object(get(schema, 'properties'))).every(([name, each]) =>
    Object.hasOwn(value, name)
      ? conforms(get(value, name), each)
      : !(Array.isArray(required) && required.includes(name)),
  );
}

function isListOf(value: unknown, schema: unknown): boolean {
  if (!Array.isArray(value) || value.length > MAX_ITEMS) return false;
  return value.every((each: unknown) => conforms(each, schema));
}

function get(value: unknown, name: string): unknown {
  return Object(value)[name];
}
