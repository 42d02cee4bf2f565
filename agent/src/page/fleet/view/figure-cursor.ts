import { HISTORY_SLOTS } from '../core/types.ts';

/** What the cursor needs of its figure. */
interface CursorOwner {
  /** Returns the cell and the slot at a point of the canvas. */
  readonly findAt: (x: number, y: number) => { cell: number; slot: number } | null;
  readonly onMove: () => void;
  readonly onOpen: (cell: number) => void;
  /** Describes the time under the cursor and its values. */
  readonly describe: () => string;
}

/** Seconds by key; the sign is the direction. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -30,
  PageUp: 30,
  Home: -HISTORY_SLOTS,
  End: HISTORY_SLOTS,
};

const LAST = HISTORY_SLOTS - 1;

/** The time that all cells show: moved by the pointer, or by keys as a slider. */
export class FigureCursor {
  /** The slot of the history; null: the newest values. */
  slot: number | null = null;
  /** The cell under the pointer; -1: none. */
  cell = -1;
  readonly #element: HTMLElement;
  readonly #owner: CursorOwner;

  /** @param element the focusable frame around the canvas */
  constructor(element: HTMLElement, owner: CursorOwner) {
    this.#element = element;
    this.#owner = owner;
    element.tabIndex = 0;
    element.setAttribute('role', 'slider');
    element.setAttribute('aria-label', 'Time of the figure');
    element.setAttribute('aria-describedby', 'fleet-figure-range');
    element.setAttribute('aria-valuemin', String(-LAST));
    element.setAttribute('aria-valuemax', '0');
    element.setAttribute('aria-valuenow', '0');
    element.setAttribute('aria-valuetext', 'Now');
    element.addEventListener('pointermove', (event) => this.#point(event));
    element.addEventListener('pointerdown', (event) => this.#point(event));
    element.addEventListener('pointerleave', ({ pointerType }) => {
      // A finger that is lifted leaves, too, and the values should stay.
      if (pointerType !== 'touch') this.#move(null, -1);
    });
    element.addEventListener('click', (event) => this.#click(event));
    element.addEventListener('keydown', (event) => this.#press(event));
    element.addEventListener('blur', () => this.#move(null, -1));
    element.addEventListener('focus', () => this.#report());
  }

  #point({ offsetX, offsetY }: PointerEvent): void {
    const found = this.#owner.findAt(offsetX, offsetY);
    if (found === null) this.#move(null, -1);
    else this.#move(found.slot, found.cell);
  }

  #click(event: MouseEvent): void {
    const isTouch = event instanceof PointerEvent && event.pointerType === 'touch';
    const found = this.#owner.findAt(event.offsetX, event.offsetY);
    if (!isTouch && found !== null) this.#owner.onOpen(found.cell);
  }

  #press(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape' && this.slot !== null) this.#move(null, -1);
    else if (step === undefined) return;
    else {
      const slot = (this.slot ?? LAST) + step * (event.shiftKey ? 10 : 1);
      this.#move(Math.min(LAST, Math.max(0, slot)), -1);
    }
    event.preventDefault();
    this.#report();
  }

  #move(slot: number | null, cell: number): void {
    if (slot === this.slot && cell === this.cell) return;
    this.slot = slot;
    this.cell = cell;
    this.#owner.onMove();
  }

  /** Sets what screen readers say; not at each second, which they would read. */
  #report(): void {
    this.#element.setAttribute('aria-valuenow', String((this.slot ?? LAST) - LAST));
    this.#element.setAttribute('aria-valuetext', this.#owner.describe());
  }
}
