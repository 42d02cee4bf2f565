import type { MountOptions } from '../mount.ts';
import { makeButton } from './elements.ts';
import { ListDialog } from './list-dialog.ts';

/** How a person edits or reads the list: in a dialog, at another address, or not at all. */
export class FleetListControl {
  /** Null where the list is edited elsewhere. */
  readonly dialog: ListDialog | null;
  readonly #options: MountOptions;

  constructor(options: MountOptions) {
    this.#options = options;
    const { fleet, list } = options;
    const { save } = list;
    this.dialog =
      save === undefined
        ? null
        : new ListDialog({
            save: (machines) => {
              save(machines);
              fleet.setList(machines);
            },
            share: list.share ?? null,
          });
  }

  /**
   * Creates a button or link; null where the list is only on this page.
   * @param label for those who may edit it
   */
  make(name: string, label: string): HTMLElement | null {
    const { fleet, list } = this.#options;
    const { dialog } = this;
    if (dialog !== null) {
      const open = (): void => dialog.open(fleet.machines.map(({ listed }) => listed));
      return makeButton(name, label, open);
    }
    const { editUrl, showUrl } = list;
    const url = editUrl ?? showUrl;
    if (url === undefined) return null;
    const link = document.createElement('a');
    link.className = name.replaceAll('.', ' ');
    link.href = url;
    link.textContent = editUrl === undefined ? 'Show list' : label;
    return link;
  }
}
