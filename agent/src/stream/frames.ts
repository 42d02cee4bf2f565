import type {
  AgentHello,
  AgentHost,
  AgentSnapshot,
  AgentSnapshotMessage,
  AgentSubprotocol,
} from '@latchkey/contract';

import { toOtlpRequest } from '../formats/otlp.ts';
import { toVectorEvents } from '../formats/vector.ts';

/** Text messages, as the bytes that all viewers of a subprotocol get. */
export type Frames = readonly Buffer[];

/** A snapshot as the messages of a subprotocol. */
export function encodeSnapshot(
  subprotocol: AgentSubprotocol,
  snapshot: AgentSnapshot,
  host: AgentHost,
): Frames {
  if (subprotocol === 'latchkey.vector.v1') return toVectorEvents(snapshot, host).map(encode);
  if (subprotocol === 'latchkey.otlp-json.v1') return [encode(toOtlpRequest(snapshot, host))];
  return [encode({ type: 'snapshot', snapshot } satisfies AgentSnapshotMessage)];
}

/** The first message of `latchkey.snapshot.v1`; the other subprotocols have none. */
export function encodeHello(hello: AgentHello): Frames {
  return [encode(hello)];
}

function encode(message: object): Buffer {
  return Buffer.from(JSON.stringify(message));
}
