import type { ComponentChildren } from 'preact';

import type { Resource } from '#console/app/resources.ts';

import { Loading } from './empty.tsx';
import { ErrorBox } from './error-box.tsx';

interface LoadedProps<Body> {
  readonly resource: Resource<Body>;
  readonly children: (data: Body) => ComponentChildren;
}

/** Shows a resource: loading, its error, or its data (also while it is loaded again). */
export function Loaded<Body>({ resource, children }: LoadedProps<Body>) {
  const { data, error, reload } = resource;
  if (data !== undefined) return <>{children(data)}</>;
  if (error !== undefined) return <ErrorBox error={error} onRetry={reload} />;
  return <Loading />;
}
