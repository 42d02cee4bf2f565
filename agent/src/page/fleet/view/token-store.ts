import type { ListedMachine } from '../core/types.ts';
import { openStorage } from '../../browser/dom.ts';

const PREFIX = 'latchkey.fleet.token.';

/** Reads the tokens that this browser keeps, by id of the machine. */
export function readTokens(list: readonly ListedMachine[]): Map<string, string> {
  const tokens = new Map<string, string>();
  for (const machine of list) {
    const token = openToken(machine).read();
    if (token !== null) tokens.set(machine.id, token);
  }
  return tokens;
}

/** Keeps the token of a machine's address in this browser; null removes it. It is never sent anywhere else. */
export function saveToken(machine: ListedMachine, token: string | null): void {
  openToken(machine).write(token);
}

function openToken({ address }: ListedMachine): ReturnType<typeof openStorage> {
  return openStorage('localStorage', `${PREFIX}${address}`);
}
