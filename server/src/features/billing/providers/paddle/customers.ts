import type { CustomerDetails, CustomerFact, Occurrence } from '../../facts.ts';
import { readEmail } from '../read-email.ts';
import type { Customer } from './schemas.ts';

const NAME = /^[^\p{Cc}\p{Cs}]{1,200}$/u;
const LOCALE = /^[A-Za-z0-9-]{2,35}$/;

/** Where a vendor's checkout may have put the buyer's address. */
const CUSTOM_EMAILS = ['customer_email', 'customerEmail', 'email'];

/** Who pays; what cannot be used is not known. */
export function toCustomerFact(customer: Customer, occurrence: Occurrence): CustomerFact {
  return {
    kind: 'customer',
    customerId: customer.id,
    ...occurrence,
    customer: readCustomerDetails(customer),
  };
}

/** Reads what a customer is like, in an event or as the API has it. */
export function readCustomerDetails({
  email,
  name,
  locale,
}: Pick<Customer, 'email' | 'name' | 'locale'>): CustomerDetails {
  return {
    email: readEmail(email),
    name: readText(name, NAME),
    locale: readText(locale, LOCALE),
  };
}

/** Transactions and subscriptions say nothing of the buyer, unless the vendor's own data does. */
export function readCustomData(customData: unknown): CustomerDetails {
  const email = CUSTOM_EMAILS.map((field) => readEmail(readField(customData, field)));
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
