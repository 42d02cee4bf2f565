import { make } from '../../browser/dom.ts';
import { CalmList } from './calm-list.ts';
import { LiveText, makeWith } from './elements.ts';
import type { FleetView } from './model.ts';
import type { Palette } from './palette.ts';
import { type ProblemActions, ProblemList } from './problem-list.ts';
import type { Quantity } from './quantities.ts';
import type { Settings } from './settings.ts';

/** The machines with problems as rows, and below the others as lines. */
export class MachineLists {
  readonly attention: HTMLElement;
  readonly calm: HTMLElement;
  readonly #problems: ProblemList;
  readonly #calmList: CalmList;
  readonly #problemCount = new LiveText('span.fleet-count');

  constructor(settings: Settings, palette: Palette, actions: ProblemActions) {
    this.#problems = new ProblemList(actions);
    this.#calmList = new CalmList(settings, palette);
    const title = makeWith('h2', { id: 'fleet-problems-title' }, 'Needs attention ');
    title.append(this.#problemCount.element);
    this.attention = make('section.fleet-attention', title, this.#problems.element);
    this.calm = make('section.fleet-calm', make('h2', 'Calm'), this.#calmList.element);
  }

  /** Shows machines. The focus stays on a machine that moves from one list to the other. */
  show({ troubled, calm }: FleetView, quantity: Quantity): void {
    const focused = findFocused();
    this.#problemCount.set(String(troubled.length));
    this.attention.hidden = troubled.length === 0;
    this.calm.hidden = calm.length === 0;
    this.#problems.show(troubled);
    this.#calmList.show(calm, quantity);
    if (focused !== null && findFocused() !== focused) this.#focus(focused);
  }

  /** Shows newer figures and curves. */
  update(nowMs: number, toRatio: (value: number) => number): void {
    this.#problems.update(nowMs);
    this.#calmList.update(nowMs, toRatio);
  }

  close(): void {
    this.#calmList.close();
  }

  #focus(id: string): void {
    const selector = `a[data-machine="${CSS.escape(id)}"]`;
    for (const list of [this.attention, this.calm]) {
      list.querySelector<HTMLElement>(selector)?.focus();
    }
  }
}

/** Returns the id of the machine with the focus. */
function findFocused(): string | null {
  const { activeElement } = document;
  return activeElement instanceof HTMLElement ? (activeElement.dataset['machine'] ?? null) : null;
}
