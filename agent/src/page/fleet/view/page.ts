import { make } from '../../browser/dom.ts';
import type { MountOptions } from '../mount.ts';
import { countConditions, describeCounts, describeRest } from './summary.ts';
import { judgeMachine } from './problems.ts';

/** The page of a fleet. */
export class FleetPage {
  readonly #element = make('div.fleet');
  readonly #options: MountOptions;
  readonly #unsubscribe: () => void;

  constructor(parent: HTMLElement, options: MountOptions) {
    this.#options = options;
    this.#unsubscribe = options.fleet.subscribe(() => this.#show());
    parent.append(this.#element);
    this.#show();
  }

  /** Removes the page, its listeners and its timers. */
  close(): void {
    this.#unsubscribe();
    this.#element.remove();
  }

  #show(): void {
    const counts = countConditions(this.#options.fleet.machines.map(judgeMachine));
    this.#element.textContent = `${describeCounts(counts)}. ${describeRest(counts)}`;
  }
}
