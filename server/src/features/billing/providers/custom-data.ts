/** What a seller adds to a checkout in the provider's custom data, under the same names at each provider. */
import { isUuid } from '@latchkey/contract';

import { isRecord } from '#server/lib/unknown-values.ts';

import type { PaymentFact } from '../facts.ts';
import { isObject, readEmail, readObject, readText, type JsonObject } from './fields.ts';

/** The fields in which providers report custom data. */
const CONTAINERS: ReadonlySet<string> = new Set(['custom_data', 'metadata', 'tags']);

/** The fields of custom data that name a license. */
const LICENSE_FIELDS = ['license_id', 'license_key'];

/** Begins a license key that is stored encrypted. */
export const SEALED_PREFIX = 'sealed:';

const MAX_KEY_CHARACTERS = 200;
const MAX_SEALED_CHARACTERS = 1_000;
const MAX_DEPTH = 10;
const MAX_NAME_CHARACTERS = 200;

/** The license that a purchase renews or upgrades; none if the custom data name none. */
function readRenewed(sources: readonly unknown[]): Pick<PaymentFact, 'renews'> {
  const named = sources
    .flatMap((source) => LICENSE_FIELDS.map((field) => readText(readObject(source)[field])))
    .find((value) => value !== null);
  const limit = named?.startsWith(SEALED_PREFIX) ? MAX_SEALED_CHARACTERS : MAX_KEY_CHARACTERS;
  if (named === undefined || named === null) return {};
  return { renews: named.slice(0, limit).trim() };
}

/**
 * Replaces the license keys in the custom data of an event, because events are stored as received. Returns the same body if
 * it contains none.
 * @param seal returns the text to store instead of a key
 */
export function sealLicenseKeys(body: object, seal: (licenseKey: string) => string): object {
  // Most events contain none, and need no copy.
  if (!containsKey(body, false, 0)) return body;
  const replace = (value: unknown, isCustomData: boolean, depth: number): unknown => {
    if (depth > MAX_DEPTH) return value;
    if (Array.isArray(value)) return value.map((each) => replace(each, false, depth + 1));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) =>
        isCustomData && isKey(name, each)
          ? [name, `${SEALED_PREFIX}${seal(each.trim())}`]
          : [name, replace(each, CONTAINERS.has(name), depth + 1)],
      ),
    );
  };
  const sealed = replace(body, false, 0);
  return isRecord(sealed) ? sealed : body;
}

function containsKey(value: unknown, isCustomData: boolean, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.some((each) => containsKey(each, false, depth + 1));
  if (!isObject(value)) return false;
  return Object.keys(value).some(
    (name) =>
      (isCustomData && isKey(name, value[name])) ||
      containsKey(value[name], CONTAINERS.has(name), depth + 1),
  );
}

/** Whether a field contains a key, also in the wrong field; a key may have the form of an id. */
function isKey(name: string, value: unknown): value is string {
  if (!LICENSE_FIELDS.includes(name) || typeof value !== 'string') return false;
  if (value.startsWith(SEALED_PREFIX)) return false;
  return name === 'license_key' || !isUuid(value.trim());
}

/** A field that names a license, up to its value: in JSON, in a form, also with an encoded name. */
const NAMED_KEY = /(license_(?:key|id)[^=:&\s]{0,20}\s{0,5}[=:]\s{0,5}["']?)([^&"'\s,}]{1,200})/giu;

/** A license key of this service. */
const KEY = /(?<![A-Za-z\d])[A-Za-z\d]{1,20}(?:-[\dA-Za-z]{5}){5}(?![\dA-Za-z])/gu;

/** Replaces the license keys in a body that is not JSON. Returns the same bytes if it contains none. */
export function sealTextKeys(body: Buffer, seal: (licenseKey: string) => string): Buffer {
  const text = body.toString('utf8');
  const sealed = text
    .replaceAll(NAMED_KEY, (all, name: string, key: string) =>
      isUuid(key) || key.startsWith(SEALED_PREFIX) ? all : `${name}${SEALED_PREFIX}${seal(key)}`,
    )
    .replaceAll(KEY, (key) => `${SEALED_PREFIX}${seal(key)}`);
  return sealed === text ? body : Buffer.from(sealed);
}

/** The fields of custom data with the address of the person who gets the license as a gift. */
const RECIPIENT_FIELDS = ['gift_to', 'recipient_email'];

/**
 * What custom data say about the license of a purchase, as fields of its facts.
 * @param sources custom data; the first that has a field counts
 */
export function readOrderOptions(
  ...sources: readonly unknown[]
): Pick<PaymentFact, 'renews' | 'recipient'> {
  return { ...readRenewed(sources), ...readRecipient(sources) };
}

function readRecipient(sources: readonly unknown[]): Pick<PaymentFact, 'recipient'> {
  const objects = sources.map(readObject);
  const address = objects
    .flatMap((source) => RECIPIENT_FIELDS.map((field) => source[field]))
    .find((value) => value !== undefined && value !== null && value !== '');
  if (address === undefined) return {};
  const names = objects.map((source) => readText(source['recipient_name'], MAX_NAME_CHARACTERS));
  const name = names.find((each) => each !== null) ?? null;
  return { recipient: { email: readEmail(address), name } };
}

/** Reads the id of a license from a field that a seller may use for other ids, too; as custom data, empty for those. */
export function readLicenseReference(value: unknown): JsonObject {
  const id = readText(value);
  return id !== null && isUuid(id) ? { license_id: id } : {};
}

/** Reads the custom data of a Stripe object and of its subscription. */
export function readMetadata(object: JsonObject): readonly unknown[] {
  const parent = readObject(readObject(object['parent'])['subscription_details']);
  const details = readObject(object['subscription_details']);
  return [object['metadata'], parent['metadata'], details['metadata']];
}
