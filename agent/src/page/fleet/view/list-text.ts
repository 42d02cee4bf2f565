import {
  hostOfMachine,
  parseMachineAddress,
  shortenMachineAddress,
} from '../core/machine-address.ts';
import type { ListedMachine } from '../core/types.ts';

/** A list of machines as a person writes it: `address, name, label, label` on each line. */
export interface ListText {
  readonly machines: readonly ListedMachine[];
  /** What is wrong, with the number of the line; empty: nothing. */
  readonly faults: readonly string[];
}

/** Reads a list; tabs separate as well, as spreadsheets copy them. Empty lines are skipped. */
export function readListText(text: string): ListText {
  const machines = new Map<string, ListedMachine>();
  const faults: string[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const [first = '', name = '', ...labels] = line.split(/[,\t]/u).map((part) => part.trim());
    if (line.trim() === '') continue;
    const address = parseMachineAddress(first);
    if (address === null) faults.push(`Line ${at + 1}: “${first}” is not an address.`);
    else if (machines.has(address)) faults.push(`Line ${at + 1}: “${first}” is listed twice.`);
    else machines.set(address, describeMachine(address, name, labels));
  }
  return { machines: [...machines.values()], faults };
}

function describeMachine(address: string, name: string, labels: readonly string[]): ListedMachine {
  return {
    id: address,
    name: name === '' ? hostOfMachine(address) : name,
    address,
    labels: [...new Set(labels.filter(Boolean))],
  };
}

/** Writes a list as text, one machine a line. */
export function writeListText(list: readonly ListedMachine[]): string {
  return list.map((machine) => writeLine(machine)).join('\n');
}

function writeLine({ address, name, labels }: ListedMachine): string {
  const isDefault = name === hostOfMachine(address);
  const rest = isDefault && labels.length === 0 ? [] : [name, ...labels];
  return [shortenMachineAddress(address), ...rest].join(', ');
}
