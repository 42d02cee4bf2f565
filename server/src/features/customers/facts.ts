/** One e-mail address in every form that it may be stored in. */
export interface Address {
  /** The id that audit rows of the address carry; made of its HMAC. */
  readonly id: string;
  /** The same under every configured master secret, the current one first. */
  readonly ids: readonly string[];
  /** Under the current master secret. */
  readonly hash: string;
  /** Under every configured master secret, the current one first. */
  readonly hashes: readonly string[];
  /** In lower case; an international domain in both of its forms. */
  readonly spellings: readonly string[];
}

/** A payment provider's customer. */
export interface CustomerName {
  readonly provider: string;
  readonly customerId: string;
}

/** A payment event. */
export interface EventName {
  readonly provider: string;
  readonly eventId: string;
}

/** A ledger row of a payment or a subscription; `id` is that of the transaction or the subscription. */
export interface LedgerName extends EventName {
  readonly kind: 'payment' | 'subscription';
  readonly id: string;
}

/** The e-mail with the keys of a transaction. */
export interface KeyEmailName {
  readonly provider: string;
  readonly transactionId: string;
}

/** Where the data of one person lie. */
export interface Person {
  readonly address: Address;
  /** Licenses that name the address. */
  readonly licenseIds: readonly string[];
  /** Customers whose address is the one that was asked for. */
  readonly customers: readonly CustomerName[];
  readonly ledger: readonly LedgerName[];
  /** Events that the ledgers name. */
  readonly events: readonly EventName[];
  readonly keyEmails: readonly KeyEmailName[];
  /** Messages of outgoing webhooks. */
  readonly messageIds: readonly string[];
  /** Of the activations of the licenses. */
  readonly installIds: readonly string[];
  readonly machineIds: readonly string[];
}
