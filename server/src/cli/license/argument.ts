import { createInterface } from 'node:readline';

import { Argument } from 'commander';

import type { Product } from '#server/config/catalog.ts';
import type { Context } from '#server/context.ts';

import { commandProcess } from '../command-process.ts';
import { usageError } from '../command-error.ts';

/**
 * Names a license by its key or its id. Arguments are visible in the list of processes and in the shell's history, so `-`
 * reads the name from the first line of standard input.
 */
export function licenseArgument(): Argument {
  return new Argument('<license>', "the license's key or id; - reads it from standard input");
}

/** What the argument names: itself, or for `-` the first line of standard input. */
export async function readLicenseName(argument: string): Promise<string> {
  const name = argument === '-' ? await readFirstLine() : argument;
  if (name.trim() === '') throw usageError('Name the license by its key or its id.');
  return name.trim();
}

async function readFirstLine(): Promise<string> {
  const lines = createInterface({ input: commandProcess().stdin, crlfDelay: Infinity });
  for await (const line of lines) {
    lines.close();
    return line;
  }
  return '';
}

/** The product of that id. @throws CommandError naming those that there are */
export function requireProduct(ctx: Context, id: string): Product {
  const { products } = ctx.catalog();
  const product = products.get(id);
  if (product !== undefined) return product;
  throw usageError(
    `The catalogue has no product ${JSON.stringify(id)}; it has ${[...products.keys()].join(', ')}.`,
  );
}
