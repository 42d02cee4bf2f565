/** Arguments of the commands of `latchkey license`. */
import { createInterface } from 'node:readline';

import type { Product } from '#server/config/catalog.ts';
import type { Context } from '#server/context.ts';

import { usageError } from '../command-error.ts';
import { commandProcess } from '../command-process.ts';
import { anyText, argument } from '../parameters.ts';

/**
 * Names a license by its key or id. Arguments are visible in the process list and in the shell history, so `-` reads the
 * name from standard input.
 */
export const licenseArgument = argument(
  '<license>',
  'key or id of the license; - reads it from standard input',
  anyText,
);

/** Returns the name of a license; for `-`, the first line of standard input. */
export async function readLicenseName(given: string): Promise<string> {
  const name = (given === '-' ? await readFirstLine() : given).trim();
  if (name === '') throw usageError('Name the license by its key or id.');
  return name;
}

async function readFirstLine(): Promise<string> {
  const lines = createInterface({ input: commandProcess().stdin, crlfDelay: Infinity });
  for await (const line of lines) {
    lines.close();
    return line;
  }
  return '';
}

/** Returns the product with an id. @throws CommandError that lists the products */
export function requireProduct(context: Context, id: string): Product {
  const { products } = context.catalog();
  const product = products.get(id);
  if (product !== undefined) return product;
  throw usageError(
    `The catalogue has no product ${JSON.stringify(id)}. Its products: ${[...products.keys()].join(', ')}.`,
  );
}
