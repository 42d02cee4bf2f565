import type { AgentSnapshot } from '@latchkey/contract';
import { AgentHello, AgentSnapshotMessage } from '@latchkey/contract/agent-stream';

import { hasShape, shapeOf } from './shape.ts';
import { clean } from './text.ts';

/** More than a machine with a thousand cores sends. */
export const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;

const HELLO_SHAPE = shapeOf(AgentHello);
const SNAPSHOT_SHAPE = shapeOf(AgentSnapshotMessage);

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
      typeof value === 'string' ? clean(value) : value,
    );
  } catch {
    // Not JSON, or nested too deeply for the stack.
    return null;
  }
}

function isHello(value: unknown): value is AgentHello {
  return (
    hasType(value, 'hello') &&
    hasShape(value, HELLO_SHAPE) &&
    'schema_version' in value &&
    value.schema_version === 1
  );
}

function isSnapshot(value: unknown): value is AgentSnapshotMessage {
  return hasType(value, 'snapshot') && hasShape(value, SNAPSHOT_SHAPE);
}

function hasType(value: unknown, type: string): value is object {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === type;
}
