import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export interface RunOptions {
  /** The names of the clients; empty: all. */
  readonly clients: readonly string[];
  /** Texts in the names of the scenes or their themes; empty: all. */
  readonly scenes: readonly string[];
  /** The folder below which clients are found. */
  readonly folder: string;
  /** Only list scenes and clients. */
  readonly list: boolean;
}

const CLIENTS = fileURLToPath(new URL('..', import.meta.url));

/** A wrong argument; the message is a sentence for the user. */
export class UsageError extends Error {}

export const HELP = `Play the conformance scenes with the clients of this repository.

Usage: node clients/conformance/run.ts [options]

It starts the real service on a database of its own, puts a proxy with faults in front of it, and plays each scene with the
driver of each client: a program that executes commands in JSON lines. A client differs if it does not do what a scene
expects, or if its answers differ from those of the other clients.

Options:
  --client NAME   only this client; can be repeated (default: all)
  --scene TEXT    only scenes whose name or theme contains this text; can be repeated
  --folder DIR    where to look for clients, each a folder with a conformance.json (default: clients/)
  --list          list the clients and the scenes, and play none
  --help          print this help

A client whose compiler or interpreter is missing is skipped, with the reason.

Examples:
  node clients/conformance/run.ts                                    every scene with every client
  node clients/conformance/run.ts --client python                    one client
  node clients/conformance/run.ts --client go --scene refund         one client, scenes about refunds

The exit code is 0 if no client differs, 1 if one does, and 2 for a wrong option.
`;

/** Reads the arguments. Null: help was requested. @throws UsageError */
export function readOptions(args: readonly string[]): RunOptions | null {
  const { client, scene, folder, list, help } = parse(args);
  return help ? null : { clients: client, scenes: scene, folder: resolve(folder), list };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        client: { type: 'string', multiple: true, default: [] },
        scene: { type: 'string', multiple: true, default: [] },
        folder: { type: 'string', default: CLIENTS },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
