import { openStorage } from './dom.ts';

/** The colours of lines, as named in styles/theme.css. */
export type Colour = 'blue' | 'teal' | 'amber' | 'rose' | 'violet' | 'grey' | 'green' | 'pink';

type Scheme = 'light' | 'dark';

const choice = openStorage('localStorage', 'latchkey.scheme');
const resolved = new Map<string, string>();
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const listeners: (() => void)[] = [];

/** Resolves a colour of styles/theme.css for a canvas. */
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

/** Adds transparency to a colour. @param colour a result of `resolveColour`: `rgb(37, 99, 235)` */
export function withOpacity(colour: string, opacity: number): string {
  const [red, green, blue] = colour.match(/[\d.]+/gu) ?? [];
  return `rgba(${red}, ${green}, ${blue}, ${opacity})`;
}

/** Registers a listener for colour changes. */
export function onThemeChange(listener: () => void): void {
  listeners.push(listener);
}

/** Follows the system's theme until the user chooses one, which is stored in the browser. */
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
