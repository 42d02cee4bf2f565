import type { OperatorRole } from '@latchkey/contract';

import type { Window } from './windows.ts';

/** Null: signed out. */
export type Role = OperatorRole | null;

/** Windows with a loaded console by role: a load takes ten times as long as going to the next page. */
export class WindowPool {
  readonly #open: (role: Role) => Promise<Window>;
  readonly #idle = new Map<Role, Window[]>();

  constructor(open: (role: Role) => Promise<Window>) {
    this.#open = open;
  }

  /** Returns a window that nobody uses. */
  async take(role: Role = 'admin'): Promise<Window> {
    return this.#idle.get(role)?.pop() ?? this.#open(role);
  }

  /** Keeps a window for the next test. One with a finding is not put back. */
  put(role: Role = 'admin', window: Window): void {
    this.#idle.set(role, [...(this.#idle.get(role) ?? []), window]);
  }
}
