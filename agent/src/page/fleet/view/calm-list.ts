import { make } from '../../browser/dom.ts';
import type { Machine } from '../core/types.ts';
import { arrangeChildren } from './elements.ts';
import { MachineGroup } from './machine-group.ts';
import type { Group } from './grouping.ts';
import type { Palette } from './palette.ts';
import type { Quantity } from './quantities.ts';
import type { Settings } from './settings.ts';

/** The machines without problems, one line for each, in groups that fold. */
export class CalmList {
  readonly element = make('div.fleet-groups');
  readonly #settings: Settings;
  readonly #palette: Palette;
  readonly #groups = new Map<string, MachineGroup>();
  #shown: readonly MachineGroup[] = [];

  constructor(settings: Settings, palette: Palette) {
    this.#settings = settings;
    this.#palette = palette;
  }

  /** Shows groups in their order. */
  show(groups: readonly Group<Machine>[], quantity: Quantity): void {
    this.#shown = groups.map((group) => this.#open(group.key));
    for (const [at, group] of groups.entries()) this.#shown[at]?.show(group, quantity);
    for (const [key, group] of this.#groups) {
      if (this.#shown.includes(group)) continue;
      group.close();
      this.#groups.delete(key);
    }
    arrangeChildren(
      this.element,
      this.#shown.map(({ element }) => element),
    );
  }

  /** Shows newer figures. @param top the upper end of the scale of all curves */
  update(nowMs: number, toRatio: (value: number) => number): void {
    for (const group of this.#shown) group.update(nowMs, toRatio);
  }

  close(): void {
    for (const group of this.#groups.values()) group.close();
  }

  #open(key: string): MachineGroup {
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group = new MachineGroup(key, this.#settings, this.#palette);
    this.#groups.set(key, group);
    return group;
  }
}
