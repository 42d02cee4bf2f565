import type { Fleet, ListedMachine } from './core/types.ts';
import { FleetPage } from './view/page.ts';

/** Where the list of machines is kept. */
export interface FleetListKeeper {
  /** Stores a changed list. Absent: people edit it elsewhere. */
  readonly save?: (list: readonly ListedMachine[]) => void;
  /** The address where people edit the list, if not here. */
  readonly editUrl?: string;
  /** The address where people who may not edit the list read it. */
  readonly showUrl?: string;
  /** Returns an address that contains the list, to share it. */
  readonly share?: (list: readonly ListedMachine[]) => string;
}

/** What the page of a fleet shows, and where it keeps what people change. */
export interface MountOptions {
  /** With its list. The caller closes it. */
  readonly fleet: Fleet;
  readonly list: FleetListKeeper;
  /** Keeps or forgets (null) the token of a machine in the browser. The fleet gets it as well. */
  readonly saveToken: (machine: ListedMachine, token: string | null) => void;
  /** The title of the tab; default: `Fleet · Latchkey`. */
  readonly title?: string;
  /** Further controls of the page around it, such as a button for the color scheme. */
  readonly controls?: readonly HTMLElement[];
}

/**
 * Shows the page of a fleet in an element. The page draws while it is visible, listens for keys, and pauses the fleet while it is
 * hidden. Its styles are those of `fleet/styles/`.
 * @returns a function that removes it, its listeners and its timers
 */
export function mountFleet(element: HTMLElement, options: MountOptions): () => void {
  const page = new FleetPage(element, options);
  return () => page.close();
}
