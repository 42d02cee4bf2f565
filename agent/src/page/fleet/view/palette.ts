import { makeWith } from './elements.ts';

const PALETTE_NAMES = [
  'ink',
  'muted',
  'line',
  'curve',
  'area',
  'bad',
  'bad-back',
  'warm',
  'warm-back',
  'gap',
  'mark',
] as const;

/** A color of the style sheet, without its prefix `--fleet-`. */
export type PaletteName = (typeof PALETTE_NAMES)[number];

/** The colors of the style sheet as a canvas needs them; read again when the color scheme changes. */
export class Palette {
  readonly #probe = makeWith('span.fleet-probe', { 'aria-hidden': 'true' });
  readonly #observer: MutationObserver;
  readonly #stop = new AbortController();
  #colors: Readonly<Record<string, string>> = {};
  #hatch: CanvasPattern | string = '';
  #isStale = true;

  /** @param root the element whose style sheet has the colors */
  constructor(root: HTMLElement, onChange: () => void) {
    root.append(this.#probe);
    const expire = (): void => {
      this.#isStale = true;
      onChange();
    };
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)']) {
      matchMedia(query).addEventListener('change', expire, { signal: this.#stop.signal });
    }
    // A button of the page sets the scheme on the document.
    this.#observer = new MutationObserver(expire);
    const attributeFilter = ['style', 'class', 'data-theme'];
    this.#observer.observe(document.documentElement, { attributeFilter });
  }

  get(name: PaletteName): string {
    if (this.#isStale) this.#read();
    return this.#colors[name] ?? '';
  }

  /** The fill of gaps: hatched, since a flat color could be a value. */
  get hatch(): CanvasPattern | string {
    if (this.#isStale) this.#read();
    return this.#hatch;
  }

  close(): void {
    this.#stop.abort();
    this.#observer.disconnect();
  }

  #read(): void {
    const style = getComputedStyle(this.#probe);
    const entries = PALETTE_NAMES.map((name) => {
      this.#probe.style.color = `var(--fleet-${name})`;
      return [name, style.color] as const;
    });
    this.#colors = Object.fromEntries(entries);
    this.#hatch = makeHatch(this.#colors['gap'] ?? '');
    this.#isStale = false;
  }
}

const HATCH_SIZE = 6;

function makeHatch(color: string): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = HATCH_SIZE;
  tile.height = HATCH_SIZE;
  const context = tile.getContext('2d');
  if (context === null) return color;
  context.strokeStyle = color;
  for (const offset of [-HATCH_SIZE, 0, HATCH_SIZE]) {
    context.moveTo(offset, HATCH_SIZE);
    context.lineTo(offset + HATCH_SIZE, 0);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? color;
}
