import type { ListedMachine } from '../core/types.ts';
import { openStorage } from '../../browser/dom.ts';

const PREFIX = 'latchkey.fleet.token.';

/** Returns the token that this browser keeps for the address of a machine; null: none. */
export function readKeptToken(machine: ListedMachine): string | null {
  return openToken(machine).read();
}

/** Keeps the token of a machine's address in this browser; null removes it. It is never sent anywhere else. */
export function saveToken(machine: ListedMachine, token: string | null): void {
  openToken(machine).write(token);
}

function openToken({ address }: ListedMachine): ReturnType<typeof openStorage> {
  return openStorage('localStorage', `${PREFIX}${address}`);
}
