import { HISTORY_SLOTS, type Machine } from '../core/types.ts';
import { type CurvePart, drawCurves, readHistory, traceCurve } from './curve.ts';
import type { Palette } from './palette.ts';
import type { Quantity } from './quantities.ts';

/** Pixels between curves of neighboring lines. */
const LINE_GAP = 7;

/** The curves beside the lines of a group, on one canvas. */
export class CurveColumn {
  readonly element = document.createElement('canvas');
  readonly #palette: Palette;
  readonly #observer: ResizeObserver;
  readonly #values = new Float32Array(HISTORY_SLOTS);
  #width = 0;
  #height = 0;
  #redraw: () => void = () => undefined;

  /** @param lines the element whose height the curves share */
  constructor(lines: HTMLElement, palette: Palette) {
    this.#palette = palette;
    this.element.className = 'fleet-curves';
    this.element.setAttribute('aria-hidden', 'true');
    this.#observer = new ResizeObserver((entries) => {
      for (const { target, contentRect } of entries) {
        if (target === lines) this.#height = contentRect.height;
        else this.#width = contentRect.width;
      }
      this.#resize();
      this.#redraw();
    });
    this.#observer.observe(lines);
    this.#observer.observe(this.element);
  }

  /** Draws a curve for each machine. */
  draw(machines: readonly Machine[], quantity: Quantity, toRatio: (value: number) => number): void {
    this.#redraw = () => this.#paint(machines, quantity, toRatio);
    this.#redraw();
  }

  close(): void {
    this.#observer.disconnect();
  }

  #resize(): void {
    const scale = devicePixelRatio;
    this.element.style.height = `${this.#height}px`;
    this.element.width = Math.round(this.#width * scale);
    this.element.height = Math.round(this.#height * scale);
  }

  #paint(
    machines: readonly Machine[],
    quantity: Quantity,
    toRatio: (value: number) => number,
  ): void {
    const context = this.element.getContext('2d');
    if (context === null || this.#width === 0 || machines.length === 0) return;
    const scale = devicePixelRatio;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, this.#width, this.#height);
    const lineHeight = this.#height / machines.length;
    const trace = (part: CurvePart): void => {
      for (const [at, machine] of machines.entries()) {
        readHistory(quantity, machine, this.#values);
        const y = at * lineHeight + LINE_GAP / 2;
        const box = { x: 0, y, width: this.#width, height: lineHeight - LINE_GAP };
        traceCurve(context, part, { values: this.#values, box, toRatio });
      }
    };
    drawCurves(context, this.#palette, trace, 1);
  }
}
