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
    this.attention = make(
      'section.fleet-attention',
      title,
      this.#problems.element,
      this.#problems.overflow.element,
    );
    this.calm = make('section.fleet-calm', make('h2', 'Calm'), this.#calmList.element);
  }

  /** Shows machines. The focus stays where it is, also in a row that moves, or on a machine that moves to the other list. */
  show({ troubled, calm }: FleetView, quantity: Quantity): void {
    const focused = document.activeElement;
    this.#problemCount.set(String(troubled.length));
    this.attention.hidden = troubled.length === 0;
    this.calm.hidden = calm.length === 0;
    this.#problems.show(troubled);
    this.#calmList.show(calm, quantity);
    if (focused instanceof HTMLElement && focused !== document.activeElement) this.#focus(focused);
  }

  /** Shows newer figures and curves. */
  update(nowMs: number, toRatio: (value: number) => number): void {
    this.#problems.update(nowMs);
    this.#calmList.update(nowMs, toRatio);
  }

  close(): void {
    this.#problems.overflow.close();
    this.#calmList.close();
  }

  /** Returns the focus to an element, or to the new link of its machine. */
  #focus(lost: HTMLElement): void {
    lost.focus({ preventScroll: true });
    const { machine } = lost.dataset;
    if (lost.isConnected || machine === undefined) return;
    const selector = `a[data-machine="${CSS.escape(machine)}"]`;
    for (const list of [this.attention, this.calm]) {
      list.querySelector<HTMLElement>(selector)?.focus();
    }
  }
}
