import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** In cascade order. */
const FLEET_STYLE_SHEETS = ['fleet', 'problems', 'machines', 'figure', 'dialogs', 'wall'];

/** Reads the styles of the fleet page, for the page of an agent and for the console. All selectors begin with its classes. */
export function readFleetStyles(): string {
  const paths = FLEET_STYLE_SHEETS.map((name) => new URL(`styles/${name}.css`, import.meta.url));
  return paths.map((path) => readFileSync(fileURLToPath(path), 'utf8')).join('\n');
}
