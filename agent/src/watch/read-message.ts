import type { AgentHello, AgentSnapshot } from '@latchkey/contract';

import { clean } from './text.ts';
import { hasShape } from './shape.ts';
import { HELLO_SHAPE, SNAPSHOT_SHAPE } from './wire-shapes.ts';

/** More than a machine with a thousand cores has to say. */
export const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;

/** What an agent says. */
export type Message =
  | { readonly kind: 'hello'; readonly hello: AgentHello }
  | { readonly kind: 'snapshot'; readonly snapshot: AgentSnapshot };

/**
 * Reads a message. No text in it holds anything that a terminal would obey, whoever wrote it.
 * @returns null for what is neither a hello nor a snapshot of this version
 */
export function readMessage(text: string): Message | null {
  const value = parse(text);
  if (isHello(value)) return { kind: 'hello', hello: value };
  if (isSnapshotMessage(value)) return { kind: 'snapshot', snapshot: value.snapshot };
  return null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text, (_name, value: unknown) =>
      typeof value === 'string' ? clean(value) : value,
    );
  } catch {
    // No JSON, or nested so deeply that there is no room for it.
    return null;
  }
}

function isHello(value: unknown): value is AgentHello {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  if (value.type !== 'hello' || !hasShape(value, HELLO_SHAPE)) return false;
  return 'schema_version' in value && value.schema_version === 1;
}

function isSnapshotMessage(value: unknown): value is { snapshot: AgentSnapshot } {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  return (
    value.type === 'snapshot' && 'snapshot' in value && hasShape(value.snapshot, SNAPSHOT_SHAPE)
  );
}
