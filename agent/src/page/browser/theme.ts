import { keep } from './dom.ts';

/** The colours of lines, named for what styles/theme.css calls them. */
export type Colour = 'blue' | 'teal' | 'amber' | 'rose' | 'violet' | 'grey' | 'green' | 'pink';

type Scheme = 'light' | 'dark';

const choice = keep('localStorage', 'latchkey.scheme');
const resolved = new Map<string, string>();
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const listeners: (() => void)[] = [];

/** What a colour of styles/theme.css is now, as canvases take it. */
export function resolveColour(name: Colour | 'muted' | 'grid'): string {
  const known = resolved.get(name);
  if (known !== undefined) return known;
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  resolved.set(name, colour);
  return colour;
}

/** The same colour, seen through. @param colour as `resolveColour` gives it: `rgb(37, 99, 235)` */
export function fade(colour: string, opacity: number): string {
  const [red, green, blue] = colour.match(/[\d.]+/gu) ?? [];
  return `rgba(${red}, ${green}, ${blue}, ${opacity})`;
}

/** Told when colours changed. */
export function onThemeChange(listener: () => void): void {
  listeners.push(listener);
}

/** Follows the system, until the reader chooses; the choice is kept in this browser. */
export function setUpTheme(button: HTMLElement): void {
  apply(readChoice());
  systemIsDark.addEventListener('change', () => apply(readChoice()));
  button.addEventListener('click', () => {
    const next: Scheme = currentScheme() === 'dark' ? 'light' : 'dark';
    choice.write(next);
    apply(next);
  });
}

function readChoice(): Scheme | null {
  const kept = choice.read();
  return kept === 'light' || kept === 'dark' ? kept : null;
}

function currentScheme(): Scheme {
  return readChoice() ?? (systemIsDark.matches ? 'dark' : 'light');
}

function apply(scheme: Scheme | null): void {
  document.documentElement.style.colorScheme = scheme ?? 'light dark';
  resolved.clear();
  for (const listener of listeners) listener();
}
