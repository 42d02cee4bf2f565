import { useResource } from '#console/app/resources.ts';

/** A product of the catalogue. */
export interface Product {
  readonly id: string;
  readonly name: string;
  readonly max_activations: number;
  readonly duration_days: number | null;
}

/** Reads the products of the catalogue; empty while they are loaded. */
export function useProducts(): readonly Product[] {
  const { data } = useResource<{ readonly products: readonly Product[] }>('/api/v1/admin/catalog');
  return data?.products ?? [];
}

/** Reads the products as the choices of a filter. */
export function useProductOptions(): { readonly value: string; readonly label: string }[] {
  return useProducts().map(({ id, name }) => ({ value: id, label: name }));
}
