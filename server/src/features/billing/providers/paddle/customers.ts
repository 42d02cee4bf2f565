import type { CustomerDetails, CustomerFact } from '../../facts.ts';
import type { Customer } from './schemas.ts';

/** The limits of RFC 5321 (64 characters before the at sign, 255 after it), and nothing that an address never has. */
const EMAIL = /^[^\s@<>\p{Cc}\p{Cs}]{1,64}@[^\s@<>\p{Cc}\p{Cs}]{1,255}$/u;
const NAME = /^[^\p{Cc}\p{Cs}]{1,200}$/u;
const LOCALE = /^[A-Za-z0-9-]{2,35}$/;

/** Where a vendor's checkout may have put the buyer's address. */
const CUSTOM_EMAILS = ['customer_email', 'customerEmail', 'email'];

/** Who pays; what cannot be used is not known. */
export function toCustomerFact(customer: Customer, occurredAt: Date): CustomerFact {
  return {
    kind: 'customer',
    customerId: customer.id,
    occurredAt,
    customer: {
      email: readText(customer.email, EMAIL),
      name: readText(customer.name, NAME),
      locale: readText(customer.locale, LOCALE),
    },
  };
}

/** Transactions and subscriptions say nothing of the buyer, unless the vendor's own data does. */
export function readCustomData(customData: unknown): CustomerDetails {
  const email = CUSTOM_EMAILS.map((field) => readText(readField(customData, field), EMAIL));
  return { email: email.find((value) => value !== null) ?? null, name: null, locale: null };
}

function readField(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return null;
  return new Map<string, unknown>(Object.entries(value)).get(field);
}

function readText(value: unknown, form: RegExp): string | null {
  const text = typeof value === 'string' ? value.trim() : '';
  return form.test(text) ? text : null;
}
