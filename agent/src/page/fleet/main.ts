/** The page at `/fleet` of an agent: the list is in the address, or kept in this browser. */
import { find, make, openStorage } from '../browser/dom.ts';
import { setUpTheme } from '../browser/theme.ts';
import { readListFragment, writeListFragment } from './core/list-fragment.ts';
import type { ListedMachine } from './core/types.ts';
import { mountFleet } from './mount.ts';
import { openFleet } from './view/open-fleet.ts';
import { saveToken } from './view/token-store.ts';

const keptList = openStorage('localStorage', 'latchkey.fleet.list');

/**
 * Returns the list of the address; without one, that of this browser. A link never replaces the kept list, because anybody can
 * write one.
 */
function readList(): readonly ListedMachine[] {
  const { machines } = readListFragment(location.hash);
  if (machines.length === 0) return readListFragment(keptList.read() ?? '').machines;
  if (keptList.read() === null) keptList.write(writeListFragment(machines));
  return machines;
}

/** Keeps a list that was edited here. The address follows, so that the page is the same after a reload. */
function saveList(list: readonly ListedMachine[]): void {
  const fragment = writeListFragment(list);
  keptList.write(fragment);
  if (location.hash !== '') history.replaceState(null, '', toAddress(list));
}

function toAddress(list: readonly ListedMachine[]): string {
  return `${location.origin}${location.pathname}${writeListFragment(list)}`;
}

function makeThemeButton(): HTMLElement {
  const button = make('button.fleet-button', '◐');
  button.setAttribute('type', 'button');
  button.setAttribute('aria-label', 'Switch between light and dark');
  setUpTheme(button);
  return button;
}

const fleet = openFleet(readList());
mountFleet(find('#fleet'), {
  fleet,
  list: { save: saveList, share: toAddress },
  saveToken,
  controls: [makeThemeButton()],
});
addEventListener('hashchange', () => fleet.setList(readList()));
