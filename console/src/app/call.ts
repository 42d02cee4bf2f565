/** Calls the operations of the interface, which the contract declares. */
import type { InputOf, Operation, OperationAddress, OutputOf } from '@latchkey/contract';

import { apiGet, apiPost, sendOnce } from './api.ts';
import { addQuery, type QueryChanges } from './query.ts';
import { useResource, type Resource } from './resources.ts';

/** What an operation of any kind may be sent. */
export interface AnyInput {
  readonly params?: object;
  readonly query?: object;
  readonly body?: object;
}

/** The parameters of an operation's path, if it has any. */
export type ParamsOf<Of extends Operation> =
  InputOf<Of> extends { readonly params: infer Params extends object }
    ? { readonly params: Params }
    : { readonly params?: undefined };

/** Returns the path of an operation, for a request and for the cache. */
export function pathOf({ path }: Pick<OperationAddress, 'path'>, input: AnyInput = {}): string {
  const params = new Map<string, unknown>(Object.entries(input.params ?? {}));
  const filled = path.replaceAll(/:(\w+)/g, (_match, name: string) =>
    encodeURIComponent(String(params.get(name))),
  );
  return addQuery(`/api/v1/admin/${filled}`, toText(input.query ?? {}));
}

function toText(query: object): QueryChanges {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, value == null ? null : String(value)]),
  );
}

/** Calls an operation. @throws ApiError */
export function call<const Of extends Operation>(
  of: Of,
  input: InputOf<Of> & AnyInput,
): Promise<OutputOf<Of>> {
  const path = pathOf(of, input);
  return of.method === 'GET' ? apiGet(path) : apiPost(path, input.body);
}

/** Calls an operation of signing in: it neither ends the session nor asks for a proof. @throws ApiError */
export function callOnce<const Of extends Operation>(
  of: Of,
  input: InputOf<Of> & AnyInput,
): Promise<OutputOf<Of>> {
  const path = pathOf(of, input);
  return of.method === 'GET' ? sendOnce('GET', path) : sendOnce('POST', path, input.body ?? {});
}

/** Reads an operation as {@link useResource} does. @param input null: nothing yet */
export function useOperation<const Of extends Operation>(
  of: Of,
  input: (InputOf<Of> & AnyInput) | null,
  options: { readonly polls?: boolean } = {},
): Resource<OutputOf<Of>> {
  return useResource(input === null ? null : pathOf(of, input), options);
}
