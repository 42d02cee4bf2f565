import type { AgentHello, AgentSnapshotMessage } from '@latchkey/contract';

export type AgentMessage = AgentHello | AgentSnapshotMessage;

/**
 * Reads what the agent sent. It is the agent that served this page, so its shape is taken as the contract says it.
 * @returns null for what this page does not know: a later version of the agent
 */
export function readMessage(text: string): AgentMessage | null {
  const value: unknown = JSON.parse(text);
  return isMessage(value) ? value : null;
}

function isMessage(value: unknown): value is AgentMessage {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  if (value.type === 'snapshot') return 'snapshot' in value;
  return value.type === 'hello' && 'schema_version' in value && value.schema_version === 1;
}
