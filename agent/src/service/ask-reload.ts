import { connect } from 'node:net';

import { decodeAnswer, MAX_LINE_BYTES, RELOAD } from './control-protocol.ts';

/** Files of a few kilobytes are read in milliseconds, on a busy machine in a second. */
const TIMEOUT_MS = 10_000;

/**
 * Asks the agent behind a socket to read its files again.
 * @returns why they were not taken, or why nobody took them; null when they were taken
 */
export async function askReload(path: string): Promise<string | null> {
  const socket = connect(path);
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('it does not answer')));
  let received = '';
  try {
    socket.setEncoding('utf8').write(RELOAD);
    for await (const chunk of socket) {
      received += String(chunk);
      if (received.length > MAX_LINE_BYTES) break;
    }
    return decodeAnswer(received).problem;
  } catch (error) {
    return explain(error, path);
  } finally {
    socket.destroy();
  }
}

function explain(error: unknown, path: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    return `No agent runs: nobody answers at ${path}.`;
  }
  if (code === 'EACCES') return `Only root and the agent's account may use ${path}.`;
  if (error instanceof SyntaxError) return `What answers at ${path} is not an agent.`;
  return `The agent does not answer at ${path}: ${error instanceof Error ? error.message : String(error)}.`;
}
