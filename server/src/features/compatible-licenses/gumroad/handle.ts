import type { LicenseDependencies } from '../../licenses/dependencies.ts';
import { answerInWords, type Answer } from '../answer.ts';
import type { RequestFields } from '../read-fields.ts';
import { KEY_NOT_FOUND } from './describe.ts';
import { refuse, verifyKey } from './verify-key.ts';

/** The names under which programs send the product, newest first; the later ones are no longer documented. */
const PRODUCT_FIELDS = ['product_id', 'id', 'link_id', 'product_permalink'];

/** Answers a request as Gumroad does: https://gumroad.com/api#licenses. */
export async function handleGumroad(
  deps: LicenseDependencies,
  fields: RequestFields,
  network: string,
): Promise<Answer> {
  const key = fields.get('license_key');
  const productId = readProductId(fields);
  const unknownKey = refuse(KEY_NOT_FOUND);
  if (key === undefined || productId === undefined) return unknownKey;
  const countsUse = fields.get('increment_uses_count') !== 'false';
  return answerInWords(() => verifyKey(deps, { key, productId, countsUse, network }), {
    unknownKey,
    toBody: (message) => refuse(message).body,
  });
}

function readProductId(fields: RequestFields): string | undefined {
  const name = PRODUCT_FIELDS.find((field) => fields.has(field));
  return name === undefined ? undefined : fields.get(name);
}
