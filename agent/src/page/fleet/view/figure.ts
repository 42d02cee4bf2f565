import { make } from '../../browser/dom.ts';
import { formatTime } from '../../browser/format.ts';
import { HISTORY_SLOTS } from '../core/types.ts';
import { LiveText, makeWith } from './elements.ts';
import { FigureCursor } from './figure-cursor.ts';
import { findCell, type FigureLayout, layOutFigure } from './figure-layout.ts';
import { FigurePainter, type FigureMachine } from './figure-painter.ts';
import type { FigureScale } from './figure-scale.ts';
import { toPageUrl } from './machine-texts.ts';
import type { Palette } from './palette.ts';
import { capitalize } from './problems.ts';
import { formatValue, type Quantity, readSlot } from './quantities.ts';
import { ValueTable } from './value-table.ts';

/** The content of the figure. */
export interface FigureContent {
  readonly groups: readonly { readonly title: string; readonly items: readonly FigureMachine[] }[];
  readonly quantity: Quantity;
  readonly scale: FigureScale;
  /** The end of the newest slot in epoch seconds. */
  readonly end: number;
}

const FONT_SIZE = 11.5;

/** The height of the heading and the margins around the canvas. */
const FRAME_HEIGHT = 100;

/** All machines on one clock and one scale, on one canvas, with a common cursor. */
export class Figure {
  readonly element: HTMLElement;
  readonly #title = new LiveText('h2');
  readonly #range = new LiveText('p.fleet-range');
  readonly #readout = new LiveText('p.fleet-readout');
  readonly #canvas = document.createElement('canvas');
  readonly #frame: HTMLElement;
  readonly #cursor: FigureCursor;
  readonly #table = new ValueTable();
  readonly #painter: FigurePainter | null;
  readonly #observer: ResizeObserver;
  #content: FigureContent | null = null;
  #layout: FigureLayout = layOutFigure({
    width: 0,
    height: null,
    room: 0,
    groups: [],
    hasCaptions: false,
    hasWideValues: false,
  });
  #width = 0;
  /** The height to fill on a wall; null elsewhere. */
  #wallHeight: number | null = null;
  #isWall = false;

  constructor(palette: Palette) {
    const context = this.#canvas.getContext('2d');
    this.#painter = context === null ? null : new FigurePainter(context, palette);
    this.#canvas.setAttribute('aria-hidden', 'true');
    this.#frame = make('div.fleet-canvas', this.#canvas);
    this.#title.element.id = 'fleet-figure-title';
    this.#range.element.id = 'fleet-figure-range';
    this.element = makeWith(
      'section.fleet-figure',
      { 'aria-labelledby': 'fleet-figure-title' },
      make(
        'div.fleet-figure-head',
        this.#title.element,
        this.#range.element,
        this.#readout.element,
      ),
      this.#frame,
      this.#table.element,
    );
    this.#cursor = new FigureCursor(this.#frame, {
      findAt: (x, y) => this.#findAt(x, y),
      onMove: () => this.draw(),
      onOpen: (cell) => this.#open(cell),
      describe: () => this.#describe(),
    });
    this.#observer = new ResizeObserver(([entry]) => this.#resize(entry?.contentRect));
    this.#observer.observe(this.#frame);
  }

  /** Shows machines; draws them. */
  show(content: FigureContent): void {
    const isSameShape = hasSameShape(this.#content, content);
    this.#content = content;
    this.#title.set(content.quantity.title);
    this.#range.set(describeRange(content));
    if (!isSameShape) this.#layOut();
    this.draw();
  }

  /** Fills the height of the wall, or ends that. */
  setWall(isWall: boolean): void {
    this.#isWall = isWall;
    this.#wallHeight = null;
    this.#layOut();
  }

  draw(): void {
    const content = this.#content;
    if (content === null || this.#width === 0) return;
    const { slot, cell } = this.#cursor;
    const machines = content.groups.flatMap(({ items }) => items);
    this.#readout.set(this.#describeTime(machines[cell], slot));
    this.#table.show(content.quantity, machines, slot, content.end);
    this.#painter?.paint(
      {
        layout: this.#layout,
        machines,
        captions: content.groups.map(({ title }) => title),
        quantity: content.quantity,
        toRatio: content.scale.toRatio,
        cursor: slot,
        pointed: cell,
        fontSize: this.#fontSize,
      },
      this.#width,
    );
  }

  close(): void {
    this.#observer.disconnect();
  }

  get #fontSize(): number {
    if (!this.#isWall) return FONT_SIZE;
    const [cell] = this.#layout.cells;
    return Math.min(26, Math.max(14, (cell?.width ?? 0) / 8));
  }

  #resize(size: DOMRectReadOnly | undefined): void {
    if (size === undefined) return;
    const isSame =
      size.width === this.#width && (!this.#isWall || size.height === this.#wallHeight);
    if (isSame) return;
    this.#width = size.width;
    if (this.#isWall) this.#wallHeight = size.height;
    this.#layOut();
    this.draw();
  }

  #layOut(): void {
    const groups = this.#content?.groups ?? [];
    const sizes = groups.map(({ items }) => items.length);
    this.#layout = layOutFigure({
      width: this.#width,
      height: this.#isWall ? this.#wallHeight : null,
      room: innerHeight - FRAME_HEIGHT,
      hasWideValues: this.#content?.quantity.scale === 'rate',
      groups: this.#isWall ? [sizes.reduce((sum, each) => sum + each, 0)] : sizes,
      hasCaptions: groups.length > 1 && !this.#isWall,
    });
    const { height } = this.#layout;
    this.#canvas.style.height = `${height}px`;
    this.#canvas.width = Math.round(this.#width * devicePixelRatio);
    this.#canvas.height = Math.round(height * devicePixelRatio);
  }

  #findAt(x: number, y: number): { cell: number; slot: number } | null {
    const cell = findCell(this.#layout, x, y);
    const box = this.#layout.cells[cell];
    if (box === undefined) return null;
    const slot = Math.floor(((x - box.x) / box.width) * HISTORY_SLOTS);
    return { cell, slot: Math.min(HISTORY_SLOTS - 1, Math.max(0, slot)) };
  }

  #open(cell: number): void {
    const machines = this.#content?.groups.flatMap(({ items }) => items) ?? [];
    const found = machines[cell];
    if (found === undefined) return;
    globalThis.open(toPageUrl(found.machine.listed.address), '_blank', 'noopener,noreferrer');
  }

  #describeTime(pointed: FigureMachine | undefined, slot: number | null): string {
    if (slot === null || this.#content === null) return '';
    const { end, quantity } = this.#content;
    const time = formatTime(end - HISTORY_SLOTS + slot + 1, true);
    if (pointed === undefined) return time;
    const value = formatValue(quantity, readSlot(quantity, pointed.machine, slot));
    return `${time} · ${pointed.machine.listed.name} ${value}`;
  }

  /** Describes the cursor for screen readers: the time, and the three largest values. */
  #describe(): string {
    const content = this.#content;
    const slot = this.#cursor.slot ?? HISTORY_SLOTS - 1;
    if (content === null) return '';
    const { quantity } = content;
    const values = content.groups
      .flatMap(({ items }) => items)
      .map(({ machine }) => ({
        name: machine.listed.name,
        value: readSlot(quantity, machine, slot),
      }))
      .filter(({ value }) => !Number.isNaN(value))
      .sort((a, b) => b.value - a.value)
      .slice(0, 3)
      .map(({ name, value }) => `${name} ${formatValue(quantity, value)}`);
    const time = formatTime(content.end - HISTORY_SLOTS + slot + 1, true);
    return `${time}, highest: ${values.join(', ') || 'no values'}`;
  }
}

function describeRange({ quantity, scale }: FigureContent): string {
  const parts = [
    'five minutes',
    scale.range,
    ...(quantity.note === undefined ? [] : [quantity.note]),
  ];
  return capitalize(parts.join(', '));
}

function hasSameShape(before: FigureContent | null, after: FigureContent): boolean {
  return (
    before !== null &&
    before.quantity === after.quantity &&
    before.groups.length === after.groups.length &&
    before.groups.every(({ items }, at) => items.length === after.groups[at]?.items.length)
  );
}
