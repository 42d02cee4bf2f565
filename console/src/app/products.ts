import type { CatalogProductView } from '@latchkey/contract';
import { showCatalog } from '@latchkey/contract/admin/catalog';

import { useOperation } from '#console/app/call.ts';

/** A product of the catalogue. */
export type Product = CatalogProductView;

/** Reads the products of the catalogue; empty while they are loaded. */
export function useProducts(): readonly Product[] {
  const { data } = useOperation(showCatalog, {});
  return data?.products ?? [];
}

/** Reads the products as the choices of a filter. */
export function useProductOptions(): { readonly value: string; readonly label: string }[] {
  return useProducts().map(({ id, name }) => ({ value: id, label: name }));
}
