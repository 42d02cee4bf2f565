import type { ListedMachine } from '../core/types.ts';
import { makeOutsideLink } from './elements.ts';
import { toPageUrl } from './machine-texts.ts';

/** The name of a machine as a link to its own page, which the keyboard finds. */
export class MachineLink {
  readonly element = makeOutsideLink('fleet-machine', '#', '');

  show({ id, name, address }: ListedMachine): void {
    const { element } = this;
    if (element.textContent !== name) element.textContent = name;
    if (element.dataset['machine'] === id && element.dataset['address'] === address) return;
    element.dataset['machine'] = id;
    element.dataset['address'] = address;
    element.href = toPageUrl(address);
  }
}
