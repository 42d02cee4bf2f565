/** Somebody who is to be written to. */
export interface PlannedRecipient {
  /** The same for all spellings of an address. */
  readonly addressHash: string;
}

/** Why somebody is not written to. */
export type Exclusion = 'suppressed' | 'duplicate';

/**
 * Decides who is written to: of several recipients with one address the first, unless the address wants no mail.
 * @param suppressed the hashes of addresses that want none
 * @returns for each recipient, in the order given, why nothing is sent; null when something is
 */
export function planMessages(
  recipients: readonly PlannedRecipient[],
  suppressed: ReadonlySet<string>,
): (Exclusion | null)[] {
  const seen = new Set<string>();
  return recipients.map(({ addressHash }) => {
    if (seen.has(addressHash)) return 'duplicate';
    seen.add(addressHash);
    return suppressed.has(addressHash) ? 'suppressed' : null;
  });
}
