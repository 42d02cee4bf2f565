const KEPT = ['days', 'from', 'to', 'version'] as const;

/** Returns the page of an event, with the period of the address. */
export function eventPath(name: string, query: URLSearchParams): string {
  const next = new URLSearchParams({ name });
  for (const each of KEPT) {
    const value = query.get(each);
    if (value !== null) next.set(each, value);
  }
  return `/events/details?${next.toString()}`;
}
